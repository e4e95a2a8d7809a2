package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Tracker are the issues of one repository on a forge. Errors are *ledger.ForgeError.
// Package forge describes the methods.
type Tracker interface {
	Issues(ctx context.Context, q ledger.IssueQuery) (ledger.IssueList, error)
	Issue(ctx context.Context, number int) (ledger.ForgeIssue, error)
	ChangeIssue(ctx context.Context, c ledger.IssueChange) error
	CommentIssue(ctx context.Context, c ledger.IssueComment) error
	CreateIssue(ctx context.Context, d ledger.IssueDraft) (ledger.ForgeIssue, error)
}

// Times of looks at issues.
const (
	// pollIssues is the time between two looks. While nothing changes, a look is one
	// call that GitHub does not count.
	pollIssues = time.Minute
	// closedFor is how long a closed issue stays on the list. Every later reading
	// lacks it: Snapshot.Partial. Reports may be duplicates of what was closed longer ago.
	closedFor        = 7 * 24 * time.Hour
	closedReportsFor = 30 * 24 * time.Hour
)

// forgeSource is the issues with a label: tasks, or reports of an inbox.
type forgeSource struct {
	kind  *Kind
	label string
	opts  Options
	every time.Duration // between two looks

	mu     sync.Mutex
	tag    string // of last
	last   ledger.Snapshot
	posted map[string]string // of last: ids of issues by the ids that their reports were added with
	seen   contentHash
}

// name returns what messages call the source.
func (s *forgeSource) name() string {
	if s.reports() {
		return s.kind.Name + ":" + forgeLabel + s.label
	}
	return s.kind.Name + ":" + s.label
}

// reports says that the issues are an inbox of bug reports.
func (s *forgeSource) reports() bool { return s.kind.Name == KindBugs }

