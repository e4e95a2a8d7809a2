package inbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Service is what a Receiver needs of the engine.
type Service interface {
	bot.DaemonService
	// DoWith decides an input and commits messages and the cursor in the same
	// transaction. with is called with the answer before the commit, from the
	// engine's goroutine; it is not called, or in vain, where the input's key was
	// committed before: then the stored answer comes back, and an empty one where
	// the key was Say's.
	DoWith(ctx context.Context, in loop.Input, with func(loop.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (loop.Answer, error)
	// Say commits messages and the cursor under a key, without a decision.
	// Under a key that was committed before it does nothing.
	Say(ctx context.Context, key string, at time.Time, msgs []ledger.Outgoing, cursor *ledger.Cursor) error
}

// Outbox is what was sent, by what people can point at.
type Outbox interface {
	// SentAt returns the message that a chat shows under the platform's id.
	SentAt(ctx context.Context, chat, platformID string) (ledger.SentMessage, bool, error)
	// SentFor returns the message that a key stands on in a chat.
	SentFor(ctx context.Context, chat, key string) (ledger.SentMessage, bool, error)
	// AnswerTo returns the message that was sent, or is queued, as an answer to
	// a person's message.
	AnswerTo(ctx context.Context, chat, replyTo string) (ledger.SentMessage, bool, error)
}

// Options are what a Reception works with.
type Options struct {
	Service Service
	Outbox  Outbox
	// Hash stands for a pairing code as it was typed, in upper case.
	Hash func(code string) string
	// Notice acknowledges a press, as bot.Sender does. nil: nothing does.
	Notice func(ctx context.Context, pressID, text string) error
	// Ask opens a form for the words that command needs, on a platform that has
	// one; ask is the message that would ask for them. It reports false where it
	// could not, and nil never can: then the message is sent, and its reply is
	// awaited.
	Ask func(ctx context.Context, in bot.Inbound, command string, ask bot.Message) bool
	// Name is the name by which a group calls us, without "@"; "" or nil: not
	// known, and commands for any name are ours.
	Name func() string
	// ProjectOf returns the project of a chat or topic, "" for a chat that all
	// share. nil: all chats are shared.
	ProjectOf func(chat string) string
	Patience  time.Duration    // that a look has: a diff, a log, a source; 0: 5 s
	Zone      *time.Location   // of the people; nil: UTC
	Clock     func() time.Time // nil: time.Now
	Log       *slog.Logger
}

// Receiver is the bot.Receiver of all chats.
type Receiver struct {
	o Options

	mu     sync.Mutex // guards what failed, and album
	album  string     // chat and id of the one that was answered last
	failed string     // key of the last input that could not be decided
	inARow int        // how often in a row
}

// New returns a Receiver.
func New(o Options) *Receiver {
	if o.Notice == nil {
		o.Notice = func(context.Context, string, string) error { return nil }
	}
	if o.Ask == nil {
		o.Ask = func(context.Context, bot.Inbound, string, bot.Message) bool { return false }
	}
	if o.Name == nil {
		o.Name = func() string { return "" }
	}
	if o.ProjectOf == nil {
		o.ProjectOf = func(string) string { return "" }
	}
	if o.Patience <= 0 {
		o.Patience = 5 * time.Second
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Receiver{o: o}
}

// giveUp is how often in a row an input may fail before its sender is told
// and the next one is read. One that can never be decided must not keep a
// chat from being read; one that fails because nothing can be written cannot
// be put away either, so it waits all the same.
const giveUp = 3

// Receive handles what somebody did. It returns after everything that it led
// to was committed; an error means that nothing was, or, where ctx ended in
// between, that it may have been: the same input is answered the same again.
func (r *Receiver) Receive(ctx context.Context, in bot.Inbound) error {
	if in.Chat == "" { // a press whose message the platform does not hand out: its sender's own chat
		in.Chat, in.Private = in.Actor, true
	}
	v := &request{Receiver: r, in: in, now: r.o.Clock().In(r.o.Zone)}
	err := v.receive(ctx)
	if err == nil {
		r.noted("")
		return nil
	}
	if ctx.Err() != nil || r.noted(in.Key) < giveUp {
		return fmt.Errorf("receive %s: %w", in.Key, err)
	}
	r.o.Log.Error("an input is put away: it cannot be decided", "key", in.Key, "error", err)
	if told := v.fault(ctx); told != nil {
		return fmt.Errorf("receive %s: %w", in.Key, errors.Join(err, told))
	}
	r.noted("")
	return nil
}

// noted counts how often in a row the input with a key has failed; "" forgets.
func (r *Receiver) noted(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key == "" || key != r.failed {
		r.failed, r.inARow = key, 0
	}
	r.inARow++
	return r.inARow
}

// times is how often in a row the input with a key has failed.
func (r *Receiver) times(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key != r.failed {
		return 0
	}
	return r.inARow
}

// request is one thing that somebody did, on its way. Nothing of it changes once
// it is handed to the engine.
type request struct {
	*Receiver
	in      bot.Inbound
	now     time.Time
	who     ledger.Person
	project string      // that the chat, or the message replied to or pressed, is about
	pressed bot.Message // the message whose button was pressed
	key     string      // that message's key
	stands  bool        // that message is the one that an edit of its key changes

	receiptID string // platform's id of the receipt whose message was edited
}

func (v *request) receive(ctx context.Context) error {
	who, paired := v.o.Service.Shared().Person(v.in.Actor)
	v.who = who
	v.project = v.o.ProjectOf(v.in.Chat)
	if code, is := v.code(); is {
		return v.pair(ctx, code, paired)
	}
	switch {
	case v.in.Stands != "":
		return v.stranger(ctx, v.in.Stands)
	case !paired:
		return v.stranger(ctx, "not paired")
	case v.in.Press != "":
		return v.press(ctx)
	case v.in.Edited:
		return v.edited(ctx)
	}
	line, forUs, err := v.line(ctx)
	switch {
	case err != nil:
		return err
	case !forUs:
		return v.say(ctx)
	case line == "" && v.in.Media:
		return v.wordless(ctx)
	case line == "":
		return v.say(ctx) // a platform's own message, not a person's
	}
	if err := v.run(ctx, line); err != nil {
		return err
	}
	v.answeredAlbum()
	return nil
}

// wordless is a picture, a voice note or whatever else without words. Of
// several that were sent as one only the first is answered.
func (v *request) wordless(ctx context.Context) error {
	if v.albumAnswered() {
		return v.say(ctx)
	}
	if err := v.say(ctx, v.answer(media(v.in.Kind))); err != nil {
		return err
	}
	v.answeredAlbum()
	return nil
}

// albumAnswered reports whether what the visitor sent is of an album of which
// another part was answered just before. A restart forgets that: then there is
// one answer more.
func (v *request) albumAnswered() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.in.Album != "" && v.album == v.in.Chat+" "+v.in.Album
}

func (v *request) answeredAlbum() {
	if v.in.Album == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.album = v.in.Chat + " " + v.in.Album
}

// say commits messages and the cursor under the input's key. Without messages
// it only says that the input was read.
func (v *request) say(ctx context.Context, msgs ...ledger.Outgoing) error {
	if err := v.o.Service.Say(ctx, v.in.Key, v.now, msgs, v.in.Cursor); err != nil {
		return fmt.Errorf("say: %w", err)
	}
	return nil
}

// input is what the visitor asks of the core, without its key.
func (v *request) input(project string, body loop.InputBody) loop.Input {
	actor, name := v.in.Actor, v.who.Name
	if actor == "" {
		actor = v.in.Chat
	}
	if name == "" {
		name = v.in.Name
	}
	return loop.Input{Key: v.in.Key, Time: v.now, Actor: actor, Name: name, Project: project, Body: body}
}

// stranger is somebody who is not let in: silence, and the audit.
func (v *request) stranger(ctx context.Context, why string) error {
	_, err := v.o.Service.DoWith(ctx, v.input("", loop.MeetStranger{Chat: v.in.Chat, Why: why}), v.silent)
	return err
}

func (v *request) silent(loop.Answer) ([]ledger.Outgoing, *ledger.Cursor) { return nil, v.in.Cursor }

// code is the pairing code that the visitor sent: by a person, in a private
// chat, in a message of its own.
func (v *request) code() (string, bool) {
	if !v.in.Private || v.in.Stands != "" || v.in.Press != "" || v.in.Edited || v.in.Media || v.in.Actor == "" {
		return "", false
	}
	c, err := bot.Parse(v.in.Text)
	if err != nil || (c.Verb != bot.VerbPair && c.Verb != bot.VerbStart) || c.Target == "" {
		return "", false
	}
	const longest = 64
	code := strings.ToUpper(strings.TrimSpace(c.Target))
	return code[:min(len(code), longest)], true
}

// pair tries a code. A wrong one gets no answer; the host and the audit have
// it. Who is in already may know that it was none.
func (v *request) pair(ctx context.Context, code string, paired bool) error {
	in := v.input("", loop.TryPairing{Hash: v.o.Hash(code)})
	_, err := v.o.Service.DoWith(ctx, in, func(a loop.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
		switch {
		case a.OK:
			p := ledger.Person{ID: in.Actor, Name: in.Name, Role: ledger.Role(a.ID)}
			return []ledger.Outgoing{v.answer(bot.Welcome(v.o.Service, p))}, v.in.Cursor
		case paired:
			return []ledger.Outgoing{v.answer(bot.Paired(v.who))}, v.in.Cursor
		}
		return nil, v.in.Cursor
	})
	return err
}

// outgoing is a message for where the visitor is, silent because they are
// there. A message of theirs is answered; a press has none.
func (v *request) outgoing(m bot.Message, class ledger.MessageClass) ledger.Outgoing {
	if v.who.Role != "" && v.in.Private {
		m = m.For(v.who.Role)
	}
	if v.in.Media && v.in.Text != "" {
		m = withoutMedia(m, v.in.Kind)
	}
	body, err := json.Marshal(m)
	if err != nil { // a struct of strings always encodes
		v.o.Log.Error("encode message", "key", m.Key, "error", err)
	}
	o := ledger.Outgoing{Chat: v.in.Chat, Class: class, Silent: true, Body: body}
	switch {
	case v.in.Edited: // the edited message has its answer: the receipt, which is looked up by it
		o.ReplyTo = v.receiptID
	case v.in.Press == "":
		o.ReplyTo = v.in.Message
	}
	return o
}

// answer is the reply to a command that changed something, or could not.
func (v *request) answer(m bot.Message) ledger.Outgoing { return v.outgoing(m, ledger.ClassReply) }

// notice acknowledges a press after everything is committed. It may fail: the
// platform gives up waiting by itself.
func (v *request) notice(ctx context.Context, text string) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := v.o.Notice(ctx, v.in.PressID, bot.Cut(bot.Clean(text), mostNotice)); err != nil {
		v.o.Log.Debug("press not acknowledged", "key", v.in.Key, "error", err)
	}
}

// mostNotice is how long an acknowledgement may be, in columns.
const mostNotice = 190

// fault tells the visitor that what they sent was put away.
func (v *request) fault(ctx context.Context) error {
	if err := v.say(ctx, v.answer(fault(v.in.Text))); err != nil {
		return err
	}
	if v.in.Press != "" {
		v.notice(ctx, "Not done: a fault in nightporter.")
	}
	return nil
}
