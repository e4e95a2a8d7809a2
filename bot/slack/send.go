package slack

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
)

// replyTarget is the parsed form of an id that a message can reply to. Ids are:
//
//	1700000000.000100                        the bot's message: its timestamp
//	1700000000.000100:U1                     a message of person U1
//	1700000001.000100:U1:1700000000.000100   the same, in a thread
//	cmd:U1:/porter pause                     a command or form of U1, without a message
//
// They hold enough to find the thread, or to quote the command where there is no
// message to reply to.
type replyTarget struct {
	ts, user, root string
	quote          string // the command or form, if there is no message
}

var timestampForm = regexp.MustCompile(`^[0-9]{1,12}\.[0-9]{1,9}$`)

// messageID returns the id of a person's message.
func messageID(ts, user, root string) string {
	if root == "" || root == ts {
		return ts + ":" + user
	}
	return ts + ":" + user + ":" + root
}

// commandID returns the id of a command or form. It includes the text that is
// quoted in the channel, but never a pairing code.
func commandID(user, text string) string {
	const most = 72
	typed, is := strings.CutPrefix(text, Command+" ")
	c, err := bot.Parse(commandLine(typed))
	if unknown, slip := asUnknown(err); is && (c.Verb == bot.VerbPair || c.Verb == bot.VerbStart || slip && unknown.Meant == "/pair") {
		text = Command + " pair …"
	}
	return "cmd:" + user + ":" + bot.Cut(bot.Clean(text), most)
}

// parseMessageID parses an id; the zero replyTarget stands for an invalid one.
func parseMessageID(id string) replyTarget {
	if rest, is := strings.CutPrefix(id, "cmd:"); is {
		user, quote, _ := strings.Cut(rest, ":")
		return replyTarget{user: user, quote: quote}
	}
	ts, rest, _ := strings.Cut(id, ":")
	if !timestampForm.MatchString(ts) {
		return replyTarget{}
	}
	user, root, _ := strings.Cut(rest, ":")
	return replyTarget{ts: ts, user: user, root: root}
}

// thread returns the thread that a reply goes to, "" for none. Direct
// conversations need none: the reply appears below the message anyway.
func (a replyTarget) thread(direct bool) string {
	switch {
	case a.root != "":
		return a.root
	case direct && a.user != "":
		return ""
	}
	return a.ts
}

// forbiddenKey is the key of refusals, which Slack shows only to the person who
// sent the command.
const forbiddenKey = "cmd.forbidden"

// Send posts a message and returns its timestamp, behind the conversation's id and a
// slash if it is another one than the chat's: "D1/1700000000.000100". A text that is too long is
// posted as a file in the message's thread.
func (b *Bot) Send(ctx context.Context, chat string, m bot.Message, o bot.SendOptions) (string, error) {
	id, err := parseAddress(chat)
	if err != nil {
		return "", &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	a := parseMessageID(o.ReplyTo)
	mentions := b.mentionIDs(chat, id, o)
	quote := a.quote
	if strings.HasPrefix(m.Key, "status.") {
		quote = "" // a live message answers nobody for long; who typed is needed where the bot may not post
	}
	s := Render(m, mentions, quote)
	where, err := b.conversation(ctx, id)
	if err != nil {
		return "", b.sendError(err)
	}
	file := ""
	if s.File != nil {
		// An upload is invisible until it is shared, so it may be repeated.
		file, err = b.upload(ctx, s.File)
		switch {
		case isPermanent(err), isRefusal(err, "missing_scope"):
			b.o.Log.Warn("a file is not shown", "key", m.Key, "error", b.o.redact(err.Error()))
			file = ""
			s.Text, s.Blocks = compose(captionWithoutFile(m, fmt.Sprintf("Slack takes no file here (%s): %s.", s.File.Name, b.o.redact(err.Error()))), mentions, a.quote)
		case err != nil:
			return "", b.sendError(err)
		}
	}
	d := draft{Shown: s}
	if d.picture, err = b.uploadPicture(ctx, m.Key, s.Picture); err != nil {
		return "", err
	}
	drawn := d.picture != ""
	thread := a.thread(isDirect(where))
	show, elsewhere := b.post, ""
	if m.Key == forbiddenKey && a.user != "" && !isDirect(where) {
		show = b.postEphemeral(a.user)
	}
	ts, err := show(ctx, where, thread, &d)
	if isRefusal(err, "channel_not_found", "not_in_channel") && a.quote != "" && isPerson(a.user) && !isDirect(where) {
		// Commands also work in channels without the bot. Then the reply goes
		// to the person.
		if where, err = b.conversation(ctx, a.user); err == nil {
			ts, err = b.post(ctx, where, "", &d)
		}
		elsewhere = where + "/"
	}
	if err != nil {
		return "", b.sendError(err)
	}
	switch {
	case file != "":
		b.shareFile(ctx, where, ts, thread, file, m, s.File)
	case drawn && d.picture == "":
		b.sharePicture(ctx, where, ts, thread, m.Key, s.Picture)
	}
	return elsewhere + ts, nil
}

// isRetryable reports whether nothing was sent and a later attempt may succeed.
func isRetryable(err error) bool {
	return errors.Is(err, bot.ErrRateLimited) || errors.Is(err, bot.ErrOffline)
}

// mentionIDs returns the user ids that a message mentions.
func (b *Bot) mentionIDs(chat, id string, o bot.SendOptions) []string {
	if o.Silent {
		return nil
	}
	if isPerson(id) {
		return []string{id}
	}
	var out []string
	for _, who := range b.o.Mentions(chat) {
		if id, err := parseAddress(who); err == nil && isPerson(id) {
			out = append(out, id)
		}
	}
	return out
}

// conversation returns the conversation to post in for an id. For a person it
// finds or opens the direct conversation, because Slack edits no messages under a
// person's id.
func (b *Bot) conversation(ctx context.Context, id string) (string, error) {
	if !isPerson(id) {
		return id, nil
	}
	b.mu.Lock()
	known := b.directOf[id]
	b.mu.Unlock()
	if known != "" {
		return known, nil
	}
	c, _, _, err := b.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{id}})
	if err != nil {
		return "", err
	}
	if c == nil || c.ID == "" {
		return "", &apiError{method: "conversations.open", code: 200, text: "no conversation in the answer", foreign: true}
	}
	b.rememberDirect(id, c.ID)
	return c.ID, nil
}

