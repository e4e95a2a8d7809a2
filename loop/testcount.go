package loop

import (
	"maps"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/testreport"
)

// A green tree has to run as many tests as the start of its attempt did (docs/spec
// 8.4): code that ends its process when a test imports it leaves a runner that
// runs fewer, and exits with 0. Fewer tests are treated like a guard that is red.

// testCounts is how many tests ran on a tree, by command. A command without an
// entry is unknown.
type testCounts map[string][]ledger.TestCount

// countsOf returns the tests of a check's commands.
func countsOf(results []ledger.Result) testCounts { return testCounts(nil).with(results) }

// with returns the counts with those of results in their place.
func (c testCounts) with(results []ledger.Result) testCounts {
	c = maps.Clone(c)
	for _, res := range results {
		if res.Setup {
			continue
		}
		delete(c, res.Run)
		if len(res.Ran) > 0 {
			if c == nil {
				c = testCounts{}
			}
			c[res.Run] = res.Ran
		}
	}
	return c
}

// begun counts the tests that failed as well: on a start with new tests, those
// that fail have run.
func begun(c testCounts) testCounts {
	for run, counts := range c {
		c[run] = slices.Clone(counts)
		for n := range c[run] {
			c[run][n].Passed += c[run][n].Failed
		}
	}
	return c
}

// testsOf returns how many tests ran on a tree that the attempt verified. Commands
// that were left out, because only documents changed, keep the number of the start.
func (w *Attempt) testsOf(tree string) testCounts {
	if w.Verified == nil || w.Verified.Kind != ledger.KindVerify || w.Verified.Tree != tree {
		return nil
	}
	return w.StartTests.with(w.Verified.Results)
}

// fewer returns where fewer tests ran than at the attempt's start: with the start's
// checks where the attempt changed some, else on its own tree. There the new tests
// count too, which ran on the start before: they must not stand for old ones.
func (w *Attempt) fewer() (fewer []ledger.FewerTests) {
	f, v := w.Facts, w.Verified
	if f == nil || v == nil || v.Tree != w.left() || f.Unguarded != "" || slices.ContainsFunc(f.Changes, endsTests) {
		return nil
	}
	ran := countsOf(v.Results)
	if f.Guard != "" {
		ran = w.GuardTests
	}
	// A test that moved or went away ran on the start beside the new ones.
	besides := f.Guard == "" && w.shown() && !slices.ContainsFunc(f.Changes, func(c ledger.CheckChange) bool {
		return c.Action == ledger.CheckMoved || c.Action == ledger.CheckDeleted
	})
	for _, res := range v.Results {
		few := testreport.Fewer(res.Run, w.StartTests[res.Run], ran[res.Run])
		if len(few) == 0 && besides {
			few = testreport.Fewer(res.Run, w.Shown.Ran[res.Run], ran[res.Run])
		}
		fewer = append(fewer, few...)
	}
	return fewer
}

// endsTests reports whether a change that the task itself asks for may be why
// fewer tests run: of a script or a configuration, or one that takes tests away.
func endsTests(c ledger.CheckChange) bool {
	return c.Named && (c.Kind != ledger.CheckTest && c.Kind != ledger.CheckSnapshot || c.Action == ledger.CheckDeleted || c.Action == ledger.CheckSkipped || len(c.Cases) > 0)
}

// fewerRan acts on a green tree on which fewer tests ran. Before that is held
// against anybody, the tests of the start are counted once more: a service that is
// away by now makes tests skip there, too.
func (d *decision) fewerRan(t TaskState) {
	w := t.Attempt
	if !w.Recounted {
		d.recount(t)
		return
	}
	d.add(scope{task: t.Task.ID, session: w.Session}, ledger.Verified{Kind: ledger.KindGuard, Tree: w.guardTree(), Fewer: w.fewer()})
	t, _ = d.task(t.Task.ID)
	d.guarded(t, "")
}

// recount runs the commands that ran fewer tests on the attempt's start commit.
func (d *decision) recount(t TaskState) {
	s, w := d.run().Settings, t.Attempt
	few := w.fewer()
	cmds := slices.DeleteFunc(slices.Clone(s.Verify), func(c ledger.Command) bool {
		return !slices.ContainsFunc(few, func(f ledger.FewerTests) bool { return f.Run == c.Run })
	})
	if len(cmds) == 0 { // the run does not have the command any more
		d.counted(t)
		return
	}
	about := scope{task: t.Task.ID, session: w.Session}
	d.add(about, newCheck(s, ledger.KindRecheck, w.Base, false, cmds))
	d.nextCheck(about, true)
}

// recounted continues an attempt after the tests of its start were counted once
// more.
func (d *decision) recounted(t TaskState) {
	if len(t.Attempt.fewer()) > 0 {
		d.fewerRan(t)
		return
	}
	d.counted(t)
}

// counted continues an attempt whose tree is green and runs as many tests as its
// start.
func (d *decision) counted(t TaskState) {
	if t.Attempt.Converged {
		d.converge(t)
		return
	}
	d.stands(t, t.Attempt.left())
}

// guardTree returns the tree that has to pass as the attempt's guard: with the
// start's version of what proves where the attempt changed it, else its own.
func (w *Attempt) guardTree() string {
	if w.Facts != nil && w.Facts.Guard != "" {
		return w.Facts.Guard
	}
	return w.left()
}

// guardFailed reports whether the attempt's tree failed its guard, by the start's
// checks or because fewer tests ran.
func (w *Attempt) guardFailed() bool {
	return w.Facts != nil && !w.unguarded() && w.Guarded == w.guardTree() && !w.GuardOK
}

// noFewer reports whether no fewer tests ran than were known before.
func noFewer(fewer, known []ledger.FewerTests) bool {
	return !slices.ContainsFunc(fewer, func(f ledger.FewerTests) bool {
		return !slices.ContainsFunc(known, func(k ledger.FewerTests) bool { return k.Run == f.Run && k.Runner == f.Runner && k.Ran <= f.Ran })
	})
}
