package bot

import (
	"context"
	"errors"
	"slices"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// sharedRequest is a command that needs no project.
type sharedRequest struct {
	service Service
	host    DaemonService // nil unless stays
	stays   bool          // the service is a DaemonService
	r       Request
	c       Command
}

// dispatch is one command with its request and the project that it is about.
type dispatch struct {
	service Service
	r       Request
	c       Command
	s       loop.State
	project string
}

// role returns the sender's role. A sender who is no paired person, such as the
// operator at the host, has RoleAdmin.
func (h sharedRequest) role() ledger.Role {
	if h.stays {
		if p, paired := h.host.Shared().Person(h.r.Actor); paired {
			return p.Role
		}
	}
	return ledger.RoleAdmin
}

// failedReply returns the reply to a command that failed with err: for a fault of
// the machine, or by a fault in nightporter.
func failedReply(c Command, err error) Message {
	m := refusal("fault", SignFailed+" /"+string(c.Verb)+" failed: a fault in nightporter")
	next := "All else goes on. Look at the daemon's log."
	switch fault.Of(err) {
	case "":
	case ledger.FaultDisk:
		m = refusal("unsaved", SignFailed+" /"+string(c.Verb)+" not done: cannot be saved")
		next = "/status says why. Send it again when that is over."
	case ledger.FaultLedger:
		m = refusal("unsaved", SignFailed+" /"+string(c.Verb)+" not done: ledger damaged")
		next = "/status says what helps."
	default:
		m = refusal("unsaved", SignFailed+" /"+string(c.Verb)+" not done for now")
		m.quote(err.Error())
		next = "Send it again."
	}
	m.quote(c.Line)
	m.add(next)
	return m
}

// do sends an input to the core and renders the answer.
func (d dispatch) do(ctx context.Context, body loop.InputBody) (Message, error) {
	a, err := d.service.Do(ctx, loop.Input{
		Key: d.r.Key, Time: d.r.Time, Actor: d.r.Actor, Name: d.r.Name, Project: d.project, Body: body,
	})
	var input *ledger.InputError
	if errors.As(err, &input) { // the run cannot start, for a reason that the person can remove
		return NotStarted(d.project, input.Diagnostics), nil
	}
	if err != nil {
		return Message{}, err
	}
	return FromAnswer(body.InputKind(), a, d.r.Key), nil
}

// consoleActor is the actor of commands typed in a terminal, which has no chat
// to send a message to.
const consoleActor = "console"

// doAsking sends an input that may open a question of a kind. In a chat the question
// arrives as its own message; a terminal is shown it as the reply.
func (d dispatch) doAsking(ctx context.Context, kind ledger.QuestionKind, body loop.InputBody) (Message, error) {
	m, err := d.do(ctx, body)
	if err != nil || m.Refused || d.r.Actor != consoleActor {
		return m, err
	}
	s, _ := d.service.State(d.project)
	for _, q := range s.Project.Questions {
		before := func(o ledger.Question) bool { return o.ID == q.ID }
		if q.Kind == kind && !slices.ContainsFunc(d.s.Project.Questions, before) {
			return Ask(s, q, d.r.Time), nil
		}
	}
	return m, nil
}
