package bot

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestStatusWave: a run on bug reports says how far its wave is, and afterwards what its
// waves came to.
func TestStatusWave(t *testing.T) {
	now := time.Date(2026, 11, 26, 2, 10, 0, 0, time.UTC)
	report := func(id string, status ledger.Status, gate ledger.Gate, failed string) loop.TaskState {
		return loop.TaskState{Task: ledger.Task{ID: id, Title: "Title " + id, Report: &ledger.Report{}}, Status: status, Aside: gate, LastFail: failed}
	}
	s := loop.State{Project: loop.Project{Name: "shop", Tasks: loop.NewTaskList(
		report("B1", ledger.Done, "", ""), report("B2", ledger.Blocked, "", "red"), report("B3", ledger.Ready, "", "red"), report("B4", ledger.Skipped, "", ""),
		report("B5", ledger.Ready, "", "red"), report("B6", ledger.Ready, "", ""), report("B7", ledger.Skipped, ledger.GateTestable, ""), report("B8", ledger.Skipped, ledger.GateDuplicate, ""),
	)}}
	r := &loop.Run{ID: "r14", State: ledger.RunRunning, Started: now.Add(-time.Hour), LastWave: 2, WavesNow: 1}
	r.Settings.Source.Kind, r.Settings.MaxWaves = ledger.SourceBugs, 5
	s.Project.Run = r
	sorted := &loop.Wave{
		N: 2, Sorted: true, Batch: []string{"b1", "b2", "b3", "b4", "b5", "b6"}, Tried: []string{"B1", "B2", "B3"}, Commits: []loop.WaveCommit{{Task: "B1"}},
	}
	says := func(why, want string) {
		t.Helper()
		if got := Status(s, now).Text(0); !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("%s lacks %q:\n%s", why, want, got)
		}
	}
	r.Wave = sorted // B5 failed in an earlier wave, and its turn comes
	says("at work", "wave 2 of at most 5 · 4 of 6 · 1 fixed, 2 failed, 1 settled without a fix · set aside 2")
	way, ok := WaveUnderWay(s)
	if want := (WaveNow{Wave: 2, Of: 5, Phase: "fixing", Batch: 6, Fixed: 1, Failed: 2, Others: 1, Aside: 2}); !ok || way != want {
		t.Errorf("it is %+v, want %+v", way, want)
	}
	r.Wave = &loop.Wave{N: 6, Sorted: true, Batch: []string{"b6"}} // resumed: limits count anew
	says("just sorted", "wave 6 of at most 9 · 0 of 1 · set aside 2")
	r.Wave, r.Settings.MaxWaves = &loop.Wave{N: 2}, 0
	says("being sorted", "wave 2 · the reports are being sorted")
	r.Wave = &loop.Wave{N: 2, Sorted: true, Asked: make([]ledger.AskedReport, 3)}
	says("with the triager", "wave 2 · the triager reads 3 unclear reports")
	r.Wave, r.State, r.Ended, r.EndedAt = nil, ledger.RunOver, &ledger.RunEnded{Reason: ledger.ReasonDone}, now
	r.Waves = []ledger.WaveEnded{
		{Wave: 1, Passed: make([]ledger.WaveReport, 2), Failed: make([]ledger.WaveReport, 1)},
		{Wave: 2, Passed: make([]ledger.WaveReport, 1)},
	}
	says("over", "2 waves · 3 of 4 fixed · set aside 2")
	if m := Status(s, now); m.Twins() != "/tasks · /waves" {
		t.Errorf("offers %s", m.Twins())
	}
	r.LastWave = 60
	says("long", "60 waves, of the last 2 · 3 of 4 fixed · set aside 2")
	r.Waves = nil
	if got := Status(s, now).Text(0); strings.Contains(got, "wave") {
		t.Errorf("a run without waves:\n%s", got)
	}
}
