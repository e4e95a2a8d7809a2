package slack

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/words"
	"github.com/nightporter/nightporter/internal/regexp"
)

// Values of Inbound.Unpairable: why the sender can never be paired.
const (
	SenderBot     = "a bot"
	SenderUnknown = "nobody" // Slack does not name the sender
)

// message holds the fields of a Slack message that this package uses. Unknown
// fields, and other fields of an unexpected type, cannot make decoding fail.
type message struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Channel string `json:"channel"`
	User    string `json:"user"`
	Bot     string `json:"bot_id"`
	Text    string `json:"text"`
	TS      string `json:"ts"`
	Thread  string `json:"thread_ts"`
	Parent  string `json:"parent_user_id"` // author of the thread's first message

	Edited *struct {
		TS string `json:"ts"`
	} `json:"edited"`
	Message *message          `json:"message"` // the new message in a message_changed event
	Before  *message          `json:"previous_message"`
	Files   []json.RawMessage `json:"files"`

	Latest string `json:"latest_reply"` // of a thread's first message

	// Of a reaction: its name, the message that it is on, and its own time.
	Reaction string `json:"reaction"`
	Item     struct {
		Type    string `json:"type"`
		Channel string `json:"channel"`
		TS      string `json:"ts"`
	} `json:"item"`
	ItemUser string `json:"item_user"` // author of that message
	EventTS  string `json:"event_ts"`
}

// reactions are the names of the reactions that can be an answer, with the symbols
// that package words knows.
var reactions = map[string]string{
	"+1": "👍", "thumbsup": "👍", "ok_hand": "👌", "white_check_mark": "✅", "heavy_check_mark": "✔", "ok": "🆗",
	"-1": "👎", "thumbsdown": "👎", "x": "❌",
}

// fromReaction converts a reaction to one of the bot's messages. It returns false for
// any other, and for one without a meaning.
func (b *Bot) fromReaction(m message) (in bot.Inbound, ok bool) {
	name, _, _ := strings.Cut(m.Reaction, "::") // behind it stands a skin tone
	symbol, channel := reactions[name], m.Item.Channel
	if symbol == "" || m.Item.Type != "message" || m.ItemUser != b.identity().User || !isPerson(m.User) ||
		!idForm.MatchString(channel) || !timestampForm.MatchString(m.Item.TS) || !timestampForm.MatchString(m.EventTS) {
		return in, false
	}
	in = bot.Inbound{
		Key: Prefix + "reaction:" + channel + ":" + m.EventTS + ":" + m.User, Actor: Prefix + m.User, Chat: Prefix + channel,
		Private: isDirect(channel), Text: symbol, Reaction: true, Message: m.Item.TS, ReplyTo: m.Item.TS, Sent: timeOf(m.EventTS),
	}
	if in.Private {
		in.Chat = in.Actor
		b.rememberDirect(m.User, channel)
	}
	return in, true
}

// fromMessage converts a message. It returns false for the bot's own messages and
// for those not addressed to it. In a channel a message is for the bot if it
// mentions the bot or stands in a thread that the bot takes part in.
func (b *Bot) fromMessage(m message, answered func(chat, id string) bool) (in bot.Inbound, ok bool) {
	channel := m.Channel
	edited := false
	switch m.Subtype {
	case "", "file_share", "thread_broadcast", "me_message", "bot_message":
	case "message_changed":
		// Link previews and new replies change a message without an edit.
		if m.Message == nil || m.Message.Edited == nil || m.Before != nil && m.Before.Text == m.Message.Text {
			return in, false
		}
		m, edited = *m.Message, true
	default:
		return in, false
	}
	me := b.identity()
	if !timestampForm.MatchString(m.TS) || !idForm.MatchString(channel) || m.User == me.User || m.Bot != "" && m.Bot == me.Bot {
		return in, false
	}
	in = bot.Inbound{
		Key: Prefix + channel + ":" + m.TS, Actor: Prefix + m.User, Chat: Prefix + channel,
		Private: isDirect(channel), Message: messageID(m.TS, m.User, m.Thread), Edited: edited,
		Media: len(m.Files) > 0, Sent: timeOf(m.TS),
	}
	in.Files, in.Kind = filesOf(m.Files)
	if edited {
		in.Key += ":" + m.Edited.TS
		in.Sent = timeOf(m.Edited.TS)
	}
	if root := m.Thread; root != "" && root != m.TS {
		in.Thread = root
		// In a thread that we began, ReplyTo is our message's timestamp; in a
		// thread of another author it is the id under which our reply to that
		// message is stored.
		if in.ReplyTo = root; m.Parent != "" && m.Parent != me.User {
			in.ReplyTo = messageID(root, m.Parent, "")
		}
	}
	text, named := decodeText(m.Text, me.User)
	forUs := in.Private || named
	if !forUs && in.ReplyTo != "" {
		forUs = m.Parent == me.User || answered(in.Chat, in.ReplyTo)
	}
	if !forUs {
		return in, false
	}
	if in.Private {
		in.Chat = in.Actor
		b.rememberDirect(m.User, channel)
	}
	in.Named = named && !in.Private
	switch in.Text = text; {
	case in.ReplyTo != "" && m.Parent == me.User:
		// A mention without a slash in a thread answers the thread's first
		// message.
	case named:
		in.Text = mentionLine(text)
	case in.Private && in.ReplyTo == "":
		in.Text = privateLine(text)
	}
	switch {
	case m.Bot != "" || m.User == "USLACKBOT":
		in.Unpairable = SenderBot
		if !isPerson(m.User) {
			in.Actor = Prefix + m.Bot
		}
	case !isPerson(m.User):
		in.Unpairable, in.Actor = SenderUnknown, Prefix+channel
	}
	if in.Unpairable != "" {
		in.Chat, in.Private = Prefix+channel, false
	}
	return in, true
}

