package ledger

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Status is the state of a task (docs/spec 3.1).
type Status string

// States of a task.
const (
	Pending      Status = "pending"       // a task that it depends on is not done
	Ready        Status = "ready"         // an attempt can begin or go on, or waits with StageQueued
	Active       Status = "active"        // an attempt is under way
	Done         Status = "done"          // converged, verified and committed; the only status that satisfies depends_on
	Blocked      Status = "blocked"       // blocked until a person decides
	ManualVerify Status = "manual_verify" // a person has to check it; never given to an agent
	Skipped      Status = "skipped"       // a person decided not to do it
	Waiting      Status = "waiting"       // a question about it is open, and its tree is kept
	Withdrawn    Status = "withdrawn"     // its line is gone from the source
)

// Mark is the status of a task in the source's file. It says what people want; the
// ledger alone decides what is done (docs/spec 3.2).
type Mark string

// Marks as a source can carry them.
const (
	MarkOpen         Mark = "open"
	MarkDone         Mark = "done"
	MarkBlocked      Mark = "blocked"
	MarkManualVerify Mark = "manual_verify"

	// MarkWorking is written while a task is at work, into sources that have a word
	// for it. No reading has it: such a task reads as open, with a warning that has
	// Diagnostic.AtWork.
	MarkWorking Mark = "in_progress"
)

// Task is one unit of work as its source describes it.
type Task struct {
	ID         string     `json:"id"` // as written in the source: "Task 5"
	Title      string     `json:"title"`
	Body       string     `json:"body,omitempty"`       // the source's text of the task, for the prompt
	Scope      string     `json:"scope,omitempty"`      // as written; resolved against a tree by the workspace
	DependsOn  []string   `json:"depends_on,omitempty"` // ids, as written for the tasks they name
	Acceptance []string   `json:"acceptance,omitempty"`
	Notes      string     `json:"notes,omitempty"`
	Priority   int        `json:"priority,omitempty"`
	Complexity int        `json:"complexity,omitempty"`
	Role       string     `json:"role,omitempty"`
	Threshold  []Severity `json:"threshold,omitempty"` // overrides the pattern's (docs/spec 2.6)
	Consensus  bool       `json:"consensus,omitempty"` // the critic judges the task's plan before it is built (docs/spec 4.4)
	Parent     string     `json:"parent,omitempty"`    // for a part: id, as written, of the task whose plan contains it
	Joins      bool       `json:"joins,omitempty"`     // for a part: its change is merged into its task's tree, and has no commit of its own
	Hat        string     `json:"hat,omitempty"`       // for a part: the hat that works on it; "" = the one after the plan
	Allow      []string   `json:"allow,omitempty"`     // commands that deploy or publish, which its sessions may call (docs/spec 12.1)
	Material   []string   `json:"material,omitempty"`  // documents that belong to it, slash-separated paths below the repository; its prompts name them
	Phase      int        `json:"phase,omitempty"`     // tasks of a phase begin when those of lower ones are over; 0 = none
	Labels     []string   `json:"labels,omitempty"`
	Author     string     `json:"author,omitempty"`     // who wrote it, where that is somebody whose word alone starts no session
	Failures   int        `json:"failures,omitempty"`   // failed attempts that the source records
	Tried      time.Time  `json:"tried,omitzero"`       // the last attempt that the source records
	Repeat     *Repeat    `json:"repeat,omitempty"`     // it comes back after it is done; nil = it is done once
	Inputs     []string   `json:"inputs,omitempty"`     // artefacts of other tasks, "TASK/NAME", for its prompts
	Outputs    []Artefact `json:"outputs,omitempty"`    // what its sessions leave for others
	Evaluation string     `json:"evaluation,omitempty"` // a command that proves it, beside the project's own
	Verifier   bool       `json:"verifier,omitempty"`   // a verifier judges it before it is done, also where its pattern has none
	Mark       Mark       `json:"mark"`
	Line       int        `json:"line,omitempty"`    // 1-based, in the source's file
	Own        bool       `json:"own,omitempty"`     // nightporter added it; it is in no file and is never written back
	Outside    bool       `json:"outside,omitempty"` // its prompts hold text that strangers may have written, whatever its source is
	Idea       string     `json:"idea,omitempty"`    // id of the idea that it plans; such a task is always Own
	Report     *Report    `json:"report,omitempty"`  // it is a bug report; nil = it is not
	Sorts      []string   `json:"sorts,omitempty"`   // ids of the bug reports that it decides about; such a task is always Own

	// SecondReview asks for a review by another agent besides that of the pattern: both
	// must pass.
	SecondReview bool `json:"second_review,omitempty"`
}

// Prepares reports whether the task only prepares others, and so counts in no progress:
// it plans an idea, or decides about bug reports.
func (t *Task) Prepares() bool { return t.Idea != "" || len(t.Sorts) > 0 }

// Repeat says when a task that is done comes back.
type Repeat struct {
	Cooldown     time.Duration `json:"cooldown"`               // from its end until it is ready again
	Precondition string        `json:"precondition,omitempty"` // what must hold for it to be worth a session, for its prompt
}

// Artefact is something that a task's sessions leave for the prompts of others.
type Artefact struct {
	Name string `json:"name"`           // as inputs name it, behind the task's id
	Kind string `json:"kind"`           // as the source has it: file, json, summary, …
	Path string `json:"path,omitempty"` // slash-separated, below the repository
}

// SameID reports whether two ids name the same task. Case and the amount of white
// space do not matter (docs/spec 1).
func SameID(a, b string) bool { return FoldID(a) == FoldID(b) }

