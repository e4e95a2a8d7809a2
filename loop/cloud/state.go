package cloud

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/nearest"
)

// Phase is the step of a task's way through a cloud agent. Its values stand in
// state files.
type Phase string

// Phases, in the order in which a task passes them.
const (
	NeedsTrigger      Phase = "needs_trigger"      // no task is in hand
	AgentWorking      Phase = "agent_working"      // an agent has it
	NeedsVerification Phase = "needs_verification" // its request is judged
	AwaitingReview    Phase = "awaiting_review"    // its request waits for a person
	Completed         Phase = "completed"          // its request is merged
)

var phases = []string{string(NeedsTrigger), string(AgentWorking), string(NeedsVerification), string(AwaitingReview), string(Completed)}

// Status is what became of a task, in state files.
type Status string

// Statuses of tasks. A task without one is pending.
const (
	StatusPending    Status = "pending"
	StatusInProgress Status = "inprogress"
	StatusCompleted  Status = "completed"
	StatusFailed     Status = "failed" // set aside; a person sets it to pending again
)

// State is what a state file says. Other keys of the file are kept, and nothing
// depends on them.
type State struct {
	Phase     Phase
	Iteration int // counts dispatched jobs

	// The task in hand, or the last one.
	Task       string
	Issue      int // of the forge; 0 = none
	Request    int // number of the pull request; 0 = none
	RequestURL string
	Prompt     string // what the agent was told

	Memory          []string // lines for people and later prompts; grows only
	Tracked         []TrackedRequest
	ReviewRequested *bool
	Statuses        map[string]Status
	Own             Own
}

// TrackedRequest is a pull request that a program which shares the file takes
// care of.
type TrackedRequest struct {
	Request int
	Task    string
	Issue   int // 0 = none
}

// Own is what only nightporter keeps in the file, under the key "nightporter".
// It is about the task in hand. Another program may drop it: bounds begin anew
// then.
type Own struct {
	Task     string    // that the rest is about
	Attempts int       // jobs that were dispatched for it
	Fixes    int       // rounds in which its request was sent back
	Head     string    // commit of the request that was sent back last
	Asked    time.Time // when it was sent back, by the agent's clock; only later sessions answer that
	Ref      string    // the agent's own name of the job; "" where Issue is
	Since    time.Time // when the present wait began
	Waiting  string    // code of the Reason why a person is needed; "" = none
}

// Keys of a state file, in the order in which wreck-it writes them.
const (
	keyPhase     = "phase"
	keyIteration = "iteration"
	keyTask      = "current_task_id"
	keyIssue     = "issue_number"
	keyRequest   = "pr_number"
	keyURL       = "pr_url"
	keyPrompt    = "last_prompt"
	keyMemory    = "memory"
	keyTracked   = "tracked_prs"
	keyReview    = "review_requested"
	keyPending   = "pending_merge_issues"
	keyStatuses  = "task_statuses"
	keyOwn       = "nightporter"
)

var keys = []string{keyPhase, keyIteration, keyTask, keyIssue, keyRequest, keyURL, keyPrompt, keyMemory, keyTracked, keyReview, keyPending, keyStatuses, keyOwn}

// newState is the text of a state file that is not there yet.
const newState = "{\n  \"phase\": \"needs_trigger\",\n  \"iteration\": 0\n}"

// ownJSON is Own in a state file.
type ownJSON struct {
	Task     string    `json:"task"`
	Attempts int       `json:"attempts"`
	Fixes    int       `json:"fixes"`
	Head     string    `json:"head"`
	Asked    time.Time `json:"asked"`
	Ref      string    `json:"ref"`
	Since    time.Time `json:"since"`
	Waiting  string    `json:"waiting"`
}

// reader reads the values of a document and keeps the first problem.
type reader struct {
	d   *document
	err error
}

// into decodes the value of a key, if it is there and not null.
func (r *reader) into(v any, want string, n node, name string) {
	value, ok := n.find(name)
	if !ok || r.err != nil || r.d.kind(value) == 'n' {
		return
	}
	if err := json.Unmarshal(r.d.text[value.start:value.end], v); err != nil {
		r.fail(value, fmt.Sprintf("%s: expected %s", name, want))
	}
}

// count decodes a number that is not negative.
func (r *reader) count(n node, name string) int {
	var x int
	r.into(&x, "a whole number", n, name)
	if x < 0 {
		value, _ := n.find(name)
		r.fail(value, fmt.Sprintf("%s = %d is negative", name, x))
	}
	return x
}

func (r *reader) text(n node, name string) string {
	var s string
	r.into(&s, "a text in quotes", n, name)
	return s
}

func (r *reader) fail(n node, text string) {
	if r.err == nil {
		r.err = r.d.problem(n.start, text)
	}
}

