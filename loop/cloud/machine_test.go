package cloud_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/cloud"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestWayOfATask takes a task from its dispatch to its merge, one step a call.
func TestWayOfATask(t *testing.T) {
	w := newWorld(t, "", one("Task 5"))
	w.expect(cloud.AgentWorking, cloud.ReasonDispatched)
	w.expect(cloud.AgentWorking, cloud.ReasonWorking)
	w.open(ledger.CheckPending)
	w.progress.Request.Draft, w.result.Request.Draft = true, true
	w.progress.Session.Working = true
	w.expect(cloud.AgentWorking, cloud.ReasonOpened)
	before := w.read()
	w.expect(cloud.AgentWorking, cloud.ReasonOpened)
	if w.read() != before {
		t.Error("a step without a change wrote the file")
	}
	w.progress.Session.Working = false
	w.expect(cloud.NeedsVerification, cloud.ReasonHandedIn)
	w.expect(cloud.NeedsVerification, cloud.ReasonPending)
	w.result.Checks[0].State = ledger.CheckPassed
	w.expect(cloud.NeedsVerification, cloud.ReasonReady)
	w.result.Request.Mergeable = ledger.MergeableBehind
	w.expect(cloud.NeedsVerification, cloud.ReasonUpdated)
	w.expect(cloud.Completed, cloud.ReasonMerged)
	w.expect(cloud.NeedsTrigger, cloud.ReasonNext)
	w.expect(cloud.NeedsTrigger, cloud.ReasonAllDone)
	if len(w.jobs) != 1 || w.merges != 1 {
		t.Errorf("%d jobs, %d merges", len(w.jobs), w.merges)
	}
	want := `{
  "phase": "needs_trigger",
  "iteration": 1,
  "memory": [
    "iteration 1: #5 given to copilot (issue #901)",
    "iteration 1: copilot works on request #41 for #5",
    "iteration 1: copilot handed in request #41 for #5",
    "iteration 1: request #41 for #5 is no draft any more",
    "iteration 1: the base was merged into request #41 for #5",
    "iteration 1: request #41 is merged; #5 is done"
  ],
  "task_statuses": {
    "Task 5": "completed"
  }
}`
	if got := w.read(); got != want {
		t.Errorf("the file is\n%s", got)
	}
}

// handedIn returns a world whose request is judged next.
func handedIn(t *testing.T, check ledger.CheckState) *world {
	w := newWorld(t, "", one("Task 5"), one("Task 6"))
	w.expect(cloud.AgentWorking, cloud.ReasonDispatched)
	w.open(check)
	w.expect(cloud.NeedsVerification, cloud.ReasonHandedIn)
	return w
}

// TestRounds sends a request with red checks back, three times.
func TestRounds(t *testing.T) {
	w := handedIn(t, ledger.CheckFailed)
	for round := 1; round <= 3; round++ {
		o := w.expect(cloud.AgentWorking, cloud.ReasonRed)
		if o.Round != round || !slices.Equal(o.Checks, []string{"build"}) {
			t.Errorf("round %d: %+v", round, o)
		}
		// The agent takes a while to begin: its earlier end is no answer.
		w.expect(cloud.AgentWorking, cloud.ReasonOpened)
		w.now = w.now.Add(2 * time.Minute)
		head := fmt.Sprint("c1-", round)
		if round == 2 {
			head = w.result.Request.HeadCommit // it ends without a push
		}
		w.progress.Session.Ended = w.now
		w.progress.Request.HeadCommit, w.result.Request.HeadCommit = head, head
		w.expect(cloud.NeedsVerification, cloud.ReasonHandedIn)
	}
	o := w.expect(cloud.AwaitingReview, cloud.ReasonRounds)
	if !o.NeedsPerson() {
		t.Error("no person is needed")
	}
	before := w.read()
	w.expect(cloud.AwaitingReview, cloud.ReasonRounds)
	if w.read() != before {
		t.Error("waiting wrote the file")
	}
	if len(w.jobs) != 4 {
		t.Errorf("%d jobs", len(w.jobs))
	}
	// A person pushes a mended head.
	w.result.Request.HeadCommit, w.result.Checks[0].State = "theirs", ledger.CheckPassed
	w.expect(cloud.NeedsVerification, cloud.ReasonResumed)
	w.expect(cloud.Completed, cloud.ReasonMerged)
}

