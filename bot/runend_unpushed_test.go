package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestEndedUnpushed gives no check mark to a run that a person stopped before its fixes
// were pushed, and says how they are.
func TestEndedUnpushed(t *testing.T) {
	green := true
	e := ledger.RunEnded{Reason: ledger.ReasonDone, Done: 2, Total: 2, Exit: ledger.ExitLimit, Branch: "nightporter/shop/r1", Tip: "c2", FinalOK: &green, Unpushed: []string{"b1", "b2"}}
	run := &loop.Run{
		ID: "r1", State: ledger.RunOver, StopNow: true, Commits: 2, Tip: "c2", Ended: &e,
		Settings: ledger.Settings{Project: "shop", Push: ledger.PushEnd, Requests: ledger.Requests{PerTask: true, Apart: true}},
		Base:     ledger.Base{Commit: "c0", Branch: "nightporter/shop/r1"},
		Made:     []loop.MadeCommit{{Task: "b1", Commit: "c1"}, {Task: "b2", Commit: "c2"}},
	}
	s := loop.State{Project: loop.Project{Name: "shop", Run: run}}
	m := bot.Ended(s, e, time.Date(2026, 11, 20, 6, 12, 0, 0, time.UTC))
	text := m.Text(38)
	if want := "! shop 2/2 done, 2 not pushed"; !strings.HasPrefix(m.First(), want) {
		t.Errorf("the first line is %q, want %q", m.First(), want)
	}
	if !bot.CanBegin(s) {
		t.Error("/run would refuse to start a run that pushes them")
	}
	for _, want := range []string{"2 reports not pushed", "/run pushes", "/run shop"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}