// Read implements Source. What the forge refuses is an input error: no run starts with
// it. What passes is an error of the machine, and tried again.
func (s *forgeSource) Read(ctx context.Context) (ledger.Snapshot, error) {
	snapshot, err := s.list(ctx)
	if err != nil {
		return ledger.Snapshot{}, s.readError(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = contentOf(snapshot)
	return snapshot, nil
}

// readError returns the error of a reading.
func (s *forgeSource) readError(err error) error {
	e, ok := errors.AsType[*ledger.ForgeError](err)
	if !ok || e.Passes() {
		return err
	}
	return inputError("", s.name()+": "+e.Text, e.Remedy)
}

// list reads the issues, or returns those of the last reading if nothing changed.
func (s *forgeSource) list(ctx context.Context) (ledger.Snapshot, error) {
	if ctx.Err() != nil {
		return ledger.Snapshot{}, context.Cause(ctx)
	}
	tracker, err := s.opts.Tracker(ctx)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	s.mu.Lock()
	tag := s.tag
	s.mu.Unlock()
	since := closedFor
	if s.reports() {
		since = closedReportsFor
	}
	list, err := tracker.Issues(ctx, ledger.IssueQuery{Label: s.label, Since: time.Now().Add(-since), Tag: tag})
	if err != nil {
		return ledger.Snapshot{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if list.Unchanged { // since the last reading, or since one before it
		return s.last, nil
	}
	snapshot := ledger.Snapshot{Name: s.label, Path: s.name(), Partial: true}
	posted := map[string]string{}
	for _, i := range list.Issues {
		t := s.task(i)
		if s.reports() {
			id := ""
			if t, id = s.report(i, t); id != "" {
				posted[ledger.FoldID(id)] = t.ID
			}
		}
		snapshot.Tasks = append(snapshot.Tasks, t)
	}
	s.tag, s.last, s.posted = list.Tag, snapshot, posted
	return snapshot, nil
}

// contentOf identifies what a reading shows.
func contentOf(s ledger.Snapshot) contentHash {
	text, err := json.Marshal(s)
	if err != nil {
		return contentHash{} // differs from every other: it is read again
	}
	return hashOf(text)
}

// Watch implements Source. A forge that is away is a change, once, and so is its
// return.
func (s *forgeSource) Watch(ctx context.Context, changed func()) error {
	away := false
	for {
		snapshot, err := s.list(ctx)
		if ctx.Err() != nil {
			return nil
		}
		s.mu.Lock()
		differs := err == nil && contentOf(snapshot) != s.seen
		s.mu.Unlock()
		if differs || (err != nil) != away {
			changed()
		}
		away = err != nil
		if sleep.For(ctx, s.every) != nil {
			return nil
		}
	}
}

// Mark implements Source. What people did to an issue in the meantime stands: one that
// they closed is not opened, and one without the label any more is left alone.
func (s *forgeSource) Mark(ctx context.Context, marks []ledger.Marking) error {
	var gone []string
	for _, m := range marks {
		there, err := s.mark(ctx, m)
		if err != nil {
			return err
		}
		if !there {
			gone = append(gone, m.Task)
		}
	}
	if len(gone) > 0 {
		return &GoneError{File: s.name(), Tasks: gone}
	}
	return nil
}

// mark writes one status, and reports whether the task is still there.
func (s *forgeSource) mark(ctx context.Context, m ledger.Marking) (there bool, err error) {
	number, ok := issueNumber(m.Task)
	if !ok {
		return false, nil
	}
	tracker, err := s.opts.Tracker(ctx)
	if err != nil {
		return false, err
	}
	i, err := tracker.Issue(ctx, number)
	if isMissing(err) || err == nil && !hasLabel(i.Labels, s.label) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	change := s.change(i, m.Mark)
	if s.reports() {
		if by := claimOf(i); m.Mark == ledger.MarkWorking && m.Claim != nil && by != nil && by.How == ledger.ClaimAssignee && m.Claim.Yields(*by) {
			return true, &ledger.ClaimedError{Task: m.Task, Claim: *by}
		}
		atWork := hasLabel(i.Labels, forgeKind.Statuses[ledger.MarkWorking])
		change.Assign = m.Mark == ledger.MarkWorking && !i.Closed
		change.Unassign = m.Mark != ledger.MarkWorking && m.Mark != ledger.MarkDone && atWork // what a person assigned stays
	}
	err = tracker.ChangeIssue(ctx, change)
	if isMissing(err) {
		return false, nil
	}
	return true, err
}

// change returns what a status changes of an issue. Its label says which issues were
// closed here: no others are opened again.
func (s *forgeSource) change(i ledger.ForgeIssue, m ledger.Mark) ledger.IssueChange {
	done := forgeKind.Statuses[ledger.MarkDone]
	ours := hasLabel(i.Labels, done)
	c := ledger.IssueChange{Number: i.Number, Remove: statusLabels()}
	keep := ""
	switch {
	case i.Closed && !ours: // by a person
	case m == ledger.MarkDone:
		keep = done
		if !s.opts.KeepOpen {
			c.State = ledger.IssueClosed
		}
	case m == ledger.MarkOpen:
		c.State = ledger.IssueOpen
	case i.Closed:
		keep = done
	default:
		keep = forgeKind.Statuses[m]
	}
	if keep != "" {
		c.Add = []string{keep}
		c.Remove = slices.DeleteFunc(c.Remove, func(l string) bool { return l == keep })
	}
	return c
}

// Log implements Source: what became of a task is a comment on its issue. An issue that
// is gone gets none. Pauses belong to no issue.
func (s *forgeSource) Log(ctx context.Context, p ledger.Progress) error {
	number, ok := issueNumber(p.Task)
	if !ok {
		return nil
	}
	tracker, err := s.opts.Tracker(ctx)
	if err != nil {
		return err
	}
	// Another state folder counts its runs anew.
	err = tracker.CommentIssue(ctx, ledger.IssueComment{Number: number, Key: p.Key + " " + p.Time, Body: issueComment(p, s.opts.Zone)})
	if isMissing(err) {
		return nil
	}
	return err
}

// Add implements Adder: each task is an issue with the label. An issue has its number: a
// report that brings an id keeps it in its text, and one whose id an issue has already is
// not added again.
func (s *forgeSource) Add(ctx context.Context, tasks []ledger.Task) (ids []string, err error) {
	for _, t := range tasks {
		if len(t.DependsOn) > 0 {
			return nil, inputError("", "an issue cannot say what it depends on", "Add it without, or say it in its text")
		}
	}
	tracker, err := s.opts.Tracker(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		s.mu.Lock()
		there := s.posted[ledger.FoldID(t.ID)]
		s.mu.Unlock()
		if t.ID != "" && there != "" {
			ids = append(ids, there)
			continue
		}
		i, err := tracker.CreateIssue(ctx, ledger.IssueDraft{Title: t.Title, Body: issueText(t), Labels: []string{s.label}})
		if err != nil {
			return nil, err
		}
		ids = append(ids, issueID(i.Number))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tag = "" // the next reading has them, whatever the forge says of changes
	return ids, nil
}

// Owned implements Source: issues are no files.
func (*forgeSource) Owned() []string { return nil }

func isMissing(err error) bool {
	e, ok := errors.AsType[*ledger.ForgeError](err)
	return ok && e.Failure == ledger.ForgeMissing
}

func hasLabel(labels []string, name string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, name) })
}

// issueID returns the id of an issue's task, as people write it.
func issueID(number int) string { return fmt.Sprint("#", number) }

// issueNumber returns the issue of a task. ok is false for a task that is none.
func issueNumber(id string) (number int, ok bool) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(id), "#")
	number, err := strconv.Atoi(digits)
	return number, ok && err == nil && number > 0
}
