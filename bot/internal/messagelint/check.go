package messagelint

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/telegram"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/regexp"
)

// Limits of docs/spec 27 and of the platforms.
const (
	maxText    = 4096 // UTF-16 units, Telegram
	maxCaption = 1024
	maxData    = 64   // bytes of callback data, Telegram
	maxBlock   = 3000 // characters, Slack
	maxAlt     = 2000
	maxButtons = 9 // three rows of three
)

// never matches the words that nightporter does not use (docs/spec 26).
var never = regexp.MustCompile(`(?i)\b(agent run|job|thread|worker|ticket|story|card|prompt|hint|instruction|instructions|steering|persona|sub-agent|stuck|errored|gave up|ignored|rejected|discarded|crashed|aborted|died|killed|rate limited|429|throttled|deadlocked|halted|hung|frozen|unresponsive|terminated|finished successfully|action required|human in the loop|unmet dependency|DAG|maybe|probably|should be|validated|confirmed|LGTM|burned|consumed|outage|please respond|timed out|oops|sorry|great|successfully|simply|just|hi|good morning)\b`)

// Never returns the first word in text that nightporter does not use, or "".
func Never(text string) string { return never.FindString(text) }

// steps are the keys of messages that quote a plan's steps for a person between
// their first and last line. The vocabulary does not apply to a quotation.
var steps = map[string]bool{"ask.manual": true, "again.away": true}

// Check fails the test unless m has the right form on both platforms, uses only
// permitted words and, if its key is one that is pushed, ends with a line about
// what happens next. name identifies m in failures if its key does not.
func Check(t testing.TB, name string, m bot.Message) {
	t.Helper()
	Frame(t, name, m)
	if n := utf8.RuneCountInString(m.First()); n > bot.FirstWidth {
		t.Errorf("%s %s: the first line has %d characters: %q", name, m.Key, n, m.First())
	}
	for n, l := range m.Lines {
		if steps[m.Key] && n > 0 && n < len(m.Lines)-1 {
			continue
		}
		if r, is := emoji(l.Text); is && l.Kind != bot.Quote && l.Kind != bot.Pre {
			t.Errorf("%s %s: %U may turn into an emoji: %s", name, m.Key, r, l.Text)
		}
		if bad := never.FindString(l.Text); bad != "" && (l.Kind == bot.Plain || l.Kind == bot.Head) {
			t.Errorf("%s %s says %q: %s", name, m.Key, bad, l.Text)
		}
		if word, plain := Jargon(l.Text); word != "" && l.Kind != bot.Quote && l.Kind != bot.Pre {
			t.Errorf("%s %s says %q, better %s: %s", name, m.Key, word, plain, l.Text)
		}
	}
	ownWords(t, name, m)
	ends, _ := lookUp(m.Key)
	if len(ends) == 0 || len(m.Lines) == 0 {
		return
	}
	last := m.Lines[len(m.Lines)-1]
	says := func(end string) bool {
		tail, is := strings.CutPrefix(end, "…")
		return is && strings.HasSuffix(last.Text, tail) || strings.HasPrefix(last.Text, end)
	}
	if last.Kind != bot.Plain || len(m.Lines) < 2 || !slices.ContainsFunc(ends, says) {
		t.Errorf("%s %s is pushed and ends with %q: what comes next? It begins with one of %q", name, m.Key, last.Text, ends)
	}
}

// Pushed is Check for a message that is sent unprompted, rather than as a reply
// or an edit. Its key must be one with a line about what happens next.
func Pushed(t testing.TB, name string, m bot.Message) {
	t.Helper()
	Check(t, name, m)
	if ends, _ := lookUp(m.Key); len(ends) == 0 {
		t.Errorf("%s %s is pushed, and messagelint.Keys has no last line for it: %q", name, m.Key, m.Text(0))
	}
}

// lookUp returns the permitted last lines of a key, and whether the key is in
// Keys.
func lookUp(key string) (ends []string, known bool) {
	if ends, known = Keys[key]; known {
		return ends, true
	}
	head, _, dotted := strings.Cut(key, ".")
	ends, known = Keys[head+".*"]
	return ends, known && dotted
}

