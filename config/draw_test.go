package config

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestDraw(t *testing.T) {
	hats, patterns := shipped(t)
	argued := patterns["plan-build-review"]
	argued.Consensus = true
	long := strings.Repeat("a-very-long-name-", 2)[:32]
	hats[long] = ledger.Hat{Emits: []string{"x." + long, "y." + long}}
	for name, c := range map[string]struct {
		pattern ledger.Pattern
		want    string
	}{
		"single": {patterns["single"], "builder → converged\n"},
		"full-cycle": {patterns["full-cycle"], `planner → builder
builder → writer
writer → reviewer
reviewer
  issues: → fixer
  else: → verifier
fixer → reviewer
verifier
  passed: → converged
  failed: → fixer
`},
		"once": {patterns["build-review-refactor"], `builder → reviewer
reviewer
  issues: → fixer
  else: → refactorer, once
  then: → converged
fixer → reviewer
refactorer → reviewer
`},
		"consensus": {argued, `planner → critic
critic
  OKAY: → builder
  REJECT: → planner
  second REJECT: → architect
architect → planner
builder → reviewer
reviewer
  issues: → fixer
  else: → converged
fixer → reviewer
`},
		"written the other way round": {pattern("reviewer", "fixer fix.complete reviewer", "reviewer review.verdict below converged", "reviewer review.verdict above fixer"), `reviewer
  issues: → fixer
  else: → converged
fixer → reviewer
`},
		"once on both sides": {pattern("builder", "builder build.complete once refactorer", "builder build.complete converged", "refactorer refactor.complete builder"), `builder
  → refactorer, once
  then: → converged
refactorer → builder
`},
		"long names": {pattern(long, long+" x."+long+" once "+long, long+" x."+long+" converged", long+" y."+long+" converged"), `a-very-long-name-a-very-long-nam
  x.a-very-long-name-a-very-long-na… →
    a-very-long-name-a-very-long-nam,…
  x.a-very-long-name-a-very-long-na… →
    converged
  y.a-very-long-name-a-very-long-na… →
    converged
`},
		"nothing": {ledger.Pattern{Start: "builder"}, "builder\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Draw(c.pattern, hats)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			checkWidth(t, got)
		})
	}
}

// checkWidth fails the test when a line of the drawing is wider than a phone.
func checkWidth(t *testing.T, drawing string) {
	t.Helper()
	for _, line := range strings.Split(drawing, "\n") {
		if utf8.RuneCountInString(line) > drawWidth {
			t.Errorf("wider than %d: %s", drawWidth, line)
		}
	}
}

// TestRoutesTable compares docs/routes.md with the presets.
func TestRoutesTable(t *testing.T) {
	const file = "../docs/routes.md"
	got := RoutesTable(shipped(t))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s is not what the presets say; write it anew with -update (-want +got):\n%s", file, d)
	}
}

// maxBadOutcomes is the number of bad outcomes in a walk through a pattern
// before all outcomes are good. It suffices to send every hat back from every
// other one more than once.
const maxBadOutcomes = 8

// TestEveryWalkConverges walks each shipped pattern with every sequence of good
// and bad outcomes: a review with or without issues, a verification that passed
// or failed. Every walk must end in a commit once all outcomes are good, unless the
// pattern gave up before, no route marked once may be taken twice, and each hat must work in one of the
// walks.
func TestEveryWalkConverges(t *testing.T) {
	hats, patterns := shipped(t)
	for name, p := range patterns {
		t.Run(name, func(t *testing.T) {
			worked := map[string]bool{}
			for turns := range 1 << maxBadOutcomes {
				left := turns
				var been []string
				hat := p.Start
				for n := 0; !ledger.EndsAttempt(hat); n++ {
					if n > 4*maxBadOutcomes+len(p.Routes) {
						t.Fatalf("turns %08b: still at work after %q", turns, been)
					}
					h, ok := hats[hat]
					if !ok {
						t.Fatalf("turns %08b: %s follows %q, and is no hat", turns, hat, been)
					}
					worked[hat] = true
					bad := false
					// Only a hat with two possible continuations uses up an
					// outcome.
					if len(h.Emits) > 1 || p.Next(hat, h.Emits[0], true, never) != p.Next(hat, h.Emits[0], false, never) {
						bad, left = left&1 == 1, left>>1
					}
					event := h.Emits[0]
					if bad && len(h.Emits) > 1 {
						event = h.Emits[1]
					}
					to := p.Next(hat, event, bad, func(name string) (n int) {
						for _, b := range been {
							if b == name {
								n++
							}
						}
						return n
					})
					if to == "" {
						t.Fatalf("turns %08b: no way from %s by %s after %q", turns, hat, event, been)
					}
					been = append(been, hat)
					hat = to
				}
				if n := len(slices.DeleteFunc(slices.Clone(been), func(h string) bool { return h != "refactorer" })); n > 1 {
					t.Errorf("turns %08b: the refactorer came %d times: %q", turns, n, been)
				}
			}
			for _, hat := range hatsInOrder(p) {
				if !worked[hat] {
					t.Errorf("%s never works", hat)
				}
			}
			for _, r := range p.Routes {
				if !worked[r.From] {
					t.Errorf("a route leaves %s, which never works", r.From)
				}
			}
		})
	}
	if all := slices.Sorted(maps.Keys(patterns)); len(all) < 6 {
		t.Errorf("only %q", all)
	}
}

func never(string) int { return 0 }
