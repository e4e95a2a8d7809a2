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
	"github.com/nightporter/nightporter/loop/people"
)

// Ages from which on an input counts as late.
const (
	askAfter = time.Hour        // a command that starts, stops or resumes something is confirmed first (docs/spec 6.7)
	saySent  = 10 * time.Minute // a receipt names the time of the message
)

// run carries out a command, and commits its reply and the cursor.
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
	case err != nil: // a read that failed: its sender is told, and the next input is read
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

// look is the reply to a command that only reads, or to several inputs together.
func (v *request) look(m bot.Message) ledger.Outgoing {
	class := ledger.ClassChatter
	if m.Cause != "" || m.Refused {
		class = ledger.ClassReply // the sender must learn whether something was done
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

// carries reports whether a message's buttons repeat the text that it replies
// to. Pressed twice, they would send it twice.
func carries(m bot.Message) bool {
	switch m.Key {
	case "cmd.whichproject", "cmd.unknown", "guidance.nohat", "guidance.toolate":
		return len(m.Buttons) > 0
	}
	return false
}

// acknowledge acknowledges a press. A result that the message will show needs no
// text; a refusal does.
func (v *request) acknowledge(ctx context.Context, d *counter) {
	if v.in.Press == "" || d.out {
		return
	}
	v.notice(ctx, d.toast)
}

// forbidden replies to a command that the sender's role does not permit.
func (v *request) forbidden(ctx context.Context, c bot.Command) error {
	m := bot.Forbidden(v.o.Service.Shared(), v.who)
	in := v.input("", people.RefuseCommand{Command: string(c.Verb), For: v.project})
	_, err := v.o.Service.DoWith(ctx, in, func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
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

// counter is the bot.Service for one request. Its input carries the request's
// reply and cursor.
type counter struct {
	Service
	request *request
	done    bool   // reply and cursor are committed
	out     bool   // the sender was removed while the request was handled
	toast   string // acknowledgement of a press
	err     error  // error of an input; nothing was committed
}

// Do decides an input of the request. Each of several inputs has a key of its
// own, and the reply comes at the end.
func (c *counter) Do(ctx context.Context, in loop.Input) (ledger.Answer, error) {
	v := c.request
	in.Body, in.Role = v.late(in), v.who.Role
	if in.Key != v.in.Key {
		a, err := c.Service.Do(ctx, in)
		c.out = c.out || a.Code == ledger.CodeTakenOut
		return a, c.note(err)
	}
	before, _ := v.o.Service.State(in.Project)
	a, err := c.Service.DoWith(ctx, in, func(a ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
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

// Records, Runs, Diff, Hats, Offer and Digest read disks and run programs, and
// the chat's next input waits for them. A time limit keeps a /diff from delaying
// a /stop (docs/spec 6.3).

// Records is bot.Service's, within Options.Patience.
func (c *counter) Records(ctx context.Context, project, task string) ([]ledger.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Records(ctx, project, task)
}

// Runs is bot.Service's, within Options.Patience.
func (c *counter) Runs(ctx context.Context, project string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Runs(ctx, project)
}

// RunRecords is bot.Service's, within Options.Patience.
func (c *counter) RunRecords(ctx context.Context, project, run string, types ...string) ([]ledger.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.RunRecords(ctx, project, run, types...)
}

// Diff is bot.Service's, within Options.Patience.
func (c *counter) Diff(ctx context.Context, project, target string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Diff(ctx, project, target)
}

// Hats is bot.Service's, within Options.Patience.
func (c *counter) Hats(ctx context.Context, project, pattern string) (bot.HatSet, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Hats(ctx, project, pattern)
}

// Offer is bot.DaemonService's, within Options.Patience.
func (c *counter) Offer(ctx context.Context, project string, f bot.RunFlags) (loop.OfferRun, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Offer(ctx, project, f)
}

// Digest is bot.Digester's, within Options.Patience.
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

// note keeps an error after which the platform must deliver the input again. An
// error that a person has to correct is not kept: repeating the input would not
// help.
func (c *counter) note(err error) error {
	var input *ledger.InputError
	if err != nil && !errors.As(err, &input) {
		c.err = fmt.Errorf("decide: %w", err)
	}
	return err
}

// late turns an old command that starts, stops or resumes something into a
// question about it. A press is never old: platforms drop old presses.
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
			return in.Body // it is confirmed anyway
		}
	default:
		return in.Body
	}
	if s, ok := v.o.Service.State(in.Project); !ok || s.Project.Run.Over() {
		return in.Body // nothing runs, so the core refuses it
	}
	return loop.Late{Line: "/" + string(deed), Do: deed, Sent: v.in.Sent.In(v.o.Zone)}
}

// replies returns the messages about an answer, unless something else tells
// them. before is the state that the answer was decided on, or slightly older.
func (v *request) replies(before loop.State, in loop.Input, a ledger.Answer) []ledger.Outgoing {
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
			return nil // the receipt shows it
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
			return nil // the question comes to this chat
		}
		m = questionElsewhere(a.ID, in.Project)
	}
	o := v.answer(m)
	if carries(m) {
		o.Key = onceKey + v.in.Key
	}
	return []ledger.Outgoing{o}
}

// receipt returns the message that shows a guidance item's progress from now on.
func (v *request) receipt(s loop.State, a ledger.Answer, i guidance.Item) []ledger.Outgoing {
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

// taskID returns the folded id of a task as typed.
func taskID(s loop.State, typed string) string {
	if t, ok := bot.FindTask(s, typed); ok {
		return ledger.FoldID(t.Task.ID)
	}
	return ledger.FoldID(typed)
}

// onReceipt reports whether the pressed button is on a guidance item's receipt.
func (v *request) onReceipt() bool { return v.in.Press != "" && itemKey.MatchString(v.key) }
