package request

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestOwnUnknown tells commits of nightporter whose author the forge does not know
// from those of strangers.
func TestOwnUnknown(t *testing.T) {
	b := open().Branch("r1")
	for name, c := range map[string]struct {
		view ledger.RequestView
		n    int
		own  bool
	}{
		"all may write":           {ledger.RequestView{Writers: true}, 0, false},
		"nobody knows":            {ledger.RequestView{}, 1, false},
		"a stranger":              {ledger.RequestView{Strangers: []string{"x1"}}, 1, false},
		"ours":                    {ledger.RequestView{Strangers: []string{"c0", "c1"}}, 2, true},
		"ours below a stranger's": {ledger.RequestView{Strangers: []string{"c1", "x1"}}, 2, true},
	} {
		if s := b.StandingOf(c.view); s.Strangers != c.n || s.OwnUnknown != c.own {
			t.Errorf("%s: %d strangers, ours %v", name, s.Strangers, s.OwnUnknown)
		}
	}
	if s := (Branch{}).StandingOf(ledger.RequestView{Strangers: []string{""}}); s.OwnUnknown {
		t.Errorf("a branch that was never pushed has commits: %+v", s)
	}
}
