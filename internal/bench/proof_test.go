package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// proofFiles is the number of modules with tests in the repository whose tasks are
// proved; each has a process of its own under node --test.
const proofFiles = 30

// prover is an agent that fixes the module of its task: alone, with a new test
// file, or with another case in the module's own tests.
const prover = `#!/bin/sh
set -e
cat >/dev/null
case $HAT_NAME in
planner) exec hat emit plan.complete --data '{"summary":"one fix","steps":["fix it"]}' ;;
builder)
	n=${HAT_TASK#Task }
	echo "exports.add = (a, b) => a + b + 0" >m$n.js
	case $n in
	3|4) printf "require('node:test')('fixed', () => require('node:assert').strictEqual(String(require('./m$n').add), '(a, b) => a + b + 0'))\n" >fixed$n.test.js ;;
	5|6) sed -i 's/add(1, 2), 3/add(2, 1), 3/' m$n.test.js
		printf "require('node:test')('fixed', () => require('node:assert').strictEqual(String(require('./m$n').add), '(a, b) => a + b + 0'))\n" >>m$n.test.js ;;
	esac
	exec hat emit build.complete --data '{"summary":"fixed it","files_modified":["m.js"]}' ;;
reviewer) exec hat emit review.verdict --data '{"summary":"fine","issues":[]}' ;;
esac
`

// BenchmarkProof is what the proof of a task costs on top of its verification: a
// night of the real program with tasks that change code alone, that bring new test
// files, and that change tests which were there. All checks of a task are counted,
// with the laying of their rooms; the verification of the tasks that change code
// alone is the baseline.
//
// Figures: 2.1 with new test files, 3.2 where tests were changed.
func BenchmarkProof(b *testing.B) {
	if !found("node") {
		b.Skip("SKIPPED: no node here")
	}
	bin := program(b, "nightporter", "./cmd/nightporter", true)
	hat := program(b, "hat", "./cmd/hat", false)
	if err := os.Rename(hat, filepath.Join(filepath.Dir(bin), "hat")); err != nil {
		b.Fatal(err)
	}
	var took map[string]checkTimes
	for b.Loop() {
		if took == nil { // one night is enough
			took = proofNight(b, bin)
		}
	}
	ratio := func(tasks ...int) float64 {
		var all, verify time.Duration
		for _, n := range tasks {
			t := took[fmt.Sprint("Task ", n)]
			all, verify = all+t.all, verify+t.verify
		}
		return float64(all) / float64(verify)
	}
	b.ReportMetric(ms(took["Task 1"].verify), "verify-ms")
	b.ReportMetric(ratio(1, 2), "code/verify")
	b.ReportMetric(ratio(3, 4), "new-tests/verify")
	b.ReportMetric(ratio(5, 6), "changed-tests/verify")
	b.ReportMetric(0, "ns/op")
}

// checkTimes is how long the checks of a task took: its last verification, and all.
type checkTimes struct{ verify, all time.Duration }

// proofNight returns the times of the checks by task.
func proofNight(b *testing.B, bin string) map[string]checkTimes {
	b.Helper()
	dir := shared(b)
	repo, state := filepath.Join(dir, "shop"), filepath.Join(dir, "state")
	if err := os.MkdirAll(repo, 0o755); err != nil {
		b.Fatal(err)
	}
	var plan strings.Builder
	for n := 1; n <= proofFiles; n++ {
		write := func(name, text string) {
			if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		write(fmt.Sprintf("m%d.js", n), "exports.add = (a, b) => a + b\n")
		write(fmt.Sprintf("m%d.test.js", n), fmt.Sprintf("require('node:test')('adds', () => require('node:assert').strictEqual(require('./m%d').add(1, 2), 3))\n", n))
		if n <= 6 {
			fmt.Fprintf(&plan, "- [ ] **Task %d: Fix module %d**\n", n, n)
			write("plan.md", plan.String())
		}
	}
	commitAll(b, repo)
	conf := agentConfig(b, dir, prover)
	cmd := exec.CommandContext(b.Context(), bin, "run", "--repo", repo, "--source", "plan:plan.md", "--profile", "overnight",
		"--agent", "mine", "--config", conf, "--state", state, "--verify", "node --test")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("nightporter run: %v\n%s", err, out)
	}
	return checksOf(b, state)
}

// checksOf reads from the ledger how long the checks of each task took.
func checksOf(b *testing.B, state string) map[string]checkTimes {
	b.Helper()
	s, err := store.Open(state)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	took, words := map[string]checkTimes{}, map[string]ledger.ProofWord{}
	var began time.Time
	err = s.Records(b.Context(), ledger.ProjectStream("shop"), 0, func(r ledger.Record) error {
		e, err := r.Entry()
		if err != nil {
			return err
		}
		switch body := e.Body.(type) {
		case ledger.ChecksBegun:
			began = e.Time
		case ledger.Verified:
			t, spent := took[e.Task], e.Time.Sub(began)
			switch body.Kind {
			case ledger.KindVerify:
				t.verify = spent
				fallthrough
			case ledger.KindGuard, ledger.KindProof:
				t.all += spent
			}
			took[e.Task] = t
		case ledger.TaskProved:
			words[e.Task] = body.Proof.Word
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for n, want := range []ledger.ProofWord{ledger.Tested, ledger.Tested, ledger.Proved, ledger.Proved, ledger.Proved, ledger.Proved} {
		if task := fmt.Sprint("Task ", n+1); words[task] != want {
			b.Fatalf("%s is %s, want %s", task, words[task], want)
		}
	}
	return took
}
