package cloud_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/cloud"
	"github.com/nightporter/nightporter/loop/ledger"
)

// recordedPairs is how many steps testdata/recorded has.
const recordedPairs = 26

// raw is a state file without the knowledge of package cloud.
type raw struct {
	Phase    string            `json:"phase"`
	Task     string            `json:"current_task_id"`
	Issue    int               `json:"issue_number"`
	Request  int               `json:"pr_number"`
	Memory   []string          `json:"memory"`
	Statuses map[string]string `json:"task_statuses"`
	Pending  json.RawMessage   `json:"pending_merge_issues"`
	Tracked  []struct {
		Request int `json:"pr_number"`
	} `json:"tracked_prs"`
}

func parseRaw(t *testing.T, text string) raw {
	t.Helper()
	var r raw
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func readRecorded(t *testing.T, n int, when string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recorded", fmt.Sprintf("%02d.%s.json", n, when)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRecordedSteps reaches each recorded step of another program by calls of
// Tick, from the recorded bytes: the same phases, and nothing lost of the file.
func TestRecordedSteps(t *testing.T) {
	for n := 1; n <= recordedPairs; n++ {
		before, after := readRecorded(t, n, "before"), readRecorded(t, n, "after")
		from, to := parseRaw(t, before), parseRaw(t, after)
		t.Run(fmt.Sprintf("%02d %s to %s", n, from.Phase, to.Phase), func(t *testing.T) {
			w := newWorld(t, before)
			calls := 1
			newIssue := from.Issue != to.Issue && to.Issue != 0
			switch from.Phase + " " + to.Phase {
			case "needs_trigger needs_trigger": // no task is left
			case "needs_trigger agent_working":
				w.tasks = []ledger.Task{one(to.Task)}
			case "agent_working needs_trigger":
				w.progress.Issue = cloud.ClosedDone
			case "agent_working agent_working":
				switch {
				case newIssue && from.Request == 0: // the agent ended without a request; the next job follows
					w.progress.Issue, w.tasks, calls = cloud.ClosedDone, []ledger.Task{one(to.Task)}, 2
				case newIssue: // merged in the same call
					w.open(ledger.CheckPassed)
					w.tasks, calls = []ledger.Task{one(to.Task)}, 4
				case to.Request != from.Request: // a draft that the agent still works on
					w.open(ledger.CheckPending)
					w.progress.Session.Working = true
				}
			case "agent_working needs_verification":
				w.open(ledger.CheckPending)
			case "needs_verification needs_verification":
				w.open(ledger.CheckPending)
			case "needs_verification needs_trigger":
				w.open(ledger.CheckPassed)
				calls = 2 // merged, then on
			case "needs_verification agent_working":
				w.open(ledger.CheckPassed)
				w.tasks, calls = []ledger.Task{one("another")}, 3 // merged, on, dispatched
			default:
				t.Fatal("no scenario")
			}
			for range calls {
				if _, err := w.tick(); err != nil {
					t.Fatal(err)
				}
			}
			got := parseRaw(t, w.read())
			if got.Phase != to.Phase {
				t.Fatalf("phase %s", got.Phase)
			}
			if !slices.Equal(got.Memory[:len(from.Memory)], from.Memory) {
				t.Error("the memory lost something")
			}
			if string(got.Pending) != string(from.Pending) {
				t.Error("pending_merge_issues changed")
			}
			for id, status := range from.Statuses {
				if id != to.Task && got.Statuses[id] != status {
					t.Errorf("status of %s: %q", id, got.Statuses[id])
				}
			}
			for _, r := range from.Tracked {
				if r.Request != from.Request && !slices.Contains(got.Tracked, r) {
					t.Errorf("request %d is tracked no more", r.Request)
				}
			}
			if (from.Phase == to.Phase && !newIssue && from.Request == to.Request) && from.Phase == "needs_trigger" && w.read() != before {
				t.Error("a step without a change wrote the file")
			}
		})
	}
}

// TestHundredsOfCalls holds what a finished list meets most: nothing happens,
// and nothing is written.
func TestHundredsOfCalls(t *testing.T) {
	text := readRecorded(t, 9, "before")
	w := newWorld(t, text)
	stat, err := os.Stat(w.file)
	if err != nil {
		t.Fatal(err)
	}
	for range 400 {
		w.expect(cloud.NeedsTrigger, cloud.ReasonAllDone)
	}
	now, err := os.Stat(w.file)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(stat, now) || !stat.ModTime().Equal(now.ModTime()) || w.read() != text {
		t.Error("the file was written")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(w.file), "*")); len(left) > 1 {
		t.Errorf("left behind: %s", strings.Join(left, ", "))
	}
}
