package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Pauses between two tries of what failed for a fault of the machine.
const (
	shortestPause = time.Second
	LongestPause  = 5 * time.Minute
)

// toldAfter is how long an effect fails for a fault of the machine or of the repository before people
// are told. A full disk is told at once, because it seldom ends by itself, and so is
// what only a person can end.
const toldAfter = 5 * time.Minute

// RetryPause returns how long to wait before the next try of what has failed since a
// time: as long as it has failed already, within bounds. It needs no count of
// tries, so a restart and a replay give the same.
func RetryPause(since, now time.Time) time.Duration {
	return min(max(now.Sub(since), shortestPause), LongestPause)
}

// FailingEffect is an effect that a fault of the machine keeps from being carried
// out. It is tried again until it is.
type FailingEffect struct {
	Kind   string       `json:"kind"`
	Key    string       `json:"key"`
	Text   string       `json:"text"`
	Remedy string       `json:"remedy,omitempty"`
	Fault  ledger.Fault `json:"fault"`
	Since  time.Time    `json:"since"`
	Told   bool         `json:"told,omitempty"`
}

// Holds reports whether the run waits for the effect.
func (f FailingEffect) Holds() bool { return ledger.RetryOf(f.Kind) == ledger.RetryHolds }

// FailingEffect returns the effect of a kind and key, and whether it fails.
func (p Project) FailingEffect(kind, key string) (FailingEffect, bool) {
	n := slices.IndexFunc(p.Failing, func(f FailingEffect) bool { return f.Kind == kind && f.Key == key })
	if n < 0 {
		return FailingEffect{}, false
	}
	return p.Failing[n], true
}

// failed folds another failure of an effect into the list. One without a Fault
// ends its tries.
func (p Project) failed(b ledger.EffectFailed) Project {
	p.Failing = slices.DeleteFunc(slices.Clone(p.Failing), func(f FailingEffect) bool { return f.Kind == b.Kind && f.Key == b.Key })
	if b.Fault != "" {
		p.Failing = append(p.Failing, FailingEffect{Kind: b.Kind, Key: b.Key, Text: b.Text, Remedy: b.Remedy, Fault: b.Fault, Since: b.Since, Told: b.Told})
	}
	return p
}

// GivesUp reports whether effects that fail for a fault of the machine are given
// up: a person stops the run at once, and does not wait for the machine. A signal
// leaves them to the next start.
func GivesUp(s State) bool {
	r := s.Project.Run
	return !r.Over() && r.State == ledger.RunStopping && r.StopNow && r.Signal == ""
}

// isFaultWait reports whether a run with this wait plans nothing until a fault of
// the machine is over.
func isFaultWait(w ledger.WaitReason) bool {
	return w == ledger.WaitDisk || w == ledger.WaitMachine
}

// startKey is the key under which a project's sessions that cannot be started
// count as one failing effect: each try is a session of its own.
const startKey = "sessions"

// faulty records that an effect failed for a fault of the machine, unless that is
// known, and holds what its policy says.
func (d *decision) faulty(b EffectBroken) {
	f, known := d.Project.FailingEffect(b.Kind, b.Key)
	e := ledger.EffectFailed{Kind: b.Kind, Key: b.Key, Text: b.Text, Remedy: b.Remedy, Disk: b.Fault == ledger.FaultDisk, Fault: b.Fault, Since: d.in.Time, Told: f.Told}
	if known {
		e.Since = f.Since
	}
	e.Told = e.Told || b.Fault == ledger.FaultDisk && f.Holds() || b.Fault == ledger.FaultRefused
	// Other faults are said in words of a program, which may change with each try.
	news := f.Text != e.Text && (f.Told || e.Fault == ledger.FaultRepository) && e.Fault != ledger.FaultForge
	if !known || f.Fault != e.Fault || f.Told != e.Told || news {
		d.add(scope{}, e)
	}
	d.holdForFaults()
}

