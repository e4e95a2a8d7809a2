package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// retellEvery is the least time between two outlooks that people are told in a run.
const retellEvery = 2 * time.Hour

// muchUSD is the part of a cost by which another one is worth telling.
const muchUSD = 0.2

// RetoldOutlook is what people were told in a run that it will probably get done, after
// what they were told before it.
type RetoldOutlook struct {
	Outlook ledger.Outlook `json:"outlook"`
	At      time.Time      `json:"at"`
}

// ToldOutlook returns what people were told last that the run will probably get done; nil =
// nothing.
func (r *Run) ToldOutlook() *ledger.Outlook {
	if r.Retold != nil {
		return &r.Retold.Outlook
	}
	return r.Said
}

// WorthTelling reports whether people are told an outlook without asking for it: it is about
// several tasks, and no rough guess.
func WorthTelling(o *ledger.Outlook) bool {
	return o != nil && o.Total > 1 && history.Basis(o.Basis) != history.FromPrior
}

// retell records another outlook once a task ended and what people were told is wrong. It
// looks only then: the outlook is the most expensive part of a decision. In waves it does
// not: triage decides what is worked on.
func (d *decision) retell() {
	r := d.run()
	if r.Over() || r.Aside() || r.InWaves() || r.Finishing != nil || r.State != ledger.RunRunning && r.State != ledger.RunWaiting || !d.endsTask() {
		return
	}
	told := r.ToldOutlook()
	if !WorthTelling(r.Said) || r.Retold != nil && d.in.Time.Sub(r.Retold.At) < retellEvery {
		return
	}
	if now := d.outlookOfRun(); now != nil && outdatedBy(*told, *now) {
		d.add(scope{}, ledger.OutlookChanged{Outlook: *now})
	}
}

// endsTask reports whether a task of the run ends with the decision.
func (d *decision) endsTask() bool {
	return slices.ContainsFunc(d.entries, func(e ledger.Entry) bool {
		b, is := e.Body.(ledger.TaskSet)
		return is && (b.To == ledger.Done || b.To == ledger.Blocked || b.To == ledger.ManualVerify)
	})
}

// outlookOfRun returns what the whole run will probably get done, with what it got done and
// spent so far; nil = nothing worth telling is left.
func (d *decision) outlookOfRun() *ledger.Outlook {
	r, o := d.run(), SaidOf(OutlookOf(d.State, d.in.Time))
	if !WorthTelling(o) {
		return nil
	}
	o.Total += r.DoneIn
	o.Done += r.DoneIn
	o.Low += r.DoneIn
	o.High += r.DoneIn
	if o.USDLow < 0 || o.USDHigh < 0 || r.Unpriced > 0 {
		o.USDLow, o.USDHigh = history.Unknown, history.Unknown
		return o
	}
	o.USDLow += r.CostUSD
	o.USDHigh += r.CostUSD
	return o
}

// outdatedBy reports whether what people were told is wrong by a later outlook.
func outdatedBy(told, now ledger.Outlook) bool {
	return OtherTasks(told, now) || OtherCost(told, now)
}

// OtherTasks reports whether a later outlook has another number of tasks than people were
// told: its bounds do not hold what they were told, nor those bounds what it is now. The
// first alone comes true in most nights, since bounds close in on what comes, and says
// nothing new.
func OtherTasks(told, now ledger.Outlook) bool { return !now.Holds(told.Done) && !told.Holds(now.Done) }

// OtherCost is OtherTasks for costs. They differ by muchUSD at least: where all tasks so far
// cost the same, bounds are close together.
func OtherCost(told, now ledger.Outlook) bool {
	if told.USDLow < 0 || told.USDHigh < 0 || now.USDLow < 0 || now.USDHigh < 0 {
		return false
	}
	was, is := told.MiddleUSD(), now.MiddleUSD()
	return !now.HoldsUSD(was) && !told.HoldsUSD(is) && max(was, is)-min(was, is) >= muchUSD*was
}