// TestVerdicts holds what follows from a request as it is.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*world)
		to   cloud.Phase
		why  cloud.Reason
	}{
		{"conflict", func(w *world) { w.result.Request.Mergeable = ledger.MergeableConflict }, cloud.AgentWorking, cloud.ReasonConflict},
		{"session failed", func(w *world) { w.result.Session = cloud.Session{Failed: true, Ended: w.now} }, cloud.AgentWorking, cloud.ReasonBroken},
		{"agent works again", func(w *world) { w.result.Session.Working = true }, cloud.AgentWorking, cloud.ReasonOpened},
		{"merged by a person", func(w *world) { w.result.Request.State = ledger.RequestMerged }, cloud.Completed, cloud.ReasonMerged},
		{"closed by a person", func(w *world) { w.result.Request.State = ledger.RequestClosed }, cloud.NeedsTrigger, cloud.ReasonRequestRefused},
		{"no checks yet", func(w *world) { w.result.Checks = nil }, cloud.NeedsVerification, cloud.ReasonNoChecksYet},
		{"no checks", func(w *world) { w.result.Checks = nil; w.now = w.now.Add(time.Hour) }, cloud.AwaitingReview, cloud.ReasonUnproved},
		{"check without end", func(w *world) {
			w.result.Checks[0].State = ledger.CheckPending
			w.now = w.now.Add(7 * time.Hour)
		}, cloud.AwaitingReview, cloud.ReasonSlow},
		{"workflow needs approval", func(w *world) { w.result.Approval = []string{"CI"} }, cloud.AwaitingReview, cloud.ReasonApproval},
		{"changes requested", func(w *world) { w.result.ChangesRequested = true }, cloud.AwaitingReview, cloud.ReasonChanges},
		{"not allowed", func(w *world) { w.opts.AllowMerge = false }, cloud.AwaitingReview, cloud.ReasonYours},
		{"review required", func(w *world) { w.result.Request.Mergeable = ledger.MergeableBlocked }, cloud.AwaitingReview, cloud.ReasonBlocked},
		{"not known yet", func(w *world) { w.result.Request.Mergeable = ledger.MergeableUnknown }, cloud.NeedsVerification, cloud.ReasonUnknown},
		{"neutral check", func(w *world) { w.result.Checks[0].State = ledger.CheckNeutral }, cloud.Completed, cloud.ReasonMerged},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := handedIn(t, ledger.CheckPassed)
			c.make(w)
			w.expect(c.to, c.why)
			if merged := w.merges > 0; merged != (c.name == "neutral check") {
				t.Errorf("merged: %v", merged)
			}
		})
	}
}

// TestYours completes a task whose request a person merges.
func TestYours(t *testing.T) {
	w := handedIn(t, ledger.CheckPassed)
	w.opts.AllowMerge = false
	o := w.expect(cloud.AwaitingReview, cloud.ReasonYours)
	if want := "needs_verification → awaiting_review: request #41 for #5 is green and yours to merge: allow_merge is off\nhttps://forge.example/o/r/pull/41"; o.String() != want {
		t.Errorf("line %q", o)
	}
	w.result.Request.State = ledger.RequestMerged
	w.expect(cloud.Completed, cloud.ReasonMerged)
	if w.merges != 0 {
		t.Error("merged")
	}
}

// TestSetAside holds the ends of a task that is not done, and how a person takes
// it up again.
func TestSetAside(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*world)
		why  cloud.Reason
	}{
		{"refused", func(w *world) { w.progress.Issue = cloud.ClosedRefused }, cloud.ReasonIssueRefused},
		{"silent", func(w *world) { w.now = w.now.Add(7 * time.Hour) }, cloud.ReasonSilent},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, "", one("Task 5"), ledger.Task{ID: "Task 6", DependsOn: []string{"task 5"}, Mark: ledger.MarkOpen})
			w.expect(cloud.AgentWorking, cloud.ReasonDispatched)
			c.make(w)
			w.expect(cloud.NeedsTrigger, c.why)
			o := w.expect(cloud.NeedsTrigger, cloud.ReasonStuck)
			if !o.NeedsPerson() {
				t.Error("no person is needed")
			}
			w.write(strings.Replace(w.read(), `"failed"`, `"pending"`, 1))
			w.progress.Issue = cloud.StillOpen
			w.expect(cloud.AgentWorking, cloud.ReasonDispatched)
			if len(w.jobs) != 2 {
				t.Errorf("%d jobs", len(w.jobs))
			}
		})
	}
}

// TestNoRequest bounds the jobs for a task that come to nothing. The program
// that the format comes from opened 28 issues for one task.
func TestNoRequest(t *testing.T) {
	w := newWorld(t, "", one("impl-1"))
	for attempt := 1; attempt <= 3; attempt++ {
		w.progress.Issue = cloud.StillOpen
		w.expect(cloud.AgentWorking, cloud.ReasonDispatched)
		w.progress.Issue = cloud.ClosedDone
		want := cloud.ReasonNoRequest
		if attempt == 3 {
			want = cloud.ReasonGaveUp
		}
		w.expect(cloud.NeedsTrigger, want)
	}
	w.expect(cloud.NeedsTrigger, cloud.ReasonStuck)
	if len(w.jobs) != 3 {
		t.Errorf("%d jobs", len(w.jobs))
	}
}

