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
	m.add("Since " + Clock(b.Since, now) + ", tried again and again:")
	m.quote(b.Text)
	if ledger.RetryOf(b.Kind) == ledger.RetryBeside {
		m.add("The run goes on; tried until it works.")
		m.button("Status", "/status")
		return m
	}
	m.add("Nothing is lost. Mend it on the host.")
	m.add("Goes on by itself once it works.")
	m.button("Try now", "/resume")
	m.button("Stop", "/stop")
	return m
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
