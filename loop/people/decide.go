package people

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Input is one of the inputs of this package (docs/spec 6.5, 6.6). All of them are
// sent without a project.
type Input interface {
	// InputKind names the input. Answers to it are worded by this name.
	InputKind() string

	decide(d *decision)
}

// Sender is who sent an input.
type Sender struct {
	Actor string      // a person's platform id, "telegram:48213377", or "console" and "daemon"
	Name  string      // for people: "Mira"
	Role  ledger.Role // that the actor had on arrival; "" = not checked
}

// displayName shortens the name that the platform gives to 40 characters in one
// line.
func (s Sender) displayName() string {
	name := strings.Join(strings.Fields(s.Name), " ")
	if r := []rune(name); len(r) > 40 {
		return string(r[:40])
	}
	if name == "" {
		return "somebody"
	}
	return name
}

// Decision is the result of deciding on one input: what is added to the shared
// stream, in order, and the reply to the sender.
type Decision struct {
	Entries []ledger.Body
	Answer  ledger.Answer
}

// Decide returns the decision on one input that a sender made at a time. It is a
// pure function, and s is not changed. An input that cannot be carried out is no
// error: Decision.Answer says why. The caller has asked CheckRole about the sender.
func Decide(s State, now time.Time, from Sender, in Input) Decision {
	d := newDecision(s, now, from)
	in.decide(d)
	return d.made
}

// decision builds a Decision. It folds every entry as soon as it is added, so the
// rest of the decision sees the state after that entry.
type decision struct {
	State
	now  time.Time
	from Sender
	made Decision
}

func newDecision(s State, now time.Time, from Sender) *decision {
	return &decision{State: s, now: now, from: from, made: Decision{Answer: ledger.Answer{OK: true}}}
}

func (d *decision) add(b ledger.Body) {
	d.made.Entries = append(d.made.Entries, b)
	d.State = Apply(d.State, ledger.Entry{Stream: ledger.SharedStream, Time: d.now, Actor: d.from.Actor, Body: b})
}

// accept makes the answer an accepted one.
func (d *decision) accept(code ledger.AnswerCode, text string) {
	d.made.Answer = ledger.Answer{OK: true, Code: code, Text: text}
}

// refuse makes the answer a refusal. Entries that were added before stay.
func (d *decision) refuse(code ledger.AnswerCode, format string, args ...any) {
	d.made.Answer = ledger.Answer{Code: code, Text: fmt.Sprintf(format, args...)}
}
