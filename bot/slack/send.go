package slack

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/slack-go/slack"

	"github.com/nightporter/nightporter/bot"
)

// What a message answers is told by one of
//
//	1700000000.000100                        one of ours: the time stamp of it
//	1700000000.000100:U1                     somebody's message, who wrote it
//	1700000001.000100:U1:1700000000.000100   the same, and the thread it stands in
//	cmd:U1:/porter pause                     no message: what U1 typed or filled in
//
// so that whatever hangs on it is found again, and quoted where nothing can be
// hung on it.
type replyTarget struct {
	ts, user, root string
	quote          string // of what left no message
}

var timestampForm = regexp.MustCompile(`^[0-9]{1,12}\.[0-9]{1,9}$`)

// messageID is the id of somebody's message.
func messageID(ts, user, root string) string {
	if root == "" || root == ts {
		return ts + ":" + user
	}
	return ts + ":" + user + ":" + root
}

// commandID is the id of what left no message. It holds as much of it as a
// quote shows, and never a pairing code: it is shown to all of a channel.
func commandID(user, text string) string {
	const most = 72
	typed, is := strings.CutPrefix(text, Command+" ")
	c, err := bot.Parse(commandLine(typed))
	if unknown, slip := asUnknown(err); is && (c.Verb == bot.VerbPair || c.Verb == bot.VerbStart || slip && unknown.Meant == "/pair") {
		text = Command + " pair …"
	}
	return "cmd:" + user + ":" + bot.Cut(bot.Clean(text), most)
}

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

// thread is the thread that an answer goes to, "" for none: in a conversation
// of two an answer stands below what it answers anyhow.
func (a replyTarget) thread(direct bool) string {
	switch {
	case a.root != "":
		return a.root
	case direct && a.user != "":
		return ""
	}
	return a.ts
}

// forbiddenKey is the key of what only its reader has to see (PHONE 3).
const forbiddenKey = "cmd.forbidden"