// timeOf converts a Slack timestamp, and returns zero for an invalid one.
func timeOf(ts string) time.Time {
	sec, frac, _ := strings.Cut(ts, ".")
	s, err := strconv.ParseInt(sec, 10, 64)
	if err != nil {
		return time.Time{}
	}
	n, err := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	if err != nil {
		n = 0
	}
	return time.Unix(s, n)
}

var (
	entity   = regexp.MustCompile(`<([^<>]*)>`)
	mentions = regexp.MustCompile(`^<@([A-Z0-9]+)(?:\|[^<>]*)?>[:,]?\s*`)
)

// decodeText returns a message's text as it was typed, without Slack's markup for
// links and mentions. named reports whether it mentions us; a leading mention of
// us is removed.
func decodeText(text, us string) (typed string, named bool) {
	text = strings.TrimSpace(text)
	if m := mentions.FindStringSubmatch(text); m != nil && m[1] == us {
		text, named = text[len(m[0]):], true
	}
	text = entity.ReplaceAllStringFunc(text, func(s string) string {
		ref, label, labelled := strings.Cut(s[1:len(s)-1], "|")
		switch {
		case ref == "@"+us:
			named = true
			return ""
		case strings.HasPrefix(ref, "!"):
			return "@" + strings.TrimLeft(cmp.Or(label, ref), "!@")
		case strings.HasPrefix(ref, "@"), strings.HasPrefix(ref, "#"):
			return ref[:1] + strings.TrimLeft(cmp.Or(label, ref), "@#")
		case labelled && strings.Contains(ref, label):
			return label // Slack made "README.md" a link
		}
		return ref
	})
	return strings.TrimSpace(html.UnescapeString(text)), named
}

// commandLine converts the text after "/porter" into a line for bot.Parse. There
// the first word is a command even without a slash.
func commandLine(text string) string {
	text = strings.TrimSpace(text)
	word, _, _ := strings.Cut(text, " ")
	if text == "" {
		return "/help"
	}
	project, rest, hasProject := strings.Cut(text, ":")
	switch {
	case strings.HasPrefix(text, "/"), questionOrGuidanceID.MatchString(strings.TrimSuffix(word, ":")):
		return text
	case hasProject && projectName.MatchString(project) && strings.TrimSpace(rest) != "":
		return project + ": " + commandLine(rest)
	}
	return "/" + text
}

var (
	questionOrGuidanceID = regexp.MustCompile(`^[qgQG][0-9]{1,9}$`)
	projectName          = regexp.MustCompile(`^[A-Za-z0-9-]{1,32}$`)
)

// mentionLine converts a text that mentions us into a line for bot.Parse: plain words,
// a command, or otherwise guidance for the next session. A single unknown word,
// or a text that begins like a command, stays a command, so that a typing error
// does not become guidance.
func mentionLine(text string) string {
	if isPlain(text) {
		return text
	}
	line := commandLine(text)
	_, err := bot.Parse(line)
	unknown, is := asUnknown(err)
	if !is || strings.HasPrefix(text, "/") || unknown.Rest == "" || len(unknown.Word) > 3 && strings.HasPrefix(unknown.Meant, unknown.Word) {
		return line
	}
	return text
}

// isPlain reports whether a text, behind a project's name or not, is a sentence that
// is understood without a slash (docs/spec 6.8). What stops or spends is asked about
// then, as on every platform; "/porter stop" is the command.
func isPlain(text string) bool {
	if project, rest, cut := strings.Cut(text, ":"); cut && projectName.MatchString(project) {
		text = rest
	}
	return strings.TrimSpace(text) != "" && words.Read(text).Intent != words.Guidance
}

// privateLine converts a direct message into a line for bot.Parse. Slack does
// not deliver text that starts with a slash, so a text that looks like a
// command without a slash counts as one where it is no plain words: "whoami", "task 8".
func privateLine(text string) string {
	parts := strings.Fields(text)
	if len(parts) == 0 || strings.HasPrefix(text, "/") || isPlain(text) {
		return text
	}
	c, err := bot.Parse("/" + text)
	if err != nil {
		return text
	}
	second := len(parts) > 1 && (strings.EqualFold(parts[1], "now") || strings.ContainsAny(parts[1], "0123456789"))
	switch {
	case len(parts) == 1, len(parts) == 2 && (second || c.Verb == bot.VerbPair), c.Verb == bot.VerbGuidance,
		second && (c.Verb == bot.VerbAnswer || c.Verb == bot.VerbApprove || c.Verb == bot.VerbReject):
		return "/" + text
	}
	return text
}

