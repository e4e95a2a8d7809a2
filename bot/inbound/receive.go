package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// Receive handles one input and returns after everything is committed. An error
// means that nothing was committed, or, if ctx ended, that it may have been. In
// both cases the same input may be delivered again and has the same result.
func (r *Receiver) Receive(ctx context.Context, in bot.Inbound) error {
	if in.Chat == "" { // the platform does not name the chat of the pressed message: use the sender's private chat
		in.Chat, in.Private = in.Actor, true
	}
	v := &request{Receiver: r, in: in, now: r.o.Clock()}
	if in.Repeated {
		v.in.Key += " again"
		return v.commit(ctx)
	}
	err := v.receive(ctx)
	if err == nil {
		r.forgetFailures(in.Key)
		return nil
	}
	if ctx.Err() != nil || fault.Of(err) != "" || errors.Is(err, errNotLoaded) || r.countFailure(in.Key) < maxFailures {
		return fmt.Errorf("receive %s: %w", in.Key, err)
	}
	r.o.Log.Error("an input is put away: it cannot be decided", "key", in.Key, "error", err)
	if told := v.reportFailure(ctx); told != nil {
		return fmt.Errorf("receive %s: %w", in.Key, errors.Join(err, told))
	}
	r.forgetFailures(in.Key)
	return nil
}

func (v *request) receive(ctx context.Context) error {
	who, paired := v.o.Service.Shared().Person(v.in.Actor)
	v.who = who
	v.project = v.o.ProjectOf(v.in.Chat)
	if code, is := v.pairingCode(); is {
		return v.pair(ctx, code, paired)
	}
	switch {
	case v.in.Reaction && (v.in.Unpairable != "" || !paired):
		return v.commit(ctx) // a stranger's thumb in a group knocks at no door
	case v.in.Unpairable != "":
		return v.stranger(ctx, v.in.Unpairable)
	case !paired:
		return v.stranger(ctx, "not paired")
	case v.in.Press != "":
		return v.press(ctx)
	case v.in.Edited:
		switch again, err := v.corrects(ctx); {
		case err != nil:
			return err
		case !again:
			return v.edited(ctx)
		}
		v.in.Edited = false
	case v.in.Reaction:
		return v.reaction(ctx)
	}
	defer v.discard()
	line, forUs, err := v.commandLine(ctx)
	if err != nil {
		return err
	}
	if to, project, found := v.restOfAlbum(); found {
		return v.attachMore(ctx, project, to)
	}
	if forUs && (v.wordless() && v.pictures() || v.hears(line)) && !v.albumAnswered() && v.who.Role.May(ledger.RoleSteer) {
		if err := v.load(ctx); err != nil {
			return err
		}
		if v.hears(line) && len(v.files) == 0 { // the caption counts without it
			line = strings.TrimSpace(strings.TrimSuffix(line, wordsToHear))
		}
	}
	switch {
	case !forUs:
		return v.commit(ctx)
	case v.unclear != nil:
		return v.commit(ctx, v.readReply(*v.unclear, v.in.Text))
	case v.in.Media && (line == "" || v.wordless() && (v.albumAnswered() || v.tried && len(v.files) == 0)):
		return v.withoutText(ctx)
	case line == "":
		return v.commit(ctx) // a service message of the platform
	}
	if err := v.run(ctx, line); err != nil {
		return err
	}
	v.answeredAlbum()
	return nil
}

// reaction handles a symbol that was put on a message, as the same symbol in a reply.
// It is answered only where it says yes or no to an open question (docs/spec 6.8):
// people put hearts on everything.
func (v *request) reaction(ctx context.Context) error {
	key, found, err := v.repliedTo(ctx)
	if err != nil {
		return err
	}
	s, _ := v.o.Service.State(v.project)
	id := bot.QuestionOf(key)
	if _, open := s.Project.Question(id); !found || !open || !bot.Agrees(v.in.Text) {
		return v.commit(ctx)
	}
	v.replyTo = id
	return v.run(ctx, v.in.Text)
}

// withoutText handles an input without text, such as a picture or a voice note.
// Of several sent together, only the first gets a reply.
func (v *request) withoutText(ctx context.Context) error {
	if v.albumAnswered() {
		return v.commit(ctx)
	}
	v.told = true
	if err := v.commit(ctx, v.answer(v.mediaMessage())); err != nil {
		return err
	}
	v.answeredAlbum()
	return nil
}

// albumAnswered reports whether another item of the same album was answered
// just before. That is not stored, so a restart leads to one more reply.
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

// stranger handles an input of a person who is not paired: it sends no reply
// and records an entry. What nobody records needs no transaction, or a crowd of
// strangers would keep the messages of paired people waiting.
func (v *request) stranger(ctx context.Context, why string) error {
	in := v.input("", people.MeetStranger{Chat: v.in.Chat, Why: why})
	if v.in.More && v.o.Service.Shared().IgnoresStranger(in.Actor, v.now) {
		return nil
	}
	_, err := v.o.Service.DoWith(ctx, in, v.silent)
	return err
}

// pairingCode returns the pairing code in the input, "" if there is none: a
// person's text in a private chat that contains only the code.
func (v *request) pairingCode() (string, bool) {
	if !v.in.Private || v.in.Unpairable != "" || v.in.Press != "" || v.in.Edited || v.in.Media || v.in.Actor == "" {
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

// pair tries a pairing code. A wrong code gets no reply: it leads to an entry
// in the ledger and a notice on the host. A person who is already paired gets a
// reply.
func (v *request) pair(ctx context.Context, code string, paired bool) error {
	in := v.input("", people.TryPairing{Hash: v.o.Hash(code)})
	_, err := v.o.Service.DoWith(ctx, in, func(a ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
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

// reportFailure tells the sender that the input was put aside.
func (v *request) reportFailure(ctx context.Context) error {
	if err := v.commit(ctx, v.answer(rejected(v.in.Text))); err != nil {
		return err
	}
	if v.in.Press != "" {
		v.notice(ctx, "Not done: a fault in nightporter.")
	}
	return nil
}