// Frame is the part of Check that holds whatever text from outside a message
// contains.
func Frame(t testing.TB, name string, m bot.Message) {
	t.Helper()
	name += " " + m.Key
	if _, known := lookUp(m.Key); !known {
		t.Errorf("%s: its key is not in messagelint.Keys", name)
	}
	first := m.First()
	if first == "" || bot.Width(first) > bot.FirstWidth {
		t.Errorf("%s: the first line has %d columns: %q", name, bot.Width(first), first)
	}
	if !signed(first) {
		t.Errorf("%s: neither a known sign nor a word begins it: %q", name, first)
	}
	for _, l := range m.Lines {
		if text := bot.AsWritten(l.Text); bot.CleanPre(text) != text {
			t.Errorf("%s: a line is not clean: %q", name, l.Text)
		}
	}
	buttons(t, name, m)
	onTelegram(t, name, m)
	onSlack(t, name, m)
}

// signed reports whether a first line begins with a known sign and a word, or
// has no sign.
func signed(first string) bool {
	r, n := utf8.DecodeRuneInString(first)
	if strings.ContainsRune(bot.Signs, r) {
		return strings.HasPrefix(first[n:], " ") && len(first) > n+1
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '$' || r == '/' || r == '→' || r == '…' || r == utf8.RuneError
}

// emoji returns the first character that a phone may show as a coloured picture.
func emoji(s string) (rune, bool) {
	for _, r := range s {
		switch {
		case strings.ContainsRune(bot.Signs, r):
		case r >= 0x1f000 && r <= 0x1faff, r >= 0x2600 && r <= 0x27bf, r >= 0x23e9 && r <= 0x23fa, r == 0x25b6, r == 0x25c0, r >= 0x2b05 && r <= 0x2b55, r == 0xfe0f:
			return r, true
		}
	}
	return 0, false
}

// buttons checks that labels fit a button on a phone, and that a press is the
// same input as the button's command.
func buttons(t testing.TB, name string, m bot.Message) {
	t.Helper()
	if len(m.Buttons) > maxButtons {
		t.Errorf("%s: %d buttons are more than three rows", name, len(m.Buttons))
	}
	for n, b := range m.Buttons {
		if b.Label == "" || bot.Width(b.Label) > bot.LabelWidth {
			t.Errorf("%s: the label %q", name, b.Label)
		}
		typed, err := bot.Parse(b.Command)
		if err != nil || typed.Verb == bot.VerbWords && typed.Project == "" { // "shop: Use tabs" is typed as it stands
			t.Errorf("%s: the twin %q of %q is no command: %v", name, b.Command, b.Label, err)
		}
		for _, data := range []string{bot.ButtonData(m, n, maxData), slack.Data(m, n), telegram.Data(m, n)} {
			twin, ok := bot.Pressed(m, data)
			pressed, err := bot.Parse(twin)
			if !ok || err != nil || pressed != typed {
				t.Errorf("%s: a press of %q is %+v, its twin %q is %+v (%v)", name, b.Label, pressed, b.Command, typed, err)
			}
		}
		if data := telegram.Data(m, n); len(data) > maxData {
			t.Errorf("%s: callback data of %d bytes: %s", name, len(data), data)
		}
	}
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// onTelegram sends the message to a fake server that renders it as the platform
// does: it must be accepted, show only the text of its lines, in the blocks of
// their kinds, and offer no link or command that is not nightporter's.
func onTelegram(t testing.TB, name string, m bot.Message) {
	t.Helper()
	most := maxText
	p := telegram.Render(m)
	if p.File != nil || len(m.Picture) > 0 {
		most = maxCaption
	}
	text, entities, err := far.ParseHTML(p.HTML)
	if err != nil {
		t.Errorf("%s: Telegram refuses it: %v\n%s", name, err, p.HTML)
		return
	}
	for _, plain := range []string{text, p.Text} {
		if n := units(plain); n == 0 || n > most {
			t.Errorf("%s: %d units on Telegram, %d are the most", name, n, most)
		}
	}
	for _, tap := range slices.Concat(far.Taps(text, entities), far.Taps(p.Text, nil)) {
		if _, err := bot.Parse(tap); !strings.HasPrefix(tap, "/") || err != nil && !lacks(err) {
			t.Errorf("%s: a finger can open %q", name, tap)
		}
	}
	shown := text
	if p.File != nil && m.Document == nil { // else the text is its caption
		shown = string(p.File.Data)
	} else {
		blocks(t, name, m, text, entities)
	}
	if want, got := flat(said(m)), flat(shown); want != got && want != "" {
		t.Errorf("%s: Telegram shows another text\n%q, want\n%q", name, got, want)
	}
}

// blocks checks that there are as many blocks as the lines ask for, each made of
// whole lines.
func blocks(t testing.TB, name string, m bot.Message, text string, entities []far.Entity) {
	t.Helper()
	want, got := map[string]int{"bold": 1}, map[string]int{}
	for n, l := range m.Lines {
		follows := n > 0 && m.Lines[n-1].Kind == l.Kind
		switch {
		case l.Kind == bot.Head && n > 0:
			want["bold"]++
		case l.Kind == bot.Quote && !follows && n > 0:
			want["quote"]++
		case l.Kind == bot.Pre && !follows && n > 0:
			want["pre"]++
		}
	}
	all := utf16.Encode([]rune(text))
	for _, e := range entities {
		kind := map[string]string{"bold": "bold", "blockquote": "quote", "expandable_blockquote": "quote", "pre": "pre", "code": "code"}[e.Type]
		if kind == "" {
			t.Errorf("%s: Telegram sees %s", name, e.Type)
		}
		if kind == "code" {
			continue
		}
		got[kind]++
		if end := e.Offset + e.Length; e.Offset > 0 && all[e.Offset-1] != '\n' || end < len(all) && all[end] != '\n' {
			t.Errorf("%s: a %s covers no whole lines: %+v in %q", name, kind, e, text)
		}
	}
	if !maps.Equal(want, got) {
		t.Errorf("%s: Telegram sees the blocks %v, want %v: %q", name, got, want, text)
	}
}

// said returns the text of all of a message's lines.
func said(m bot.Message) string {
	var b strings.Builder
	for _, l := range m.Lines {
		if l.Kind == bot.Pre {
			b.WriteString(bot.CleanPre(l.Text))
		} else {
			b.WriteString(bot.Clean(l.Text))
		}
	}
	return b.String()
}

// flat removes the permitted differences from a text: spaces, at which long
// lines are split, and invisible joiners.
func flat(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u2060' || r == '┃' {
			return -1
		}
		return r
	}, s)
}