// state reads the typed part of the document.
func (d *document) state() (State, error) {
	r := &reader{d: d}
	s := State{
		Phase: Phase(r.text(d.root, keyPhase)), Iteration: r.count(d.root, keyIteration),
		Task: r.text(d.root, keyTask), Issue: r.count(d.root, keyIssue),
		Request: r.count(d.root, keyRequest), RequestURL: r.text(d.root, keyURL), Prompt: r.text(d.root, keyPrompt),
		Statuses: map[string]Status{},
	}
	if phase, ok := d.at(keyPhase); !ok {
		r.fail(d.root, `the key "phase" is missing; expected one of `+strings.Join(phases, ", "))
	} else if !slices.Contains(phases, string(s.Phase)) {
		text := fmt.Sprintf("phase: %q is not one of %s", s.Phase, strings.Join(phases, ", "))
		if near := nearest.Of(string(s.Phase), phases); near != "" {
			text += fmt.Sprintf("; meant %q?", near)
		}
		r.fail(phase, text)
	}
	r.into(&s.Memory, "a list of texts", d.root, keyMemory)
	r.into(&s.ReviewRequested, "true or false", d.root, keyReview)
	r.into(&s.Statuses, "an object of texts", d.root, keyStatuses)
	if tracked, ok := d.at(keyTracked); ok && d.kind(tracked) != 'n' {
		if d.kind(tracked) != '[' {
			r.fail(tracked, keyTracked+": expected a list of objects")
		}
		for _, item := range tracked.items {
			if d.kind(item) != '{' {
				r.fail(item, keyTracked+": expected an object")
			}
			s.Tracked = append(s.Tracked, TrackedRequest{Request: r.count(item, keyRequest), Task: r.text(item, "task_id"), Issue: r.count(item, keyIssue)})
		}
	}
	var own ownJSON
	r.into(&own, "nightporter's own object", d.root, keyOwn)
	s.Own = Own(own)
	return s, r.err
}

// with returns the document with what differs between was, which it holds, and
// next. Nothing else changes.
func (d *document) with(was, next State) *document {
	scalar := func(changed bool, key, json string, keep bool) {
		switch {
		case !changed:
		case keep:
			d = d.set(json, after(key), key)
		default:
			d = d.remove(key)
		}
	}
	scalar(was.Phase != next.Phase, keyPhase, quote(string(next.Phase)), true)
	scalar(was.Iteration != next.Iteration, keyIteration, number(next.Iteration), true)
	scalar(was.Task != next.Task, keyTask, quote(next.Task), next.Task != "")
	scalar(was.Issue != next.Issue, keyIssue, number(next.Issue), next.Issue != 0)
	scalar(was.Request != next.Request, keyRequest, number(next.Request), next.Request != 0)
	scalar(was.RequestURL != next.RequestURL, keyURL, quote(next.RequestURL), next.RequestURL != "")
	scalar(was.Prompt != next.Prompt, keyPrompt, quote(next.Prompt), next.Prompt != "")
	d = d.withMemory(next.Memory[len(was.Memory):])
	d = d.withTracked(was.Tracked, next.Tracked)
	if next.ReviewRequested == nil {
		scalar(was.ReviewRequested != nil, keyReview, "", false)
	} else {
		scalar(was.ReviewRequested == nil || *was.ReviewRequested != *next.ReviewRequested, keyReview, fmt.Sprint(*next.ReviewRequested), true)
	}
	d = d.withStatuses(was.Statuses, next.Statuses)
	return d.withOwn(was.Own, next.Own)
}

// after returns the keys that stand behind a key.
func after(key string) []string { return keys[slices.Index(keys, key)+1:] }

// container makes an empty list or object at a key that is missing or null.
func (d *document) container(empty, key string) *document {
	if n, ok := d.at(key); ok && d.kind(n) == empty[0] {
		return d
	}
	return d.set(empty, after(key), key)
}

func (d *document) withMemory(lines []string) *document {
	for _, line := range lines {
		d = d.container("[]", keyMemory).append(quote(line), keyMemory)
	}
	return d
}

func (d *document) withTracked(was, next []TrackedRequest) *document {
	left := slices.Clone(was)
	for i := len(left) - 1; i >= 0; i-- {
		if !slices.Contains(next, left[i]) {
			left = slices.Delete(left, i, i+1)
			if len(left) == 0 {
				d = d.remove(keyTracked)
			} else {
				d = d.removeItem(i, keyTracked)
			}
		}
	}
	for _, t := range next {
		if slices.Contains(left, t) {
			continue
		}
		issue := ""
		if t.Issue != 0 {
			issue = number(t.Issue)
		}
		d = d.container("[]", keyTracked)
		d = d.append(d.object(2, [2]string{keyRequest, number(t.Request)}, [2]string{"task_id", quote(t.Task)}, [2]string{keyIssue, issue}), keyTracked)
	}
	return d
}

func (d *document) withStatuses(was, next map[string]Status) *document {
	for _, id := range slices.Sorted(maps.Keys(was)) {
		if _, stays := next[id]; !stays {
			d = d.remove(keyStatuses, id)
		}
	}
	if len(was) > 0 && len(next) == 0 {
		return d.remove(keyStatuses)
	}
	for _, id := range slices.Sorted(maps.Keys(next)) {
		if was[id] != next[id] {
			d = d.container("{}", keyStatuses).set(quote(string(next[id])), nil, keyStatuses, id)
		}
	}
	return d
}

func (d *document) withOwn(was, next Own) *document {
	if was == next {
		return d
	}
	d = d.container("{}", keyOwn)
	value := func(key, json string, keep bool) {
		if keep {
			d = d.set(json, nil, keyOwn, key)
		} else {
			d = d.remove(keyOwn, key)
		}
	}
	value("task", quote(next.Task), next.Task != "")
	value("attempts", number(next.Attempts), next.Attempts != 0)
	value("fixes", number(next.Fixes), next.Fixes != 0)
	value("head", quote(next.Head), next.Head != "")
	value("asked", stamp(next.Asked), !next.Asked.IsZero())
	value("ref", quote(next.Ref), next.Ref != "")
	value("since", stamp(next.Since), !next.Since.IsZero())
	value("waiting", quote(next.Waiting), next.Waiting != "")
	if next == (Own{}) {
		if n, _ := d.at(keyOwn); len(n.members) == 0 {
			d = d.remove(keyOwn)
		}
	}
	return d
}

// stamp returns a time as JSON.
func stamp(t time.Time) string { return quote(t.UTC().Format(time.RFC3339)) }
