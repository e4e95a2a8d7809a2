package cloud_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/cloud"
	"github.com/nightporter/nightporter/loop/ledger"
)

// noon is the time at which tests begin.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is an agent within the test, with a state file and a clock.
type world struct {
	t     *testing.T
	file  string
	now   time.Time
	tasks []ledger.Task
	opts  cloud.Policy

	jobs     []cloud.Job // dispatched, each key once
	number   int         // of the last issue
	progress cloud.Progress
	result   cloud.Result
	merges   int
	err      error  // of the next call
	between  func() // runs once, after the next call
}

func newWorld(t *testing.T, text string, tasks ...ledger.Task) *world {
	w := &world{t: t, file: filepath.Join(t.TempDir(), ".wreck-it-state.json"), now: noon, tasks: tasks, number: 900}
	w.opts = cloud.Policy{Agent: "copilot", AllowMerge: true}
	w.progress = cloud.Progress{Assigned: true}
	if text != "" {
		w.write(text)
	}
	return w
}

func (w *world) write(text string) {
	w.t.Helper()
	if err := os.WriteFile(w.file, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour) // nobody is in the middle of writing it
	if err := os.Chtimes(w.file, old, old); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read() string {
	w.t.Helper()
	text, err := os.ReadFile(w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

func (w *world) tick() (cloud.Outcome, error) {
	return cloud.Tick(w.t.Context(), cloud.Options{
		File: w.file, Agent: w, Policy: w.opts,
		Tasks: func(context.Context) ([]ledger.Task, error) { return w.tasks, nil },
		Now:   func() time.Time { return w.now },
	})
}

// expect ticks once and compares phase and reason.
func (w *world) expect(to cloud.Phase, why cloud.Reason) cloud.Outcome {
	w.t.Helper()
	o, err := w.tick()
	if err != nil {
		w.t.Fatal(err)
	}
	if o.To != to || o.Reason != why {
		w.t.Fatalf("%s: %s, %s; want %s, %s", o, o.To, o.Reason, to, why)
	}
	return o
}

// open hands in a request with one check.
func (w *world) open(check ledger.CheckState) {
	r := ledger.Request{Number: 41, URL: "https://forge.example/o/r/pull/41", State: ledger.RequestOpen, HeadCommit: "c1", Mergeable: ledger.MergeableClean}
	w.progress.Request = &r
	w.result = cloud.Result{Request: r, Checks: []ledger.ForgeCheck{{Name: "build", State: check}}}
}

func (w *world) answer() error {
	err := w.err
	w.err = nil
	if w.between != nil {
		w.between()
		w.between = nil
	}
	return err
}

func (w *world) Dispatch(_ context.Context, j cloud.Job) (cloud.Dispatched, error) {
	at := slices.IndexFunc(w.jobs, func(o cloud.Job) bool { return o.Key == j.Key })
	if at < 0 {
		at = len(w.jobs)
		w.jobs = append(w.jobs, j)
	}
	return cloud.Dispatched{Issue: w.number + 1 + at, Prompt: j.Prompt(), At: w.now}, w.answer()
}

func (w *world) Poll(context.Context, cloud.Work) (cloud.Progress, error) {
	return w.progress, w.answer()
}

func (w *world) Fetch(context.Context, cloud.Work) (cloud.Result, error) {
	return w.result, w.answer()
}

func (w *world) Finish(context.Context, cloud.Merge) (cloud.Result, error) {
	r := &w.result.Request
	switch {
	case r.State == ledger.RequestMerged:
	case r.Draft:
		r.Draft = false
	case r.Mergeable == ledger.MergeableBehind:
		r.Mergeable, r.HeadCommit = ledger.MergeableClean, "merged-base"
	default:
		r.State = ledger.RequestMerged
		w.merges++
	}
	return w.result, w.answer()
}

func one(id string) ledger.Task { return ledger.Task{ID: id, Title: "Do it", Mark: ledger.MarkOpen} }