// lacks reports whether an error of bot.Parse means a known command with a
// missing argument.
func lacks(err error) bool {
	_, unknown := err.(*bot.UnknownError) //nolint:errorlint // Parse returns it as it is
	return !unknown
}

// onSlack checks the blocks, in which foreign text may stand only in elements
// without markup, and the one fallback text, which Slack parses.
func onSlack(t testing.TB, name string, m bot.Message) {
	t.Helper()
	s := slack.Render(m, nil, "")
	raw, err := json.Marshal(s.Blocks)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	visible, special := Mrkdwn(s.Text)
	if len(special) > 0 {
		t.Errorf("%s: Slack reads %q in %q", name, special, s.Text)
	}
	if want := bot.Clean(m.First()); commandless(visible) != commandless(want) && want != "" {
		t.Errorf("%s: Slack announces %q, want %q", name, visible, want)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	var shown strings.Builder
	long := s.File != nil && m.Document == nil
	Walk(tree, func(node map[string]any) {
		text, isText := node["text"].(string)
		switch kind := node["type"]; {
		case isText && (kind == "text" || kind == "plain_text"):
			if node["emoji"] == true {
				t.Errorf("%s: Slack reads emoji in %v", name, node)
			}
		case isText:
			t.Errorf("%s: Slack reads markup in %v", name, node)
		case kind == "user", kind == "link", kind == "broadcast", kind == "emoji", kind == "channel", kind == "usergroup":
			t.Errorf("%s: Slack is given a %s", name, kind)
		}
		if utf8.RuneCountInString(text) > maxBlock && node["type"] != "text" {
			t.Errorf("%s: a block's text of %d characters", name, utf8.RuneCountInString(text))
		}
	})
	if list, is := tree.([]any); is {
		for _, b := range list {
			if block, is := b.(map[string]any); is && block["type"] != "actions" {
				inOrder(block, &shown)
			}
		}
	}
	for _, l := range m.Lines {
		long = long || utf8.RuneCountInString(l.Text) > maxBlock/2
	}
	if want, got := commandless(said(m)), commandless(shown.String()); want != got && !long && want != "" {
		t.Errorf("%s: Slack shows another text\n%q, want\n%q", name, got, want)
	}
	if p := s.Picture; p != nil && (p.Alt == "" || utf8.RuneCountInString(p.Alt) > maxAlt) {
		t.Errorf("%s: an alt text of %d characters", name, utf8.RuneCountInString(p.Alt))
	}
}

// ownWords checks that Slack shows no command as Telegram takes it, and that no platform
// shows the backticks of Markdown. Foreign text is left out: Slack shows it as it is.
func ownWords(t testing.TB, name string, m bot.Message) {
	t.Helper()
	m.Lines = slices.Clone(m.Lines)
	for n := range m.Lines {
		m.Lines[n].Text = strings.ReplaceAll(m.Lines[n].Text, "/\u2060", "") // in bot.Foreign's
	}
	s := slack.Render(m, nil, "")
	raw, err := json.Marshal(s.Blocks)
	var tree any
	if err == nil {
		err = json.Unmarshal(raw, &tree)
	}
	if err != nil {
		t.Errorf("%s %s: %v", name, m.Key, err)
	}
	for _, typed := range append(telegramCommands(tree, m.Key == bot.KeyHelp), slashes(s.Text)...) {
		t.Errorf("%s %s: Slack shows Telegram's command %q", name, m.Key, typed)
	}
	for _, l := range m.Lines {
		if l.Kind != bot.Pre && strings.Contains(l.Text, "`") {
			t.Errorf("%s %s shows a backtick: %s", name, m.Key, l.Text)
		}
	}
}

// slash matches a slash with the word behind it, and what stands before it.
var slash = regexp.MustCompile(`(^|.)/([A-Za-z][A-Za-z0-9_]*)`)

// slashes returns nightporter's commands in a text that begin with a slash of their
// own. In Slack "/porter" stands before each, without a second slash.
func slashes(text string) (found []string) {
	for _, at := range slash.FindAllStringSubmatch(text, -1) {
		before, word := at[1], at[2]
		if strings.ContainsAny(before, "/.~:") || before != "" && (unicode.IsLetter(rune(before[0])) || unicode.IsDigit(rune(before[0]))) {
			continue // part of a path or an address
		}
		if _, err := bot.Parse("/" + word); word != strings.TrimPrefix(slack.Command, "/") && (err == nil || lacks(err)) {
			found = append(found, "/"+word)
		}
	}
	return found
}

// telegramCommands returns the commands with a slash of their own in all texts that
// nightporter wrote itself. Quotes are others' words, and so is preformatted text unless
// ours says otherwise.
func telegramCommands(v any, ours bool) (found []string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			found = append(found, telegramCommands(e, ours)...)
		}
	case map[string]any:
		kind := v["type"]
		if kind == "rich_text_quote" || kind == "rich_text_preformatted" && !ours {
			return nil
		}
		if text, is := v["text"].(string); is {
			found = slashes(text)
		}
		for _, part := range []string{"elements", "text"} {
			if _, is := v[part].(string); !is {
				found = append(found, telegramCommands(v[part], ours)...)
			}
		}
	}
	return found
}

