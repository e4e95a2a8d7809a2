package engine

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// lifter is a repository that lifts commits.
type lifter struct {
	Repository
	onto []string
}

func (l *lifter) Lift(_ context.Context, c ledger.LiftCommit) (ledger.Lifted, error) {
	l.onto = append(l.onto, c.Onto)
	return ledger.Lifted{Tip: "lifted", Onto: c.Onto}, nil
}

// bases is a remote with some branches.
type bases struct {
	Remote
	has   map[string]string
	plain bool // it has no requests
}

// trunked is a forge whose repository has the default branch trunk.
type trunked struct{ Forge }

func (trunked) Info(context.Context) (ledger.ForgeInfo, error) {
	return ledger.ForgeInfo{DefaultBranch: "trunk"}, nil
}

func (l *bases) Open(context.Context) (Remote, Forge, error) {
	if l.plain {
		return l, nil, nil
	}
	return l, trunked{}, nil
}

func (l *bases) Branches(_ context.Context, names ...string) (map[string]string, error) {
	has := map[string]string{}
	for _, name := range names {
		if tip := l.has[name]; tip != "" {
			has[name] = tip
		}
	}
	return has, nil
}

func (l *bases) Fetch(ctx context.Context, _ string, names ...string) (map[string]string, error) {
	return l.Branches(ctx, names...)
}

// TestLiftBase finds the base that a request will ask to be merged into, as the remote
// has it; where there is none it says why, which is no failure.
func TestLiftBase(t *testing.T) {
	for name, c := range map[string]struct {
		plain      bool
		base, head string
		onto       string
		why        string
	}{
		"the setting":               {base: "next", head: "main", onto: "n1"},
		"the branch of the person":  {head: "main", onto: "m1"},
		"one that the remote lacks": {head: "mine", onto: "t1"},
		"without a forge":           {plain: true, head: "main", onto: "m1"},
		"a setting that is gone":    {base: "old", why: "the remote has no branch old"},
		"nothing that says it":      {plain: true, why: "it is not known what the remote merges into: base is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &bases{plain: c.plain, has: map[string]string{"main": "m1", "next": "n1", "trunk": "t1"}}
			got, err := lift(t.Context(), Ports{Repository: &lifter{}, Publisher: l}, ledger.EffectLift{Run: "r1-b1", N: 2, Lift: ledger.LiftCommit{Commit: "c1", Base: c.base, Head: c.head}})
			if err != nil {
				t.Fatal(err)
			}
			want := loop.LiftFinished{Run: "r1-b1", N: 2, Lifted: ledger.Lifted{Why: c.why}}
			if c.onto != "" {
				want.Lifted = ledger.Lifted{Tip: "lifted", Onto: c.onto}
			}
			if diff := cmp.Diff(loop.InputBody(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	l := &lifter{}
	if _, err := lift(t.Context(), Ports{Repository: l}, ledger.EffectLift{Lift: ledger.LiftCommit{Onto: "c9", Undo: true}}); err != nil || cmp.Diff([]string{"c9"}, l.onto) != "" {
		t.Errorf("a commit that is named is asked for: %v, %v", l.onto, err)
	}
}