// rememberDirect stores the direct conversation of a person.
func (b *Bot) rememberDirect(user, conversation string) {
	if !isPerson(user) || !isDirect(conversation) {
		return
	}
	b.mu.Lock()
	b.directOf[user] = conversation
	b.mu.Unlock()
}

// draft is a message before it is sent, without the parts that Slack rejected.
type draft struct {
	Shown
	picture string // file id of the picture above the text, "" = none
}

// post posts a draft, and tries again outside a thread that does not exist.
func (b *Bot) post(ctx context.Context, where, thread string, d *draft) (ts string, err error) {
	err = b.sendDraft(ctx, d, func(options ...slack.MsgOption) (err error) {
		if thread != "" {
			_, ts, err = b.api.PostMessageContext(ctx, where, append(options[:len(options):len(options)], slack.MsgOptionTS(thread))...)
		}
		if isRefusal(err, noThread...) {
			thread = ""
		}
		if thread == "" {
			_, ts, err = b.api.PostMessageContext(ctx, where, options...)
		}
		return err
	})
	return ts, err
}

// sendDraft calls call with a draft, and tries again without the picture or the
// blocks if Slack rejects them. Rejected drafts were never posted.
func (b *Bot) sendDraft(ctx context.Context, d *draft, call func(...slack.MsgOption) error) error {
	bare := false
	for try := 0; ; {
		err := call(d.options(bare)...)
		switch {
		case isRefusal(err, "invalid_blocks") && d.picture != "" && try < len(pictureWaits):
			if b.o.Sleep(ctx, pictureWaits[try]) != nil {
				return &bot.SendError{Reason: bot.ErrOffline, Text: "the picture was waited for"}
			}
			try++
		case isRefusal(err, badBlocks...) && d.picture != "":
			b.o.Log.Warn("Slack rejects the picture of a message; it is sent without it", "error", err)
			d.picture = ""
		case isRefusal(err, badBlocks...) && !bare:
			b.o.Log.Warn("Slack rejects the blocks of a message; it is sent as plain text", "error", err)
			bare = true
		default:
			return err
		}
	}
}

// options returns the parameters of a message, without blocks if bare.
func (d *draft) options(bare bool) []slack.MsgOption {
	out := []slack.MsgOption{
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(), slack.MsgOptionDisableMarkdown(),
	}
	switch {
	case bare:
		return append(out, slack.MsgOptionText(d.textOnly(), false), slack.MsgOptionBlocks())
	case d.picture != "":
		above := slack.NewImageBlockSlackFile(&slack.SlackFileObject{ID: d.picture}, d.Picture.Alt, "", nil)
		return append(out, slack.MsgOptionText(d.Text, false), slack.MsgOptionBlocks(append([]slack.Block{above}, d.Blocks...)...))
	}
	return append(out, slack.MsgOptionText(d.Text, false), slack.MsgOptionBlocks(d.Blocks...))
}

// textOnly returns the message as a single text.
func (s Shown) textOnly() string {
	var lines []string
	for n, block := range s.Blocks {
		switch b := block.(type) {
		case *slack.RichTextBlock:
			if n == 0 {
				lines = append(lines, s.Text)
				continue
			}
			for _, e := range b.Elements {
				lines = append(lines, elementText(e))
			}
		case *slack.ContextBlock:
			for _, e := range b.ContextElements.Elements {
				if t, is := e.(*slack.TextBlockObject); is {
					lines = append(lines, escape.Replace(t.Text))
				}
			}
		}
	}
	return strings.Join(lines, "\n")
}