// inOrder collects the texts of a block in reading order.
func inOrder(v any, b *strings.Builder) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			inOrder(e, b)
		}
	case map[string]any:
		if text, is := v["text"].(string); is {
			b.WriteString(text)
		}
		inOrder(v["elements"], b)
	}
}

// commandless removes the differences between commands on both platforms:
// "/task_8" is "/porter task 8" on Slack, and "task 8" in the list of commands.
func commandless(s string) string {
	s = strings.ReplaceAll(flat(s), slack.Command, "/")
	return strings.NewReplacer("_", "", "/", "").Replace(s)
}

// Mrkdwn parses a text as Slack does in an element without markdown. It returns
// the visible text and everything that Slack turns into a mention, a link or a
// broadcast.
func Mrkdwn(s string) (visible string, special []string) {
	var b strings.Builder
	for s != "" {
		switch at := strings.IndexAny(s, "<&"); {
		case at < 0:
			b.WriteString(s)
			s = ""
		case s[at] == '&':
			b.WriteString(s[:at])
			s = s[at:]
			found := false
			for name, c := range map[string]string{"&lt;": "<", "&gt;": ">", "&amp;": "&"} {
				if strings.HasPrefix(s, name) {
					b.WriteString(c)
					s, found = s[len(name):], true
					break
				}
			}
			if !found {
				b.WriteString("&")
				s = s[1:]
			}
		default:
			b.WriteString(s[:at])
			inner, rest, closed := strings.Cut(s[at+1:], ">")
			if !closed {
				b.WriteString(s[at:])
				return b.String(), special
			}
			special = append(special, inner)
			s = rest
		}
	}
	return b.String(), special
}

// Walk calls visit for every object of decoded JSON.
func Walk(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			Walk(e, visit)
		}
	case map[string]any:
		visit(v)
		for _, e := range v {
			Walk(e, visit)
		}
	}
}