// Send shows a message and returns its time stamp. One that is too long for a
// conversation has its text as a file in the thread below it.
func (b *Bot) Send(ctx context.Context, chat string, m bot.Message, o bot.SendOptions) (string, error) {
	id, err := parseAddress(chat)
	if err != nil {
		return "", &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	a := parseMessageID(o.ReplyTo)
	rings := b.mentionIDs(chat, id, o)
	s := Render(m, rings, a.quote)
	where, err := b.conversation(ctx, id)
	if err != nil {
		return "", b.sendError(err)
	}
	file := ""
	if s.File != nil {
		// Nobody sees it before it is shared, so this may be repeated.
		file, err = b.upload(ctx, s.File)
		switch {
		case isPermanent(err), isRefusal(err, "missing_scope"):
			b.o.Log.Warn("a file is not shown", "key", m.Key, "error", b.o.redact(err.Error()))
			file = ""
			s.Text, s.Blocks = compose(captionWithoutFile(m, fmt.Sprintf("Slack takes no file here (%s): %s.", s.File.Name, b.o.redact(err.Error()))), rings, a.quote)
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
	show := b.post
	if m.Key == forbiddenKey && a.user != "" && !isDirect(where) {
		show = b.postEphemeral(a.user)
	}
	ts, err := show(ctx, where, thread, &d)
	if isRefusal(err, "channel_not_found", "not_in_channel") && a.quote != "" && isPerson(a.user) && !isDirect(where) {
		// A command may be typed where the bot is not: its answer goes to who typed it.
		if where, err = b.conversation(ctx, a.user); err == nil {
			ts, err = b.post(ctx, where, "", &d)
		}
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
	return ts, nil
}

// isRetryable reports whether nothing was sent and a later try may do better.
func isRetryable(err error) bool {
	return errors.Is(err, bot.ErrRateLimited) || errors.Is(err, bot.ErrOffline)
}

// mentionIDs are those whom a message names.
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

// conversation is where messages for an id go: a person's is looked up, and
// opened where there is none, because nothing can be changed under a person's
// id.
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

func (b *Bot) rememberDirect(user, conversation string) {
	if !isPerson(user) || !isDirect(conversation) {
		return
	}
	b.mu.Lock()
	b.directOf[user] = conversation
	b.mu.Unlock()
}

// draft is a message on its way, with what the platform accepts of it.
type draft struct {
	Shown
	picture string // id of the file that stands above the text, "" = none
}

// post sends a draft, and again where its thread is gone.
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

// sendDraft makes a call that shows a draft, and again without what the platform
// does not accept of it: its picture, its blocks. In each of these cases
// nothing was shown yet.
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
			b.o.Log.Warn("Slack refuses a picture in a message; it is sent without", "error", err)
			d.picture = ""
		case isRefusal(err, badBlocks...) && !bare:
			b.o.Log.Warn("Slack refuses the blocks of a message; it is sent without", "error", err)
			bare = true
		default:
			return err
		}
	}
}

// options are a message's, bare ones without blocks.
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

// textOnly is the message as text alone.
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

// elementText is one element as text.
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

// postEphemeral is post for one reader only. It cannot be changed later.
func (b *Bot) postEphemeral(user string) func(ctx context.Context, where, thread string, d *draft) (string, error) {
	return func(ctx context.Context, where, thread string, d *draft) (string, error) {
		options := d.options(false)
		if thread != "" {
			options = append(options, slack.MsgOptionTS(thread))
		}
		return b.api.PostEphemeralContext(ctx, where, user, options...)
	}
}

// Edit takes the place of a message that was sent. A text that is too long for
// one message is cut. Buttons that the new message lacks go.
func (b *Bot) Edit(ctx context.Context, at bot.Ref, m bot.Message) error {
	where, err := b.locate(ctx, at)
	if err != nil {
		return err
	}
	s := Render(m, nil, "")
	if s.File != nil && !strings.HasPrefix(m.Key, "status") {
		s.File = nil // it stands in the thread; the caption is what changes
	} else if s.File != nil {
		s = renderOne(m)
	}
	d := draft{Shown: s}
	if d.picture, err = b.uploadPicture(ctx, m.Key, s.Picture); err != nil {
		return err
	}
	return b.sendError(b.sendDraft(ctx, &d, func(options ...slack.MsgOption) error {
		_, _, _, err := b.api.UpdateMessageContext(ctx, where, at.ID, options...)
		return err
	}))
}

// Delete takes a message away. One that is gone already is no error.
func (b *Bot) Delete(ctx context.Context, at bot.Ref) error {
	where, err := b.locate(ctx, at)
	if err != nil {
		return err
	}
	_, _, err = b.api.DeleteMessageContext(ctx, where, at.ID)
	if isRefusal(err, "message_not_found") {
		return nil
	}
	return b.sendError(err)
}

// locate is the conversation of a message; the error is ready to be returned.
func (b *Bot) locate(ctx context.Context, at bot.Ref) (string, error) {
	id, err := parseAddress(at.Chat)
	if err != nil {
		return "", &bot.SendError{Reason: bot.ErrRejected, Text: err.Error()}
	}
	if !timestampForm.MatchString(at.ID) {
		// Of a message whose arrival was not seen, or that one reader saw only.
		return "", &bot.SendError{Reason: bot.ErrMessageGone, Text: "not a time stamp of Slack"}
	}
	where, err := b.conversation(ctx, id)
	return where, b.sendError(err)
}

// press is what a press is acknowledged by: where, who, in which thread, and
// what opens a form for some seconds.
type press struct{ conversation, user, thread, trigger string }

func (p press) String() string {
	return strings.Join([]string{p.conversation, p.user, p.thread, p.trigger}, " ")
}

func readPress(id string) (press, bool) {
	f := strings.Split(id, " ")
	if len(f) != 4 || !idForm.MatchString(f[0]) || !isPerson(f[1]) {
		return press{}, false
	}
	return press{f[0], f[1], f[2], f[3]}, true
}

// Notice tells who pressed something a few words that nobody else sees.
// Without words there is nothing to tell: the platform waits for no answer.
func (b *Bot) Notice(ctx context.Context, pressID, text string) error {
	p, known := readPress(pressID)
	if text = cutRunes(ownTextPlain(bot.Clean(text)), maxNotice); text == "" || !known {
		return nil
	}
	options := []slack.MsgOption{slack.MsgOptionText(escape.Replace(text), false), slack.MsgOptionDisableMarkdown()}
	if p.thread != "" {
		options = append(options, slack.MsgOptionTS(p.thread))
	}
	_, err := b.api.PostEphemeralContext(ctx, p.conversation, p.user, options...)
	return b.sendError(err)
}

// IsUserMessage reports whether an id is that of somebody's message, or of what
// left none, and not one of ours.
func IsUserMessage(id string) bool { return strings.Contains(id, ":") }
