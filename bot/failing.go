package bot

import (
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Failing announces that a fault of the machine has kept an effect from being
// carried out for some minutes.
func Failing(s loop.State, b ledger.EffectFailed, now time.Time) Message {
	m := newMessage("effect.failing", firstLine(SignLook, s.Project.Name, "cannot "+ledger.EffectDoes(b.Kind), ""))
	m.Project = s.Project.Name
	if b.Fault == ledger.FaultRefused {
		m.cause(b.Text, b.Remedy)
		m.add("Nothing waits for it.")
		m.add("Tried again after your next command.")
		m.button("Try now", "/resume")
		m.button("Status", "/status")
		return m
	}
	m.add("Since " + Clock(b.Since, now) + ", tried again and again:")
	m.cause(b.Text, b.Remedy)
	if ledger.RetryOf(b.Kind) == ledger.RetryBeside {
		m.add("The run goes on; tried until it works.")
		m.button("Status", "/status")
		return m
	}
	nothing := "Nothing is lost."
	if b.Remedy == "" {
		nothing += " Mend it on the host."
	}
	m.add(nothing)
	m.add("Goes on by itself once it works.")
	m.button("Try now", "/resume")
	m.button("Stop", "/stop")
	return m
}

// cause adds why an effect fails, and what a person does about it. A text with a
// remedy is nightporter's own and stands uncut; any other is quoted.
func (m *Message) cause(text, remedy string) {
	if remedy == "" {
		m.quote(text)
		return
	}
	m.add(text + ".")
	m.add(remedy)
}

// failing adds what the run cannot do without and cannot do for now, from the first
// failure on: people are told of it later, unless they ask.
func (m *Message) failing(s loop.State, now time.Time) {
	for _, f := range s.Project.Failing {
		if f.Holds() {
			m.add(SignLook + " cannot " + ledger.EffectDoes(f.Kind) + " since " + Clock(f.Since, now) + ", tried again:")
			m.cause(f.Text, f.Remedy)
			return
		}
	}
}

// Recovered renders the message that replaces the one of Failing once the effect
// was carried out.
func Recovered(s loop.State, f loop.FailingEffect, now time.Time) Message {
	m := newMessage("goes.on", firstLine(SignAgain, s.Project.Name, "can "+ledger.EffectDoes(f.Kind)+" again", " · "+now.Format("15:04")))
	m.Project = s.Project.Name
	m.add("Could not " + ledger.EffectDoes(f.Kind) + " for " + Took(now.Sub(f.Since)) + ".")
	return m
}

// MachineWait says why a run waits for the machine: "cannot commit".
func MachineWait(s loop.State) string {
	for _, f := range s.Project.Failing {
		if f.Holds() {
			return "cannot " + ledger.EffectDoes(f.Kind)
		}
	}
	return "a fault of the machine"
}
