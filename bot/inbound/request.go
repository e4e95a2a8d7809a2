package inbound

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// request is one input while it is handled. It does not change after it is
// passed to the engine.
type request struct {
	*Receiver
	in      bot.Inbound
	now     time.Time
	who     ledger.Person
	project string             // project of the chat, or of the message replied to or pressed
	pressed bot.Message        // the message whose button was pressed
	key     string             // key of that message
	line    string             // the command that is carried out
	replyTo string             // question or guidance that plain words reply to
	replied ledger.SentMessage // the message that this one replies to, if it is nightporter's
	plain   bool               // the text is plain words, which may be no guidance
	takes   bool               // the text takes plain words back
	current bool               // the pressed message is the last one under its key, so an edit of the key changes it

	files []ledger.Attachment // loaded, and neither settled nor discarded
	tried bool                // loading was tried
	taken int                 // how many files the ledger has
	why   []string            // sentences about files that are not kept
	told  bool                // the reply says by itself what became of the files

	unclear   *bot.Message // asks what a reply means; nil = it is clear
	receiptID string       // platform's id of the receipt of the edited guidance
}

// commit commits messages and the cursor under the input's key. Without
// messages it only records that the input was read.
func (v *request) commit(ctx context.Context, msgs ...ledger.Outgoing) error {
	if err := v.o.Service.Say(ctx, v.in.Key, v.now, msgs, v.in.Cursor); err != nil {
		return fmt.Errorf("say: %w", err)
	}
	return nil
}

// input returns the core's input for body in the sender's name, without a key.
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

// outgoing addresses m to the chat the update came from. It makes no sound, and goes
// ahead of what is queued there: the sender is looking at that chat. It replies to a
// message; a button press has none to reply to.
func (v *request) outgoing(m bot.Message, class ledger.MessageClass) ledger.Outgoing {
	if v.who.Role != "" && v.in.Private {
		m = m.For(v.who.Role)
	}
	m = v.withMedia(m)
	body, err := json.Marshal(m)
	if err != nil { // cannot happen: a struct of strings always encodes
		v.o.Log.Error("encode message", "key", m.Key, "error", err)
	}
	o := ledger.Outgoing{Chat: v.in.Chat, Key: v.keyOfReply(m), Class: class, Silent: true, Ahead: true, Body: body}
	switch {
	case v.in.Edited: // the receipt already replies to the edited message, and is found by that
		o.ReplyTo = v.receiptID
	case v.in.Press == "":
		o.ReplyTo = v.in.Message
	}
	return o
}

// answer is the reply to a command that changed something, or failed to.
func (v *request) answer(m bot.Message) ledger.Outgoing { return v.outgoing(m, ledger.ClassReply) }

// notice acknowledges a press after everything is committed. It ignores an
// error: the platform stops waiting by itself.
func (v *request) notice(ctx context.Context, text string) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := v.o.Notice(ctx, v.in.PressID, bot.Cut(bot.CleanLine(text), maxNotice)); err != nil {
		v.o.Log.Debug("press not acknowledged", "key", v.in.Key, "error", err)
	}
}

// maxNotice is the longest acknowledgement, in columns.
const maxNotice = 190

func (v *request) silent(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) { return nil, v.in.Cursor }
