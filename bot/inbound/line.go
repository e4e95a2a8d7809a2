package inbound

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/words"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

var (
	questionKey = regexp.MustCompile(`^q[0-9]{1,9}$`)
	itemKey     = regexp.MustCompile(`^g[0-9]{1,9}$`)
	runKey      = regexp.MustCompile(`(?:^|/)(r[0-9]{1,9})$`)
	handleWord  = regexp.MustCompile(`^[qgQG][0-9]{1,9}$`)
)

// commandLine returns the command that a message stands for, and whether the
// message is addressed to nightporter (docs/spec 6.8, 22): in a private chat every
// message is; in a group only commands, messages that begin with the bot's name and
// replies to nightporter's messages, and in a project's thread what is understood as a
// command without a slash.
// In a reply, the replied-to message completes the command.
func (v *request) commandLine(ctx context.Context) (line string, forUs bool, err error) {
	text := strings.TrimSpace(v.in.Text)
	if v.wordless() && v.pictures() {
		text = loop.WordsOfPicture
	} else if v.heard() {
		text = v.withSpoken(text)
	}
	mine, is := v.command(text)
	if is {
		if v.in.ReplyTo != "" && mine {
			// A command without a project gets the project of the message that
			// it replies to.
			if _, _, err := v.repliedTo(ctx); err != nil {
				return "", false, err
			}
			text = v.withReplied(text)
		}
		return text, mine, nil
	}
	key, found, err := v.repliedTo(ctx)
	if err != nil {
		return "", false, err
	}
	text, named := v.withoutName(text)
	if !found {
		return text, v.in.Private || v.in.Named || named || v.commands(text), nil
	}
	several, err := v.repliesToSeveral(ctx, key)
	switch {
	case err != nil:
		return "", false, err
	case text == "":
		return "", true, nil
	case several:
		return v.replyToSeveral(text), true, nil
	case !strings.HasPrefix(key, wordsKey) && words.Read(text).Intent != words.Guidance:
		if v.replyTo = bot.QuestionOf(key); itemKey.MatchString(key) {
			v.replyTo = key
		}
		return text, true, nil
	}
	v.plain = !strings.HasPrefix(key, wordsKey)
	if name, is := bot.LiveProject(key); is {
		s, _ := v.o.Service.State(name)
		v.project, v.unclear = name, bot.Unclear(s, text)
	}
	return v.reply(key, text), true, nil
}

// withoutName removes the bot's name from the beginning of a text, and reports
// whether it stood there.
func (v *request) withoutName(text string) (rest string, named bool) {
	word, rest, _ := strings.Cut(strings.ReplaceAll(text, "\n", " "), " ")
	us := v.o.Name()
	if us == "" || !strings.EqualFold(strings.TrimRight(word, ",:"), "@"+us) {
		return text, false
	}
	return strings.TrimSpace(text[len(text)-len(rest):]), true
}

// commands reports whether a text in a project's thread that is addressed to nobody is
// a look or a command: people also talk to each other there.
func (v *request) commands(text string) bool {
	if v.in.ReplyTo != "" || v.o.ProjectOf(v.in.Chat) == "" {
		return false
	}
	switch words.Read(text).Intent {
	case words.Look, words.Stop, words.Pause, words.Resume, words.Start, words.Retry, words.Skip:
		return true
	}
	return false
}

// withReplied completes an /add or a /bug that stands alone by the text that it replies to.
func (v *request) withReplied(text string) string {
	if c, err := bot.Parse(text); err == nil && (c.Verb == bot.VerbAdd || c.Verb == bot.VerbBug) && c.Words == "" && v.in.ReplyToWhole != "" {
		return text + " " + strings.TrimSpace(v.in.ReplyToWhole)
	}
	return text
}

// command reports whether a text is a command that needs no context (is), and
// whether the command is addressed to nightporter (mine): "/stop@other" is for
// another bot.
func (v *request) command(text string) (mine, is bool) {
	if !bot.IsCommand(text) {
		return false, false
	}
	word, _, _ := strings.Cut(strings.ReplaceAll(text, "\n", " "), " ")
	if !strings.HasPrefix(word, "/") {
		_, err := bot.Parse(text)
		return v.in.Private || err == nil, true
	}
	if _, name, called := strings.Cut(word, "@"); called {
		if us := v.o.Name(); us != "" && !strings.EqualFold(name, us) {
			return false, true
		}
	}
	return true, true
}

