package loop

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
	"github.com/nightporter/nightporter/loop/testreport"
)

// A branch tip that fails verification stays the project's state until a tip
// passes (docs/spec 2.3). A run that starts from our own commits and is red looks
// whose red it is before it asks anybody: what fails there and not on the
// person's own commit is repaired first, and never called a baseline.

// RedTip returns the source's branch tip that failed verification, and whether
// there is one.
func (p Project) RedTip() (ledger.RedTip, bool) {
	t, ok := p.RedTips[p.tipKey()]
	return t, ok
}

// tipKey returns the key of the branch tip that the run works on in RedTips and Green:
// the source, of which each run goes on from the one before, or the branch of a
// request that no run of the source goes on from.
func (p Project) tipKey() string {
	r := p.Run
	if r == nil || r.Upkeep == nil || r.Base.Branch == p.Branches[p.Source].Branch {
		return p.Source
	}
	return r.Base.Branch
}

// applyTip folds what an entry says about the branch tip: whether it passes
// verification.
func (p Project) applyTip(e ledger.Entry) Project {
	switch b := e.Body.(type) {
	case ledger.TipFailed:
		p.RedTips = with(p.RedTips, p.tipKey(), b.Tip)
	case ledger.Verified:
		if b.Kind != ledger.KindFinal && b.Kind != ledger.KindBaseline {
			break
		}
		red := redResults(b.Results)
		switch {
		case b.OK && len(red) == 0:
			switch {
			case b.Kind == ledger.KindFinal:
				p.Green = with(p.Green, p.tipKey(), b.Tree)
			case p.Run != nil && p.Run.Upkeep != nil: // startCommands were those of a final check
				p.Green = with(p.Green, p.tipKey(), p.Run.Base.Commit)
			}
			if _, was := p.RedTip(); was {
				p.RedTips = maps.Clone(p.RedTips)
				delete(p.RedTips, p.tipKey())
			}
		case b.Kind == ledger.KindFinal && p.Run != nil:
			tip := ledger.RedTip{Run: p.Run.ID, Commit: b.Tree, Results: red}
			if was, ok := p.RedTip(); ok && was.Commit == b.Tree {
				tip.Run = was.Run
			}
			p.RedTips = with(p.RedTips, p.tipKey(), tip)
		}
	}
	return p
}

// redResults returns the results that are red, exempt or not.
func redResults(results []ledger.Result) []ledger.Result {
	return slices.DeleteFunc(slices.Clone(results), func(res ledger.Result) bool { return res.OK })
}

// startCommands returns the commands that the start commit is verified with. While
// a tip is red, they are those of the final check, which found it. The start of a run
// that keeps a request green may be all that it pushes.
func (d *decision) startCommands() []ledger.Command {
	kind := ledger.KindBaseline
	if _, red := d.Project.RedTip(); red || d.run().Upkeep != nil {
		kind = ledger.KindFinal
	}
	return verifyCommands(d.run().Settings, kind, nil)
}

// repairCommands adds to the commands of a check those that only the final check
// runs, where a task of nightporter's own has to repair a red tip.
func (d *decision) repairCommands(t TaskState, cmds []ledger.Command) []ledger.Command {
	if _, red := d.Project.RedTip(); red && t.Task.Own {
		return verifyCommands(d.run().Settings, ledger.KindFinal, nil)
	}
	return cmds
}

// redBaseline acts on a red start commit. If it is not the person's own commit,
// the red commands run there too, to tell whose red it is.
func (d *decision) redBaseline(v ledger.Verified) {
	r := d.run()
	if r.Base.Head == "" || r.Base.Head == r.Base.Commit {
		d.settleRed()
		return
	}
	var red []ledger.Command
	for _, c := range d.startCommands() {
		if slices.ContainsFunc(v.Results, func(res ledger.Result) bool { return res.Run == c.Run && !res.OK }) {
			red = append(red, c)
		}
	}
	d.add(scope{}, newCheck(r.Settings, ledger.KindRecheck, r.Base.Head, false, red))
	d.nextCheck(scope{}, true)
}

// settleRed goes on after a red baseline: it begins with the repair of what is
// our own, and asks about what fails on the person's own commit.
func (d *decision) settleRed() {
	r := d.run()
	if r.Over() || r.Red == nil {
		return
	}
	ours, theirs := r.whose()
	if len(ours) > 0 {
		d.add(scope{}, ledger.TipFailed{Tip: ledger.RedTip{Run: d.redRun(), Commit: r.Base.Commit, Results: ours}})
	}
	switch {
	case len(theirs) == 0:
		d.beginRepair(nil)
	case r.Upkeep != nil:
		d.endUpkeep("%s itself fails: %s", r.Base.HeadName, theirs[0].Run)
	case r.Check:
		d.settleBaseline("stop")
	default:
		d.askBaseline(theirs[0])
	}
}