// holdForFaults tells of effects that have failed for long, and makes the run wait
// for those that it cannot do without.
func (d *decision) holdForFaults() {
	for _, f := range d.Project.Failing {
		if f.Key == startKey && len(d.Project.Sessions) > 0 {
			continue // the session that is there may show that they start again
		}
		if !f.Told && !d.in.Time.Before(f.Since.Add(toldAfter)) {
			d.add(scope{}, ledger.EffectFailed{Kind: f.Kind, Key: f.Key, Text: f.Text, Remedy: f.Remedy, Disk: f.Fault == ledger.FaultDisk, Fault: f.Fault, Since: f.Since, Told: true})
		}
	}
	if f, held := d.Project.Held(); held && !d.run().Over() && !isFaultWait(d.run().Wait) {
		d.hold(f, time.Time{})
	}
}

// stuck reports whether an effect fails that the run waits for.
func (p Project) stuck() bool {
	return slices.ContainsFunc(p.Failing, func(f FailingEffect) bool { return f.Holds() && f.Key != startKey })
}

// Held returns the effect under way that the run waits for because of a fault of
// the machine that people were told of, and whether there is one.
func (p Project) Held() (FailingEffect, bool) {
	n := slices.IndexFunc(p.Failing, func(f FailingEffect) bool { return f.Told && f.Holds() && f.Key != startKey })
	if n < 0 {
		return FailingEffect{}, false
	}
	return p.Failing[n], true
}

// hold makes the run plan nothing: until a time, or until f recovers if that is
// zero (docs/spec 2.2). A run that is ending or pausing keeps its state.
func (d *decision) hold(f FailingEffect, until time.Time) {
	state := ledger.RunWaiting
	switch r := d.run(); r.State {
	case ledger.RunPausing, ledger.RunPaused:
		return // nothing is planned anyway
	case ledger.RunPlanning:
		state = ledger.RunPlanning
	case ledger.RunStopping:
		if r.Finishing == nil {
			return
		}
	}
	wait, text := ledger.WaitMachine, f.Text
	if f.Fault == ledger.FaultDisk {
		wait, text = ledger.WaitDisk, "the disk is full"
		switch f.Kind {
		case "":
		case ledger.EffectPreflight{}.EffectKind(): // too little space is enough
			text = f.Text
		default: // an effect does not tell the two apart
			text = "the disk is full or read-only"
		}
	}
	d.add(scope{}, ledger.RunStateSet{State: state, Wait: wait, Until: until, Text: text})
}

// effectDone records that an effect has a result, if it failed before, and ends
// the run's wait for it.
func (d *decision) effectDone(e EffectName) {
	if _, failing := d.Project.FailingEffect(e.Kind, e.Key); !failing {
		return
	}
	d.add(scope{}, ledger.EffectRecovered(e))
	r := d.run()
	if _, held := d.Project.Held(); held || r.Over() || !isFaultWait(r.Wait) || !r.Until.IsZero() {
		return
	}
	d.endFaultWait()
}

// endFaultWait lets a run plan again that waited for a fault of the machine.
func (d *decision) endFaultWait() {
	state := ledger.RunRunning
	if d.run().Started.IsZero() {
		state = ledger.RunPlanning
	}
	d.add(scope{}, ledger.RunStateSet{State: state})
}

// holdForStart holds the run after a session that the machine could not start.
// The next session is another try.
func (d *decision) holdForStart(x ledger.Exit) {
	d.faulty(EffectBroken{Kind: ledger.EffectStart{}.EffectKind(), Key: startKey, Text: x.Text, Fault: x.Fault})
	f, _ := d.Project.FailingEffect(ledger.EffectStart{}.EffectKind(), startKey)
	d.hold(f, d.in.Time.Add(RetryPause(f.Since, d.in.Time)))
}

// startWorked records that the machine started a session.
func (d *decision) startWorked() {
	d.effectDone(EffectName{Kind: ledger.EffectStart{}.EffectKind(), Key: startKey})
}
