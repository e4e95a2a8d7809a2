package report_test

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestSessions checks that entries applied one by one give the same sessions as
// the digest, and that a planned session that the state does not contain is
// omitted.
func TestSessions(t *testing.T) {
	whole, tale := exampleNight(t)
	var seen report.Sessions
	live := 0
	for _, r := range tale.All() {
		e, err := r.Entry()
		if err != nil {
			t.Fatal(err)
		}
		if e.Stream == ledger.SharedStream {
			continue
		}
		seen.Apply(e)
		p, is := e.Body.(ledger.SessionPlanned)
		if !is || p.Kind != ledger.KindAgent {
			continue
		}
		held := loop.State{}
		held.Project.Sessions = []loop.Session{{ID: e.Session}}
		now := seen.In(held)
		last := now[len(now)-1]
		if !last.Live || last.ID != e.Session || last.Hat != p.Hat || !last.End.IsZero() || !last.Start.Equal(e.Time) {
			t.Errorf("in hand is %+v, planned was %s as %s", last, e.Session, p.Hat)
		}
		if none := seen.In(loop.State{}); len(none) != len(now)-1 {
			t.Errorf("%d sessions, and %d where %s is not in hand", len(now), len(none), e.Session)
		}
		live++
	}
	all := seen.In(tale.State)
	if len(all) != len(whole.Sessions) || live < len(all) || live == 0 {
		t.Fatalf("%d sessions, %d were in hand, the digest has %d", len(all), live, len(whole.Sessions))
	}
	for n, x := range whole.Sessions {
		if y := all[n]; y.ID != x.ID || y.Hat != x.Hat || !y.Start.Equal(x.Start) || !y.End.Equal(x.End) || y.End.Sub(y.Start) < time.Second || y.Failed != x.Failed || y.CutOff != x.CutOff {
			t.Errorf("%+v, the digest has %+v", y, x)
		}
	}
}
