package loop

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/testreport"
)

// What failed on the start commit, before any work, may fail later without
// counting: it is exempt (docs/spec 2.3). Exemptions are by what fails, so that
// one failing test hides no other, and they only ever shrink: at the commit of a
// task an exemption is what still fails there.

// newKept limits the new failures that a result names.
const newKept = 20

// judge marks the red results that fail as at the start, and says in the others
// which of their failures are new. ok reports whether nothing is red but that;
// it is false without results.
func judge(results []ledger.Result, excused []ledger.Exemption) (judged []ledger.Result, ok bool) {
	judged, ok = slices.Clone(results), len(results) > 0
	for n := range judged {
		res := &judged[n]
		res.Advisory, res.New = false, nil
		if res.OK {
			continue
		}
		for _, e := range excused {
			if res.Setup || e.Run != res.Run {
				continue
			}
			found := newSince(e, *res)
			if res.Advisory = len(found) == 0; res.Advisory {
				res.New = nil
				break
			}
			if res.New == nil || len(found) < len(res.New) {
				res.New = found[:min(len(found), newKept)]
			}
		}
		ok = ok && res.Advisory
	}
	return judged, ok
}

// newSince returns the failures of a red result that the exemption does not
// cover. Tests that passed before and were not seen now are such a failure:
// whoever stops the runner after the exempt failure would hide all behind it.
func newSince(e ledger.Exemption, res ledger.Result) []ledger.Failure {
	if e.Whole {
		return nil
	}
	diff := testreport.Compare(e.Failures, res.Failures)
	if diff.Fewer > 0 {
		diff.New = append(slices.Clip(diff.New), ledger.Failure{Name: fmt.Sprintf("(%d tests that passed are missing)", diff.Fewer), Kind: ledger.FailureLine})
	}
	return diff.New
}

// flakes returns the tests that failed in only one of two runs of a command, of
// which the second may have been green.
func flakes(first, second *ledger.Failures) (only []ledger.Failure) {
	if first == nil {
		return nil
	}
	if second == nil {
		second = &ledger.Failures{}
	}
	diff := testreport.Compare(first, second)
	for _, f := range slices.Concat(diff.Gone, diff.New) {
		if f.Runner != "" && len(only) < newKept {
			only = append(only, f)
		}
	}
	return only
}

// exemptFor returns the exemptions that hold for a task; without one, those that
// hold for all.
func exemptFor(r *Run, task string) []ledger.Exemption {
	return slices.DeleteFunc(slices.Clone(r.Exempt), func(e ledger.Exemption) bool {
		return e.Task != "" && !(task != "" && ledger.SameID(e.Task, task))
	})
}

// exemptOf returns the exemptions of an entry. An entry of an earlier release
// names commands alone.
func exemptOf(exempt []ledger.Exemption, commands []string) []ledger.Exemption {
	if len(exempt) > 0 {
		return exempt
	}
	for _, run := range commands {
		exempt = append(exempt, ledger.Exemption{Run: run, Whole: true})
	}
	return exempt
}

// exempting returns the exemptions of the results that are red.
func exempting(results []ledger.Result, task string) (exempt []ledger.Exemption) {
	for _, res := range results {
		if !res.OK && !res.Setup {
			exempt = append(exempt, ledger.Exemption{Run: res.Run, Failures: res.Failures, Task: task})
		}
	}
	return exempt
}

// brokenSince returns what a recheck exempts for a task: what fails on its start
// commit beyond what is exempt already.
func brokenSince(now ledger.Verified, excused []ledger.Exemption, task string) []ledger.Exemption {
	results, _ := judge(now.Results, excused)
	return exempting(slices.DeleteFunc(results, func(res ledger.Result) bool { return res.Advisory }), task)
}

// commandsOf returns the commands of exemptions, each once.
func commandsOf(exempt []ledger.Exemption) (commands []string) {
	for _, e := range exempt {
		if !slices.Contains(commands, e.Run) {
			commands = append(commands, e.Run)
		}
	}
	return commands
}