// redRun returns the run whose branch this run goes on from.
func (d *decision) redRun() string {
	if t, ok := d.Project.RedTip(); ok {
		return t.Run
	}
	from := d.run().Base.From
	return from[strings.LastIndex(from, "/")+1:]
}

// whose tells the red results of the start commit apart: ours are failures that
// the person's own commit does not have, and theirs fail there too. Failures that
// are unknown there are not theirs.
func (r *Run) whose() (ours []ledger.Result, theirs []ledger.Exemption) {
	for _, res := range redResults(r.Red.Results) {
		if r.Origin == nil {
			theirs = append(theirs, exempting([]ledger.Result{res}, "")...)
			continue
		}
		n := slices.IndexFunc(r.Origin.Results, func(o ledger.Result) bool { return o.Run == res.Run && !o.Setup })
		if n < 0 || r.Origin.Results[n].OK {
			ours = append(ours, res)
			continue
		}
		there := r.Origin.Results[n]
		diff := testreport.Compare(there.Failures, res.Failures)
		if len(diff.New) == 0 {
			theirs = append(theirs, exempting([]ledger.Result{res}, "")...)
			continue
		}
		if len(diff.Same) > 0 {
			theirs = append(theirs, exempting([]ledger.Result{there}, "")...)
			res.New = diff.New[:min(len(diff.New), newKept)]
		}
		ours = append(ours, res)
	}
	return ours, theirs
}

// beginRepair begins the run, with the repair of our own red tip as its first
// task if there is anything to repair.
func (d *decision) beginRepair(exempt []ledger.Exemption) {
	r := d.run()
	ours, _ := r.whose()
	if len(ours) == 0 {
		d.begin(ledger.RunStarted{Baseline: r.Red.Results, Exempt: exempt})
		return
	}
	tip, _ := d.Project.RedTip()
	if !r.Check {
		d.addOwn(d.withChecks(repairTask(tip)))
	}
	d.begin(ledger.RunStarted{Baseline: r.Red.Results, Exempt: exempt, Repair: &tip})
}

// withChecks returns the task that repairs a red tip. If the checks of a request fail
// too, it is their task with what fails here added: most often that is the same.
func (d *decision) withChecks(repair ledger.Task) ledger.Task {
	t, ok := d.task(request.ChecksTaskID)
	if !ok || d.run().Upkeep == nil {
		return repair
	}
	t.Task.Acceptance = append(slices.Clip(t.Task.Acceptance), repair.Acceptance...)
	return t.Task
}

// endRed adds to the end of a run what is red: exemptions in force, tasks that
// were committed under one, and a tip that no run has repaired.
func (d *decision) endRed(e *ledger.RunEnded) {
	r := d.run()
	e.Exempt, e.Exempted = exemptFor(r, ""), r.Exempted
	if tip, red := d.Project.RedTip(); red && len(verifyCommands(r.Settings, ledger.KindFinal, nil)) > 0 {
		e.RedTip = &tip
	}
	var why []string
	for _, x := range e.Exempt {
		why = append(why, "still fails as at the start: "+x.String())
	}
	if n := len(e.Exempted); n > 0 {
		why = append(why, fmt.Sprintf("%s committed while something failed as at the start", joinFew(shortIDs(e.Exempted))))
	}
	if e.RedTip != nil && e.RedTip.Run != r.ID {
		why = append(why, "not repaired: "+e.RedTip.String())
	}
	if len(why) > 0 {
		e.Text = strings.TrimPrefix(e.Text+"; "+cutText(strings.Join(why, "; "), 300), "; ")
	}
}

// RepairTaskID is the id of the task with which a run repairs the red tip that it
// continues from.
const RepairTaskID = "Repair"

func repairTask(tip ledger.RedTip) ledger.Task {
	t := ledger.Task{ID: RepairTaskID, Title: "Repair what " + tip.Run + " left failing", Own: true, Mark: ledger.MarkOpen,
		Body: "Verification fails on the branch, and it does not on the commit that the work began on: earlier tasks broke it. Mend what they broke; do not weaken a test."}
	for _, res := range tip.Results {
		line := fmt.Sprintf("`%s` passes", res.Run)
		if names := res.NewNames(10); names != "" {
			line = fmt.Sprintf("%s passes (`%s`)", names, res.Run)
		} else if names := res.Failures.Names(10); names != "" {
			line += " (fails: " + names + ")"
		}
		t.Acceptance = append(t.Acceptance, line)
	}
	return t
}