// TestUnassigned tells a person of an issue that the agent does not have, and
// goes on once it does.
func TestUnassigned(t *testing.T) {
	w := newWorld(t, "", one("impl-1"))
	w.expect(cloud.AgentWorking, cloud.ReasonDispatched)
	w.progress.Assigned = false
	w.expect(cloud.AgentWorking, cloud.ReasonWorking)
	w.now = w.now.Add(20 * time.Minute)
	if o := w.expect(cloud.AgentWorking, cloud.ReasonUnassigned); !o.NeedsPerson() {
		t.Error("no person is needed")
	}
	w.progress.Assigned = true
	w.expect(cloud.AgentWorking, cloud.ReasonWorking)
}

// TestOthersEdit keeps what somebody writes while a step runs.
func TestOthersEdit(t *testing.T) {
	w := newWorld(t, "{\"phase\": \"needs_trigger\", \"iteration\": 4}\n", one("impl-1"))
	theirs := "{\"phase\": \"needs_trigger\", \"iteration\": 4, \"memory\": [\"mine\"]}\n"
	w.between = func() { w.write(theirs) }
	_, err := w.tick()
	var changed *cloud.ChangedError
	if !errors.As(err, &changed) {
		t.Fatalf("error %v", err)
	}
	if w.read() != theirs {
		t.Errorf("their text became %s", w.read())
	}
	w.expect(cloud.AgentWorking, cloud.ReasonDispatched)
	if len(w.jobs) != 1 {
		t.Errorf("%d jobs", len(w.jobs))
	}
	if got, want := w.read(), "{\"phase\": \"agent_working\", \"iteration\": 5, \"current_task_id\": \"impl-1\", \"issue_number\": 901, "; !strings.HasPrefix(got, want) || !strings.Contains(got, `"mine", "iteration 5`) {
		t.Errorf("the file is %s", got)
	}
}

// TestNewFileTaken does not replace a file that appeared during the step.
func TestNewFileTaken(t *testing.T) {
	w := newWorld(t, "", one("impl-1"))
	theirs := `{"phase":"completed","iteration":9}`
	w.between = func() { w.write(theirs) }
	_, err := w.tick()
	var changed *cloud.ChangedError
	if !errors.As(err, &changed) || w.read() != theirs {
		t.Errorf("%v, %s", err, w.read())
	}
}

// TestFailure writes nothing after an error of the forge.
func TestFailure(t *testing.T) {
	w := handedIn(t, ledger.CheckPassed)
	before := w.read()
	w.err = &ledger.ForgeError{Failure: ledger.ForgeAway, Text: "503"}
	if _, err := w.tick(); err == nil || w.read() != before {
		t.Errorf("%v, %s", err, w.read())
	}
	w.expect(cloud.Completed, cloud.ReasonMerged)
}

// TestOverlap makes a second step wait for the first one.
func TestOverlap(t *testing.T) {
	w := newWorld(t, "", one("impl-1"))
	done := make(chan struct{})
	w.between = func() {
		go func() { // waits for the first one
			defer close(done)
			if o, err := w.tick(); err != nil || o.Reason != cloud.ReasonWorking {
				t.Errorf("second tick: %v, %v", o, err)
			}
		}()
	}
	w.expect(cloud.AgentWorking, cloud.ReasonDispatched)
	<-done
	if len(w.jobs) != 1 {
		t.Errorf("%d jobs", len(w.jobs))
	}
}

// TestReasons holds the table of reasons: each has a text, whose words in braces
// are all replaced.
func TestReasons(t *testing.T) {
	for _, why := range cloud.Reasons() {
		o := cloud.Outcome{From: cloud.NeedsTrigger, To: cloud.AgentWorking, Reason: why, Task: "Task 5", Issue: 7, Request: 9, Agent: "copilot", Checks: []string{"a", "b", "c", "d\n\x1b[31m"}, Round: 1, Of: 3}
		if text := o.Text(); text == "" || strings.ContainsAny(text, "{}\n\x1b") {
			t.Errorf("%s: %q", why, text)
		}
	}
}

func TestPermissionsKept(t *testing.T) {
	w := newWorld(t, `{"phase":"needs_trigger"}`, one("impl-1"))
	if err := os.Chmod(w.file, 0o600); err != nil {
		t.Fatal(err)
	}
	w.expect(cloud.AgentWorking, cloud.ReasonDispatched)
	if info, err := os.Stat(w.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