// repliedTo returns the key of the replied-to message, and records its subject
// in v. A message that announces a run is about that run, also where its key is that of
// the question that confirmed the start.
func (v *request) repliedTo(ctx context.Context) (key string, found bool, err error) {
	if v.in.ReplyTo == "" {
		return "", false, nil
	}
	sent, ok, err := v.o.Outbox.SentAt(ctx, v.in.Chat, v.in.ReplyTo)
	if err != nil {
		return "", false, fmt.Errorf("look up the message that is answered: %w", err)
	}
	if !ok && v.in.ReplyToText != "" && v.failures(v.in.Key) < maxFailures-1 {
		// The reply arrived before the platform's id of the message was stored.
		return "", false, errNotYetNoted
	}
	if !ok {
		// A restart left the message in doubt, so its id is unknown. Its first
		// line names its subject.
		key := itemPattern.FindString(v.in.ReplyToText)
		if owner := bot.ProjectOf(v.o.Service, key); owner != "" {
			v.key, v.project = key, owner
		}
		return key, key != "", nil
	}
	v.readSubject(sent)
	v.replied = sent
	return cmp.Or(v.pressed.Run, sent.Key), true, nil
}

// errNotYetNoted means that a person replied to a message whose sending is not
// recorded yet. The platform delivers the reply again.
var errNotYetNoted = errors.New("the message that is answered is not known yet")

// itemPattern finds the question or guidance in a message's first line: "■ shop
// #8 blocked (q5)", "○ g17 queued".
var itemPattern = regexp.MustCompile(`\b[qg][0-9]{1,9}\b`)

// readSubject records the subject of a sent message: its project and question,
// guidance or task.
func (v *request) readSubject(sent ledger.SentMessage) {
	v.key = sent.Key
	if json.Unmarshal(sent.Body, &v.pressed) != nil {
		v.pressed = bot.Message{} // stored by another version: the key is enough
	}
	completeStored(&v.pressed)
	if p := v.pressed.Project; p != "" {
		v.project = p
	}
	if p := bot.ProjectOf(v.o.Service, cmp.Or(bot.QuestionOf(sent.Key), sent.Key)); p != "" {
		v.project = p
	}
}

// reply returns the command that text stands for as a reply to the message with
// key.
func (v *request) reply(key, text string) string {
	switch {
	case bot.QuestionOf(key) != "":
		return bot.QuestionOf(key) + " " + text
	case strings.HasPrefix(key, wordsKey):
		return commandInKey(key) + " " + text
	case itemKey.MatchString(key):
		switch strings.ToLower(text) {
		case "drop", "keep":
			return key + " " + text
		}
	}
	if a, _ := guidance.Parse(text); a.Task == "" {
		return "/guidance " + v.address() + text
	}
	return "/guidance " + text
}

// repliesToSeveral reports whether the message replied to is shared by several receipts
// (ledger.Outgoing.Joins). A reply says of none of them that it is meant, unless it
// stands in the thread of a person's message that another thread has the receipt of.
func (v *request) repliesToSeveral(ctx context.Context, key string) (bool, error) {
	if !itemKey.MatchString(key) || v.replied.ID == "" {
		return false, nil
	}
	shared, err := v.o.Outbox.Together(ctx, v.in.Chat, v.replied.ID)
	if err != nil {
		return false, fmt.Errorf("look up the receipts that are answered: %w", err)
	}
	if len(shared) < 2 {
		return false, nil
	}
	return v.in.ReplyTo == v.replied.ID || v.in.ReplyTo == shared[0].ReplyTo, nil
}

// replyToSeveral returns the command that text stands for as a reply to several
// receipts: what takes one back asks which, and guidance has no address but its own.
func (v *request) replyToSeveral(text string) string {
	switch intent := words.Read(text).Intent; {
	case intent == words.Forget, strings.EqualFold(text, "drop"):
		return "/" + string(bot.VerbDrop)
	case strings.EqualFold(text, "keep"):
		return "/" + string(bot.VerbQueue)
	case intent != words.Guidance:
		return text
	}
	v.plain = true
	return "/" + string(bot.VerbGuidance) + " " + text
}

// address returns the address of guidance that replies to a message about a
// task.
func (v *request) address() string {
	id := v.pressed.About
	if itemKey.MatchString(v.key) {
		s, _ := v.o.Service.State(v.project)
		if i, ok := s.Project.Guidance.Get(v.key); ok {
			switch {
			case i.Bound != "" && i.Bound != "-":
				id = i.Bound
			case i.Task != "":
				id = i.Task
			}
		}
	}
	short := strings.TrimPrefix(ledger.ShortID(id), "#")
	if short == "" || strings.ContainsAny(short, " \t\n#") {
		return ""
	}
	return "#" + short + " "
}

// wordsKey begins the key of a message that asks for text. The rest is the
// command that the text completes: "words.q5.guide", "words.guidance".
const wordsKey = "words."

func wordsFor(command string) string {
	return wordsKey + strings.ReplaceAll(strings.TrimPrefix(command, "/"), " ", ".")
}

// commandInKey returns the command in a key that begins with wordsKey.
func commandInKey(key string) string {
	parts := strings.Split(strings.TrimPrefix(key, wordsKey), ".")
	if handleWord.MatchString(parts[0]) {
		return strings.Join(parts, " ")
	}
	return "/" + strings.Join(parts, " ")
}