// slashCommand is the payload of "/porter".
type slashCommand struct {
	Text        string `json:"text"`
	User        string `json:"user_id"`
	UserName    string `json:"user_name"`
	Channel     string `json:"channel_id"`
	ChannelName string `json:"channel_name"`
	Trigger     string `json:"trigger_id"`
}

// fromSlashCommand converts a command. The id of the envelope is the key if
// Slack sent no trigger.
func (b *Bot) fromSlashCommand(s slashCommand, envelope string) (in bot.Inbound, ok bool) {
	if !isPerson(s.User) || !idForm.MatchString(s.Channel) {
		return in, false
	}
	text, _ := decodeText(s.Text, "")
	in = bot.Inbound{
		Key: Prefix + "cmd:" + cmp.Or(s.Trigger, envelope), Actor: Prefix + s.User, Name: bot.Clean(s.UserName), Chat: Prefix + s.Channel,
		Text: commandLine(text), Message: commandID(s.User, Command+" "+text), Unseen: true, Sent: b.o.Clock(),
	}
	if isDirect(s.Channel) {
		// The command may come from a conversation with another person, which
		// the bot is not in.
		in.Chat, in.Private = in.Actor, true
	} else if s.ChannelName != privateName {
		in.Title = bot.Clean(s.ChannelName)
	}
	return in, true
}

// privateName is the name that Slack gives private channels in payloads.
const privateName = "privategroup"

// interaction is the payload of a button press or a submitted form.
type interaction struct {
	Type    string `json:"type"`
	Trigger string `json:"trigger_id"`
	User    struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		UserName string `json:"username"`
	} `json:"user"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel"`
	Container struct {
		Channel string `json:"channel_id"`
		Message string `json:"message_ts"`
		Thread  string `json:"thread_ts"`
	} `json:"container"`
	Message *message `json:"message"`
	Actions []struct {
		Value string `json:"value"`
	} `json:"actions"`
	View struct {
		ID       string `json:"id"`
		Callback string `json:"callback_id"`
		Metadata string `json:"private_metadata"`
		State    struct {
			Values map[string]map[string]struct {
				Value string `json:"value"`
			} `json:"values"`
		} `json:"state"`
	} `json:"view"`
}

// fromInteraction converts a press or a submitted form. It returns false for any
// other interaction.
func (b *Bot) fromInteraction(i interaction, envelope string) (in bot.Inbound, ok bool) {
	if !isPerson(i.User.ID) {
		return in, false
	}
	in = bot.Inbound{Actor: Prefix + i.User.ID, Name: bot.Clean(cmp.Or(i.User.Name, i.User.UserName)), Sent: b.o.Clock()}
	switch {
	case i.Type == "block_actions" && len(i.Actions) > 0:
		return b.fromPress(in, i, envelope)
	case i.Type == "view_submission" && i.View.Callback == formID:
		return b.fromForm(in, i)
	}
	return in, false
}

// fromPress converts a press of a button.
func (b *Bot) fromPress(in bot.Inbound, i interaction, envelope string) (bot.Inbound, bool) {
	channel := cmp.Or(i.Container.Channel, i.Channel.ID)
	thread := i.Container.Thread
	in.Message = i.Container.Message
	if m := i.Message; m != nil {
		in.Message, thread = cmp.Or(in.Message, m.TS), cmp.Or(thread, m.Thread)
	}
	if !idForm.MatchString(channel) || i.Actions[0].Value == "" {
		return in, false
	}
	in.Key, in.Press = Prefix+"press:"+cmp.Or(i.Trigger, envelope), i.Actions[0].Value
	in.PressID = press{channel, i.User.ID, thread, i.Trigger}.String()
	in.Chat = Prefix + channel
	if isDirect(channel) {
		in.Chat, in.Private = in.Actor, true
		b.rememberDirect(i.User.ID, channel)
	}
	return in, true
}

// fromForm converts a submitted form: its text follows the form's command.
func (b *Bot) fromForm(in bot.Inbound, i interaction) (bot.Inbound, bool) {
	var f form
	if json.Unmarshal([]byte(i.View.Metadata), &f) != nil || f.Command == "" {
		return in, false
	}
	if _, err := parseAddress(f.Chat); err != nil {
		return in, false
	}
	words := strings.TrimSpace(i.View.State.Values[formID][formID].Value)
	sum := sha256.Sum256([]byte(words))
	in.Key = Prefix + "form:" + i.View.ID + ":" + hex.EncodeToString(sum[:4])
	in.Chat, in.Private, in.ReplyTo = f.Chat, f.Chat == in.Actor, f.Message
	in.Text = f.Command + " " + words
	in.Message = commandID(i.User.ID, in.Text)
	return in, words != ""
}
