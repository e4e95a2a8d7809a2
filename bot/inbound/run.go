package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Times after which something that was sent is late.
const (
	askAfter = time.Hour        // a command that starts, stops or resumes something asks first (SPEC 6.7)
	saySent  = 10 * time.Minute // a receipt says when its words were written
)

// run carries out a line, and commits its reply and the cursor.
func (v *request) run(ctx context.Context, line string) error {
	if c, err := bot.Parse(line); err == nil && !v.who.Role.May(bot.RequiredRoleHere(v.o.Service, v.project, c)) {
		return v.forbidden(ctx, c)
	}
	d := &counter{Service: v.o.Service, request: v}
	chat := ""
	if !v.in.Private {
		chat = v.in.Chat
	}
	m, err := bot.Handle(ctx, d, bot.Request{
		Key: v.in.Key, Actor: v.in.Actor, Name: v.input("", nil).Name, Project: v.project, Chat: chat, Text: line, Time: v.now,
	})
	switch {
	case d.err != nil:
		return d.err
	case err != nil: // a look that failed: said, and the next one is read
		v.o.Log.Error("command", "key", v.in.Key, "error", err)
	}
	switch {
	case d.done:
	case d.out:
		return v.say(ctx)
	default:
		if err := v.say(ctx, v.look(m)); err != nil {
			return err
		}
	}
	v.acknowledge(ctx, d)
	return nil
}

// look is the reply to what only looked, or to several inputs together.
func (v *request) look(m bot.Message) ledger.Outgoing {
	class := ledger.ClassChatter
	if m.Cause != "" || m.Refused {
		class = ledger.ClassReply // that something was done, or was not, has to be known
	}
	o := v.outgoing(m, class)
	if carries(m) {
		o.Key = onceKey + v.in.Key
	}
	if strings.HasPrefix(m.Key, "status.") {
		o.Class, o.Key, o.ReplyTo = ledger.ClassChatter, bot.LiveKey(m.Project), ""
	}
	return o
}

// carries reports whether a message's buttons repeat the words that it answers:
// pressed twice, they would be done twice.
func carries(m bot.Message) bool {
	switch m.Key {
	case "cmd.whichproject", "cmd.unknown", "guidance.nohat", "guidance.toolate":
		return len(m.Buttons) > 0
	}
	return false
}

// acknowledge ends a press's waiting. What the message itself will show needs
// no words; a refusal does.
func (v *request) acknowledge(ctx context.Context, d *counter) {
	if v.in.Press == "" || d.out {
		return
	}
	v.notice(ctx, d.toast)
}

// forbidden is a command that the visitor's role does not include.
func (v *request) forbidden(ctx context.Context, c bot.Command) error {
	m := bot.Forbidden(v.o.Service.Shared(), v.who)
	in := v.input("", loop.RefuseCommand{Command: string(c.Verb), For: v.project})
	_, err := v.o.Service.DoWith(ctx, in, func(loop.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
		if v.in.Press != "" {
			return nil, v.in.Cursor
		}
		return []ledger.Outgoing{v.answer(m)}, v.in.Cursor
	})
	if err == nil && v.in.Press != "" {
		v.notice(ctx, m.First())
	}
	return err
}

// counter is the Service as one request has it: an input takes the request's reply
// and cursor along.
type counter struct {
	Service
	request *request
	done    bool   // reply and cursor are committed
	out     bool   // the visitor was taken out while this was on its way
	toast   string // for a press
	err     error  // that an input failed with: nothing is committed
}

// Do decides an input of the request. Of several, each has a key of its own,
// and the reply comes at the end.
func (c *counter) Do(ctx context.Context, in loop.Input) (loop.Answer, error) {
	v := c.request
	in.Body, in.Role = v.late(in), v.who.Role
	if in.Key != v.in.Key {
		a, err := c.Service.Do(ctx, in)
		c.out = c.out || a.Code == ledger.CodeTakenOut
		return a, c.note(err)
	}
	before, _ := v.o.Service.State(in.Project)
	a, err := c.Service.DoWith(ctx, in, func(a loop.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
		msgs := v.replies(before, in, a)
		if strings.HasPrefix(v.key, onceKey) && v.in.Press != "" && a.OK {
			msgs = append(msgs, v.unbuttoned()...)
		}
		return msgs, v.in.Cursor
	})
	if err != nil {
		return a, c.note(err)
	}
	c.done, c.out = true, a.Code == ledger.CodeTakenOut
	c.toast = v.toastFor(in, a)
	return a, nil
}

// Records, Runs, Diff, Hats, Offer and Digest look at disks and run programs, and
// whoever writes next waits for them: a /stop must not wait for a /diff (SPEC 6.3).

// Records is bot.Service's, within the time that a look may take.
func (c *counter) Records(ctx context.Context, project, task string) ([]ledger.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Records(ctx, project, task)
}

// Runs is bot.Service's, within the time that a look may take.
func (c *counter) Runs(ctx context.Context, project string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Runs(ctx, project)
}

// RunRecords is bot.Service's, within the time that a look may take.
func (c *counter) RunRecords(ctx context.Context, project, run string, types ...string) ([]ledger.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.RunRecords(ctx, project, run, types...)
}

// Diff is bot.Service's, within the time that a look may take.
func (c *counter) Diff(ctx context.Context, project, target string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Diff(ctx, project, target)
}

// Hats is bot.Service's, within the time that a look may take.
func (c *counter) Hats(ctx context.Context, project, pattern string) (bot.HatSet, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Hats(ctx, project, pattern)
}