// narrowed returns the exemptions that which accepts, as far as the results show
// that they are still needed: an exemption whose command passes is over, and what
// does not fail any more is not exempt any more. A command that passed only when
// it was repeated may fail again.
func narrowed(exempt []ledger.Exemption, results []ledger.Result, which func(ledger.Exemption) bool) (left []ledger.Exemption, ended []string) {
	for _, e := range exempt {
		n := slices.IndexFunc(results, func(res ledger.Result) bool { return res.Run == e.Run && !res.Setup })
		if n < 0 || !which(e) || results[n].Flaky {
			left = append(left, e)
			continue
		}
		switch res := results[n]; {
		case res.OK:
			ended = append(ended, e.String())
		case e.Whole || e.Failures == nil || res.Failures == nil:
			left = append(left, e)
		default:
			diff := testreport.Compare(e.Failures, res.Failures)
			if len(diff.Gone) > 0 {
				ended = append(ended, ledger.Exemption{Run: e.Run, Failures: &ledger.Failures{Failed: diff.Gone}}.String())
			}
			switch {
			case len(newSince(e, res)) == 0: // with the number of tests that pass by now
				e.Failures = res.Failures
			case len(diff.Same) == 0:
				continue
			case len(diff.Gone) > 0:
				f := *e.Failures
				f.Failed, e.Failures = diff.Same, &f
			}
			left = append(left, e)
		}
	}
	return left, ended
}

// setExempt records exemptions that changed.
func (d *decision) setExempt(left []ledger.Exemption, ended []string) {
	same := func(a, b ledger.Exemption) bool { return reflect.DeepEqual(a, b) }
	if len(ended) > 0 || !slices.EqualFunc(left, d.run().Exempt, same) {
		d.add(scope{}, ledger.ExemptionsSet{Exempt: left, Ended: ended})
	}
}

// narrowTask ends exemptions by a check of a task. What the recheck of a task
// exempted is over as soon as it passes once, on the task's tree or on the start
// commit of a later one. What was red before any work is judged at the task's
// commit alone: a tree may be thrown away.
func (d *decision) narrowTask(task string, v ledger.Verified) {
	if v.Kind != ledger.KindVerify && v.Kind != ledger.KindRecheck {
		return
	}
	left, ended := narrowed(d.run().Exempt, v.Results, func(e ledger.Exemption) bool { return e.Task != "" })
	if v.Kind == ledger.KindRecheck { // it looked at the present task's start: what an earlier one exempted is over either way
		left = slices.DeleteFunc(left, func(e ledger.Exemption) bool {
			return e.Task != "" && !ledger.SameID(e.Task, task) && slices.ContainsFunc(v.Results, func(res ledger.Result) bool { return res.Run == e.Run })
		})
	}
	d.setExempt(left, ended)
}

// narrowCommit ends exemptions for what passes in the tree that was committed.
func (d *decision) narrowCommit(w *Attempt) {
	if v := w.Verified; v != nil && v.Tree == w.Tree {
		d.setExempt(narrowed(d.run().Exempt, v.Results, func(e ledger.Exemption) bool { return e.Task == "" }))
	}
}

// lapsed reports whether a command is red that was exempt for an earlier task
// alone. Whether the reason is still there is looked at anew.
func (d *decision) lapsed(task string, v ledger.Verified) bool {
	return slices.ContainsFunc(d.run().Exempt, func(e ledger.Exemption) bool {
		return e.Task != "" && !ledger.SameID(e.Task, task) && slices.ContainsFunc(v.Results, func(res ledger.Result) bool {
			return res.Run == e.Run && !res.OK && !res.Advisory
		})
	})
}

// failsIn says what fails, as at the start, in the tree that the attempt
// converged with.
func (w *Attempt) failsIn(excused []ledger.Exemption) (fails []string) {
	var results []ledger.Result
	if v := w.Verified; v != nil && v.Tree == w.Tree {
		results = v.Results
	}
	left, _ := narrowed(excused, results, func(ledger.Exemption) bool { return true })
	for _, e := range left {
		if text := e.String(); !slices.Contains(fails, text) {
			fails = append(fails, text)
		}
	}
	return fails
}