// elementText returns the text of one element.
func elementText(e slack.RichTextElement) string {
	var elements []slack.RichTextSectionElement
	before := ""
	switch e := e.(type) {
	case *slack.RichTextSection:
		elements = e.Elements
	case *slack.RichTextQuote:
		elements, before = e.Elements, "┃ "
	case *slack.RichTextPreformatted:
		elements = e.Elements
	}
	var text strings.Builder
	text.WriteString(before)
	for _, e := range elements {
		if t, is := e.(*slack.RichTextSectionTextElement); is {
			text.WriteString(escape.Replace(t.Text))
		}
	}
	return strings.ReplaceAll(text.String(), "\n", "\n"+before)
}

// postEphemeral is post with a message that only one person sees. It cannot be
// edited.
func (b *Bot) postEphemeral(user string) func(ctx context.Context, where, thread string, d *draft) (string, error) {
	return func(ctx context.Context, where, thread string, d *draft) (string, error) {
		options := d.options(false)
		if thread != "" {
			options = append(options, slack.MsgOptionTS(thread))
		}
		return b.api.PostEphemeralContext(ctx, where, user, options...)
	}
}

// Edit replaces a sent message. A text that is too long is cut. The buttons are
// replaced too.
func (b *Bot) Edit(ctx context.Context, at bot.Ref, m bot.Message) error {
	where, ts, err := b.locate(ctx, at)
	if err != nil {
		return err
	}
	s := Render(m, nil, "")
	if s.File != nil && !strings.HasPrefix(m.Key, "status") {
		s.File = nil // the file is in the thread, and only its caption changes
	} else if s.File != nil {
		s = renderOne(m)
	}
	d := draft{Shown: s}
	if d.picture, err = b.uploadPicture(ctx, m.Key, s.Picture); err != nil {
		return err
	}
	return b.sendError(b.sendDraft(ctx, &d, func(options ...slack.MsgOption) error {
		_, _, _, err := b.api.UpdateMessageContext(ctx, where, ts, options...)
		return err
	}))
}

// Delete deletes a sent message. A message that is gone is no error.
func (b *Bot) Delete(ctx context.Context, at bot.Ref) error {
	where, ts, err := b.locate(ctx, at)
	if err != nil {
		return err
	}
	_, _, err = b.api.DeleteMessageContext(ctx, where, ts)
	if isRefusal(err, "message_not_found") {
		return nil
	}
	return b.sendError(err)
}

// locate returns the conversation and the timestamp of a message, or an error that a
// Sender's method can return.
func (b *Bot) locate(ctx context.Context, at bot.Ref) (where, ts string, err error) {
	id, err := parseAddress(at.Chat)
	if err != nil {
		return "", "", &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	ts = at.ID
	if other, rest, is := strings.Cut(at.ID, "/"); is && isDirect(other) {
		id, ts = other, rest
	}
	if !timestampForm.MatchString(ts) {
		// The message's arrival was not seen, or it was ephemeral.
		return "", "", &bot.SendError{Reason: bot.ErrMessageGone, Text: "not a time stamp of Slack"}
	}
	where, err = b.conversation(ctx, id)
	return where, ts, b.sendError(err)
}

// press is the id under which a press is acknowledged: the conversation, the
// person, the thread, and the trigger that opens a form for some seconds.
type press struct{ conversation, user, thread, trigger string }

// String returns the id that readPress parses.
func (p press) String() string {
	return strings.Join([]string{p.conversation, p.user, p.thread, p.trigger}, " ")
}

// readPress parses the id of a press. It returns false for any other text.
func readPress(id string) (press, bool) {
	f := strings.Split(id, " ")
	if len(f) != 4 || !idForm.MatchString(f[0]) || !isPerson(f[1]) {
		return press{}, false
	}
	return press{f[0], f[1], f[2], f[3]}, true
}

// Notice shows text only to the sender of a press. An empty text does nothing:
// Slack's buttons have no waiting state.
func (b *Bot) Notice(ctx context.Context, pressID, text string) error {
	p, known := readPress(pressID)
	if text = cutRunes(ownTextPlain(bot.CleanLine(text)), maxNotice); text == "" || !known {
		return nil
	}
	options := []slack.MsgOption{slack.MsgOptionText(escape.Replace(text), false), slack.MsgOptionDisableMarkdown()}
	if p.thread != "" {
		options = append(options, slack.MsgOptionTS(p.thread))
	}
	_, err := b.api.PostEphemeralContext(ctx, p.conversation, p.user, options...)
	return b.sendError(err)
}

// IsUserMessage reports whether an id belongs to a person's message or command,
// as opposed to the bot's own message.
func IsUserMessage(id string) bool { return strings.Contains(id, ":") }