// FoldID returns the form of a task's id that serves as a key: lower case, with
// single spaces.
func FoldID(id string) string {
	for i := 0; i < len(id); i++ {
		if c := id[i]; c >= utf8.RuneSelf || c < ' ' || c == ' ' && (i == 0 || i+1 == len(id) || id[i+1] == ' ') {
			return strings.ToLower(strings.Join(strings.Fields(id), " "))
		}
	}
	return strings.ToLower(id) // it has single spaces, as nearly all do
}

// ShortID returns an id as chat and terminal show it: "Task 5" becomes "#5", any
// other id stays as it is (docs/spec 1).
func ShortID(id string) string {
	if rest, ok := strings.CutPrefix(FoldID(id), "task "); ok && rest != "" && !strings.Contains(rest, " ") {
		return "#" + strings.Fields(id)[1]
	}
	return id
}

// Snapshot is one reading of a source.
type Snapshot struct {
	Name     string       `json:"name"` // "checkout" for checkout.md
	Path     string       `json:"path"`
	Tasks    []Task       `json:"tasks"`
	Warnings []Diagnostic `json:"warnings,omitempty"` // problems that do not keep a run from starting

	// Partial says that a task which is done may be missing: the source keeps those for
	// a while only. That it lacks one means nothing.
	Partial bool `json:"partial,omitempty"`
}

// Marking asks a source to write a task's status into its file. Only the characters
// of that status may change (docs/spec 3.2).
type Marking struct {
	Task string `json:"task"`
	Mark Mark   `json:"mark"`

	// Tries is written along with the mark, into sources that record it; nil = it stays.
	Tries *Tries `json:"tries,omitempty"`
	// Claim is, too, for bug reports; nil = it stays.
	Claim *Claiming `json:"claim,omitempty"`
}

// Tries says how often a task was tried.
type Tries struct {
	Failures int       `json:"failures"`      // failed attempts, those of other tools included
	Last     time.Time `json:"last,omitzero"` // when the last attempt began
}

// Progress is an entry of a source's progress log about a finished or blocked task,
// or about a pause (docs/spec 3.3). Key makes an append findable: an entry that the
// log contains already is not written again.
type Progress struct {
	Key       string        `json:"key"`
	Time      string        `json:"time"` // RFC 3339, in the person's zone
	Task      string        `json:"task,omitempty"`
	Title     string        `json:"title,omitempty"`
	Attempt   int           `json:"attempt,omitempty"`
	Status    string        `json:"status"` // completed, blocked, manual verify, replanned, paused
	Commit    string        `json:"commit,omitempty"`
	Proof     string        `json:"proof,omitempty"` // Proof.Text of a finished task
	Changes   []string      `json:"changes,omitempty"`
	Commands  []CommandMark `json:"commands,omitempty"`
	Learnings string        `json:"learnings,omitempty"`
	Next      string        `json:"next,omitempty"`
	Blockers  string        `json:"blockers,omitempty"`
	Text      string        `json:"text,omitempty"` // the whole entry of a pause: "Paused after 5 tasks for review"
}

// CommandMark is a command that was run and whether it passed: ✓ or ✗.
type CommandMark struct {
	Run string `json:"run"`
	OK  bool   `json:"ok"`
}

// TitleKey returns the form of a title by which a task is found again in a file: its
// letters, digits and signs such as + in lower case, because a format may write the rest
// another way.
func TitleKey(title string) string {
	key := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r), unicode.Is(unicode.So, r), r == '+', r == '#':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
	if key == "" {
		return strings.TrimSpace(title)
	}
	return key
}

// SaysAs reports whether a task of a source is t, which was to be added to it. Reports
// with an id are the same if they share it, others if they have the same text: many
// begin alike. All other tasks are the same if they have the same title.
func (t Task) SaysAs(listed Task) bool {
	switch {
	case t.Report == nil:
		return TitleKey(t.Title) == TitleKey(listed.Title)
	case t.ID != "":
		return SameID(t.ID, listed.ID)
	}
	return TitleKey(t.Body) == TitleKey(listed.Body)
}

// AddTasks asks a source for new tasks. Those that it has already are not added
// again: a task that one of Tasks says the same as, whose id Known does not have.
type AddTasks struct {
	Tasks []Task   `json:"tasks"`
	Known []string `json:"known,omitempty"` // ids of tasks that one of Tasks says the same as, when it was decided

	// Needs has for each of Tasks the places of those before it that it depends on:
	// their ids are not known before they are added. nil = none depends on another.
	Needs [][]int `json:"needs,omitempty"`
}

// Has returns the ids of the tasks in list that an earlier try has added, in the
// order of a.Tasks, "" for one that is not there.
func (a AddTasks) Has(list []Task) (ids []string, all bool) {
	ids, all = make([]string, len(a.Tasks)), true
	for n, want := range a.Tasks {
		for _, t := range list {
			if want.SaysAs(t) && !slices.Contains(a.Known, FoldID(t.ID)) && !slices.Contains(ids, t.ID) {
				ids[n] = t.ID
				break
			}
		}
		all = all && ids[n] != ""
	}
	return ids, all
}

// AddedTasks says what a source did with AddTasks.
type AddedTasks struct {
	IDs      []string // in the order of AddTasks.Tasks
	Text     string   // that was written; "" = nothing, or not in one piece
	Found    bool     // all of them were there already
	Snapshot Snapshot // the source with them
}

// RemoveTasks asks a source to take out what was added, as long as it stands there
// unchanged.
type RemoveTasks struct {
	IDs  []string `json:"ids"`
	Text string   `json:"text"` // as it was written
}