// Offer is bot.DaemonService's, within the time that a look may take.
func (c *counter) Offer(ctx context.Context, project string, f bot.RunFlags) (loop.OfferRun, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Offer(ctx, project, f)
}

// Digest is bot.Digester's, within the time that a look may take.
func (c *counter) Digest(ctx context.Context, project string, q bot.DigestQuery) (bot.Message, error) {
	d, ok := c.Service.(bot.Digester)
	if !ok {
		return bot.NoDigest(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return d.Digest(ctx, project, q)
}

// Place is bot.Placer's.
func (c *counter) Place(project string, r bot.Request) string {
	p, ok := c.Service.(bot.Placer)
	if !ok {
		return ""
	}
	return p.Place(project, r)
}

// note keeps an error that the input has to be delivered again for. What a
// person has to mend is no such one: it will not go away.
func (c *counter) note(err error) error {
	var input *ledger.InputError
	if err != nil && !errors.As(err, &input) {
		c.err = fmt.Errorf("decide: %w", err)
	}
	return err
}

// late turns a command that starts, stops or resumes something into a question
// about it where it was sent long ago. A press is never old: the platform
// forgets it.
func (v *request) late(in loop.Input) loop.InputBody {
	if v.in.Press != "" || v.in.Sent.IsZero() || v.now.Sub(v.in.Sent) < askAfter {
		return in.Body
	}
	var deed ledger.DeferredCommand
	switch b := in.Body.(type) {
	case loop.Pause:
		if deed = ledger.DeferPause; b.Now {
			deed = ledger.DeferPauseNow
		}
	case loop.Stop:
		if deed = ledger.DeferStop; b.Now {
			deed = ledger.DeferStopNow
		}
	case loop.Resume:
		deed = ledger.DeferResume
	case loop.Now:
		if deed = ledger.DeferNow; strings.TrimSpace(b.Text) != "" {
			return in.Body // asks first by itself
		}
	default:
		return in.Body
	}
	if s, ok := v.o.Service.State(in.Project); !ok || s.Project.Run.Over() {
		return in.Body // it can only be refused: nothing runs
	}
	return loop.Late{Line: "/" + string(deed), Do: deed, Sent: v.in.Sent.In(v.o.Zone)}
}

// replies is what the visitor is told of an answer, where nothing else tells
// them. before is the state that the answer was decided on, or a little older.
func (v *request) replies(before loop.State, in loop.Input, a loop.Answer) []ledger.Outgoing {
	if a.Code == ledger.CodeTakenOut {
		return nil
	}
	m := bot.FromAnswer(in.Body.InputKind(), a, "")
	m.Project = in.Project
	switch b := in.Body.(type) {
	case loop.Guide:
		if a.OK {
			address, words := guidance.Parse(b.Text)
			return v.receipt(before, a, guidance.Item{Text: words, Hat: address.Hat, Task: taskID(before, address.Task), Sticky: address.Sticky})
		}
	case loop.EditGuidance:
		if a.OK {
			return nil // its receipt changes
		}
		if i, ok := before.Project.Guidance.Get(b.ID); ok && a.Code == ledger.CodeInUse {
			m = bot.TooLate(before, i, b.Text, v.now)
		}
	case loop.DropGuidance, loop.KeepGuidance:
		if a.OK && v.onReceipt() {
			return nil
		}
		if d, is := b.(loop.DropGuidance); is && a.Code == ledger.CodeInUse {
			if i, ok := before.Project.Guidance.Get(d.ID); ok {
				m = bot.TooLate(before, i, "", v.now)
			}
		}
	case loop.AnswerQuestion:
		if v.in.Press != "" {
			return v.pressedAnswer(a)
		}
		if s, ok := v.conflict(in, a); ok {
			m = bot.Conflict(s, v.in.Actor, b.Choice, b.Words, v.now)
			m.Project = in.Project
		}
		if a.OK && itemKey.MatchString(a.ID) && strings.TrimSpace(b.Words) != "" {
			q, _ := before.Project.Question(b.Question)
			return v.receipt(before, a, guidance.Item{Text: b.Words, Task: ledger.FoldID(q.Task)})
		}
	}
	if a.Code == ledger.CodeAsked {
		if v.in.Private {
			return nil // the question itself comes to this chat
		}
		m = asked(a.ID, in.Project)
	}
	o := v.answer(m)
	if carries(m) {
		o.Key = onceKey + v.in.Key
	}
	return []ledger.Outgoing{o}
}

// receipt is the one message of a guidance, which is edited from now on.
func (v *request) receipt(s loop.State, a loop.Answer, i guidance.Item) []ledger.Outgoing {
	i.ID, i.State = a.ID, guidance.Queued
	forecast := a.Forecast
	if a.Code != ledger.CodeQueued { // the answer to a question that queues words
		forecast = loop.Forecast(s, i)
	}
	sent := v.in.Sent
	if v.in.Press != "" || sent.IsZero() || v.now.Sub(sent) < saySent {
		sent = time.Time{}
	}
	o := v.answer(bot.Queued(s, i, forecast, v.now, sent))
	o.Key = i.ID
	return []ledger.Outgoing{o}
}

// taskID is the folded id of the task that was typed.
func taskID(s loop.State, typed string) string {
	if t, ok := bot.FindTask(s, typed); ok {
		return ledger.FoldID(t.Task.ID)
	}
	return ledger.FoldID(typed)
}

// onReceipt reports whether the button of a guidance's own receipt was pressed.
func (v *request) onReceipt() bool { return v.in.Press != "" && itemKey.MatchString(v.key) }
