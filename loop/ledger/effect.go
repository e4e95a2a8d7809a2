package ledger

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Effect is work outside of the core. It is committed together with the entries
// that it follows from and carried out afterwards, if necessary by the next
// process.
type Effect struct {
	Project string
	Key     string // natural key; unique together with the kind
	Body    EffectBody
}

// EffectBody is the content of one kind of effect.
type EffectBody interface{ EffectKind() string }

// EffectPreflight checks before a run for everything that could make it fail at
// night. Its result is Preflighted.
type EffectPreflight struct {
	Begin Begin `json:"begin"`
}

// EffectStart starts a planned session and stays in flight until the session has
// ended. Its result is SessionExited.
type EffectStart struct {
	Session string `json:"session"`
	Tree    string `json:"tree"`
	Restore bool   `json:"restore,omitempty"` // bring the work folder to Tree first

	// Room is the room that a command runs in, instead of the work folder.
	Room *RoomUse `json:"room,omitempty"`
	Anew bool     `json:"anew,omitempty"` // lay the room anew: this is the first command in it
	// Clean is what earlier releases wrote in place of Room: its Tree.
	Clean string `json:"clean,omitempty"`
}

// EffectEnd ends a session. It has no result: the session's EffectStart reports the
// exit.
type EffectEnd struct {
	Session string   `json:"session"`
	Grace   Duration `json:"grace"`
}

// EffectReread reads the source once more after SettleTime, because its last
// reading lacks something. Its result is SourceChanged.
type EffectReread struct {
	Source  string    `json:"source"`  // KIND:PATH of the source
	Doubted time.Time `json:"doubted"` // time of the reading
}

// SettleTime is how long a line, a tick or a text has to be gone from a source
// before that is believed. Editors, sync tools and checkouts write files in
// steps, and each step can parse.
const SettleTime = 10 * time.Second

// EffectCapture captures the files that a session left. Its result is TreeCaptured.
type EffectCapture struct {
	Request CaptureRequest `json:"takeover"`
}

// EffectMerge merges an attempt's change onto a newer tip. Its result is
// MergeFinished.
type EffectMerge struct {
	Task  string    `json:"task"`
	Merge MergeTree `json:"merge"`
}

// EffectChain lays the changes of a batch one on top of the other. Its result is
// ChainMade.
type EffectChain struct {
	Batch  string      `json:"batch"` // its id
	Onto   string      `json:"onto"`  // commit under the first of them
	Merges []ChainLink `json:"merges"`
}

// ChainLink is one change of an EffectChain. The engine fills in what it is merged
// onto.
type ChainLink struct {
	Task    string      `json:"task"`
	Attempt int         `json:"attempt"`
	Merge   MergeTree   `json:"merge"`
	Proof   *ProofFacts `json:"proof,omitempty"` // what the attempt's own tree changed of what proves
}

// EffectCommit makes a task's commit. Its result is CommitMade.
type EffectCommit struct {
	Task   string     `json:"task"`
	Commit CommitTask `json:"commit"`
	// Marks and Progress are part of the commit if commit_status is set.
	Marks    []Marking `json:"marks,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
}

// EffectTriage sorts the reports of the source (docs/spec 7.2). Its result is Triaged.
type EffectTriage struct {
	Run  string `json:"run"`
	Wave int    `json:"wave"`
	// Answers counts the answers of triagers in the wave before it. It tells the sortings
	// of a wave apart.
	Answers int `json:"answers,omitempty"`
}

// EffectKeepWaves writes the file with the state of the run's waves (docs/spec 7.5). It
// has no result. What it writes is found out when it is carried out, so that an older
// one never overwrites a newer one.
type EffectKeepWaves struct {
	Run string `json:"run"`
}

// EffectRemake makes a branch with some of the commits of another one. Its result is
// RemakeFinished.
type EffectRemake struct {
	Remake RemakeBranch `json:"remake"`
}

// EffectMark writes a task's status into the source's file. Its result is MarkMade.
type EffectMark struct {
	Task   string `json:"task"`
	Mark   Mark   `json:"mark"`
	Source string `json:"source,omitempty"` // KIND:PATH of the task's source; "" in effects of earlier releases
	Tries  *Tries `json:"tries,omitempty"`  // as Marking.Tries

	Claim *Claiming `json:"claim,omitempty"` // as Marking.Claim
}

// EffectProgress appends to the progress log. It has no result.
type EffectProgress struct {
	Progress Progress `json:"progress"`
	Source   string   `json:"source,omitempty"` // as for EffectMark
}

// EffectRemember appends to one of the project's notebooks. It has no result.
type EffectRemember struct {
	Memory Memory `json:"memory"`
}

// EffectKeepPlan writes the newest plan to the file that hats load. It has no
// result.
type EffectKeepPlan struct {
	Task string          `json:"task"`
	Plan json.RawMessage `json:"plan"`
}

// EffectLift lays the change of a task's commit on another base. Its result is
// LiftFinished.
type EffectLift struct {
	Run  string     `json:"run"` // id of the branch that it is for: r14-5
	N    int        `json:"n"`   // of LiftBegun
	Lift LiftCommit `json:"lift"`
}

// EffectPush pushes a run's branch to the remote. Its result is PushFinished.
type EffectPush struct {
	Run  string `json:"run"`
	Push Push   `json:"push"`
	Once bool   `json:"once,omitempty"` // not tried again where others pushed meanwhile: the next run takes their commits in
}

// EffectRequest opens the request of a pushed branch, or writes its text anew. The
// engine fills in the base if the draft names none. Its result is RequestFinished.
type EffectRequest struct {
	Run   string       `json:"run"`
	Draft RequestDraft `json:"draft"`
	Print string       `json:"print"` // fingerprint of the draft
	// Head is the branch that the person was on when the run began. It is the base of
	// the request if the draft names none and the remote has it.
	Head string `json:"head,omitempty"`
}

// EffectMergeRequest merges a run's request, if it is green and its head is the one
// that a person confirmed. Its result is RequestMerged. The engine chooses the method
// and fills in whether the branch is deleted.
type EffectMergeRequest struct {
	Run   string     `json:"run"`
	Merge MergeAsked `json:"merge"`
}

// EffectReply answers a comment on a run's request. Its result is ReplyFinished.
type EffectReply struct {
	Run   string       `json:"run"`
	Reply RequestReply `json:"reply"`
}

// EffectAddTasks writes new tasks into a source. Its result is TasksWritten. It needs
// no run: it names the source's place itself.
type EffectAddTasks struct {
	ID     string    `json:"id"` // of TasksAsked
	Repo   string    `json:"repo"`
	Source SourceRef `json:"source"`
	Add    AddTasks  `json:"add"`
}

// EffectRemoveTasks takes added tasks out of a source. Its result is TasksTakenOut.
type EffectRemoveTasks struct {
	ID     string      `json:"id"` // of TasksAsked
	Repo   string      `json:"repo"`
	Source SourceRef   `json:"source"`
	Remove RemoveTasks `json:"remove"`
}

// EffectErase removes the bytes of attachments. It has no result.
type EffectErase struct {
	Hashes []string `json:"hashes"`
}

// EffectTranscribe turns a recording into words. Its result is Transcribed. It carries
// what becomes of them.
type EffectTranscribe struct {
	ID   string `json:"id"` // of FilesAttached: "v3"
	Hash string `json:"hash"`
	Type string `json:"type"` // media type
	Spoken
	Actor string `json:"actor"`
	Name  string `json:"name,omitempty"`
}

// Spoken says what the words of a recording are for: guidance, unless it has a Command or
// a Question.
type Spoken struct {
	Command  SpokenCommand `json:"command,omitempty"`
	Question string        `json:"question,omitempty"` // that the words answer
	Choice   string        `json:"choice,omitempty"`   // of that answer; "" = the words are all of it
	Address  string        `json:"address,omitempty"`  // that the guidance begins with: "@builder #12 "
	Words    string        `json:"words,omitempty"`    // that were written with it; they come first
	Repo     string        `json:"repo,omitempty"`     // of SpokenAdd and SpokenBug: the source that it is added to, unless a run works on one
	Source   SourceRef     `json:"source,omitzero"`
}

// SpokenCommand is a command whose words are spoken.
type SpokenCommand string

// Commands whose words may be spoken.
const (
	SpokenNow SpokenCommand = "now" // run the session at work again with the words
	SpokenAdd SpokenCommand = "add" // add tasks
	SpokenBug SpokenCommand = "bug" // add a bug report
)

// EffectAnswerHost tells a session whether it may reach a host. It has no result.
type EffectAnswerHost struct {
	Session string     `json:"session"`
	Answer  HostAnswer `json:"answer"`
}

// Memory is one line of a notebook. A line whose Key is there already is not
// written again.
type Memory struct {
	Key     string     `json:"key"`
	Kind    MemoryKind `json:"kind"`
	Time    string     `json:"time"` // RFC 3339, in the person's zone
	Session string     `json:"session"`
	Hat     string     `json:"hat"`
	Task    string     `json:"task,omitempty"`
	Text    string     `json:"text"`
}

// EffectKind values.
func (EffectPreflight) EffectKind() string { return "preflight" }

func (EffectStart) EffectKind() string { return "session.start" }

func (EffectEnd) EffectKind() string { return "session.end" }

func (EffectAnswerHost) EffectKind() string { return "host.answer" }

func (EffectReread) EffectKind() string { return "reread" }

func (EffectCapture) EffectKind() string { return "takeover" }

func (EffectMerge) EffectKind() string { return "merge" }

func (EffectChain) EffectKind() string { return "chain" }

func (EffectCommit) EffectKind() string { return "commit" }

func (EffectTriage) EffectKind() string { return "triage" }

func (EffectKeepWaves) EffectKind() string { return "waves" }

func (EffectRemake) EffectKind() string { return "remake" }

func (EffectMark) EffectKind() string { return "mark" }

func (EffectProgress) EffectKind() string { return "progress" }

func (EffectAddTasks) EffectKind() string { return "tasks.add" }

func (EffectRemoveTasks) EffectKind() string { return "tasks.remove" }

func (EffectErase) EffectKind() string { return "erase" }

func (EffectTranscribe) EffectKind() string { return "transcribe" }

func (EffectRemember) EffectKind() string { return "memory" }

func (EffectKeepPlan) EffectKind() string { return "plan" }

func (EffectLift) EffectKind() string { return "lift" }

func (EffectPush) EffectKind() string { return "push" }

func (EffectRequest) EffectKind() string { return "request" }

func (EffectMergeRequest) EffectKind() string { return "request.merge" }

func (EffectReply) EffectKind() string { return "reply" }

// Retry says what waits while an effect fails for a Fault. The effect itself is
// tried again in any case, with growing pauses, until it is carried out: a fault
// of the machine never ends a run and counts against nobody.
type Retry string

// Policies.
const (
	RetryHolds  Retry = "holds"  // the run waits: it goes on from the effect's result
	RetryBeside Retry = "beside" // the run goes on, and the effect is tried again beside it
)

// effectKinds gives each kind its class, which says how to recover after an unknown
// outcome, its policy for faults, its words, and its zero value. A kind that is missing here
// cannot be committed.
var effectKinds = map[string]struct {
	class Class
	retry Retry
	does  string // what it does, after "cannot"
	body  EffectBody
}{
	"preflight":     {Repeatable, RetryHolds, "look before it starts", EffectPreflight{}},
	"session.start": {Findable, RetryHolds, "start a session", EffectStart{}}, // by its folder; restoring, rooms and the scope are part of it
	"session.end":   {Repeatable, RetryBeside, "end a session", EffectEnd{}},
	"host.answer":   {Repeatable, RetryBeside, "answer for a host", EffectAnswerHost{}}, // a session that has ended needs none
	"reread":        {Repeatable, RetryHolds, "read the tasks again", EffectReread{}},
	"takeover":      {Repeatable, RetryHolds, "take over files", EffectCapture{}},
	"merge":         {Repeatable, RetryHolds, "merge", EffectMerge{}},
	"chain":         {Repeatable, RetryHolds, "merge a batch", EffectChain{}},
	"commit":        {Repeatable, RetryHolds, "commit", EffectCommit{}}, // the same commit has the same hash; publishing it is part of it
	"triage":        {Repeatable, RetryHolds, "sort the reports", EffectTriage{}},
	"waves":         {Repeatable, RetryBeside, "write the state of the waves", EffectKeepWaves{}},
	"remake":        {Repeatable, RetryHolds, "make the branch again", EffectRemake{}}, // the same request has the same commits
	"mark":          {Repeatable, RetryBeside, "write a mark", EffectMark{}},
	"progress":      {Findable, RetryBeside, "write the log", EffectProgress{}},      // its key is in the log if it happened
	"tasks.add":     {Findable, RetryBeside, "add a task", EffectAddTasks{}},         // by its title
	"tasks.remove":  {Findable, RetryBeside, "take a task out", EffectRemoveTasks{}}, // its text and ids are gone if it happened
	"erase":         {Repeatable, RetryBeside, "erase a file", EffectErase{}},
	"transcribe":    {Repeatable, RetryBeside, "turn speech into words", EffectTranscribe{}},
	"memory":        {Findable, RetryBeside, "write a note", EffectRemember{}}, // its key is in the notebook if it happened
	"plan":          {Repeatable, RetryBeside, "write the plan", EffectKeepPlan{}},
	"lift":          {Repeatable, RetryBeside, "fetch the base", EffectLift{}},          // nothing leads to a commit before its result is recorded
	"push":          {Repeatable, RetryBeside, "push", EffectPush{}},                    // a remote that has the commit is left as it is
	"request":       {Findable, RetryBeside, "open the request", EffectRequest{}},       // by its branch
	"request.merge": {Findable, RetryBeside, "merge the request", EffectMergeRequest{}}, // a request that is merged with the head is a success
	"reply":         {Findable, RetryBeside, "answer a comment", EffectReply{}},         // by its key
}

// RetryOf returns the policy of a kind of effect; RetryHolds for an unknown one.
func RetryOf(kind string) Retry {
	if k, ok := effectKinds[kind]; ok {
		return k.retry
	}
	return RetryHolds
}

// EffectDoes says what a kind of effect does, for people, after "cannot": "commit".
func EffectDoes(kind string) string {
	if k, ok := effectKinds[kind]; ok {
		return k.does
	}
	return kind
}

// Pending encodes the effect for the store. A kind without a class is an error.
func (e Effect) Pending() (PendingEffect, error) {
	k, ok := effectKinds[e.Body.EffectKind()]
	if !ok {
		return PendingEffect{}, fmt.Errorf("effect kind %q has no class", e.Body.EffectKind())
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return PendingEffect{}, fmt.Errorf("encode %s effect: %w", e.Body.EffectKind(), err)
	}
	return PendingEffect{Stream: ProjectStream(e.Project), Kind: e.Body.EffectKind(), Class: k.class, Key: e.Key, Body: body}, nil
}

// Effect decodes a stored effect. An unknown kind is an error.
func (p PendingEffect) Effect() (EffectBody, error) {
	k, ok := effectKinds[p.Kind]
	if !ok {
		return nil, fmt.Errorf("effect %d is of kind %q, which this nightporter does not know", p.ID, p.Kind)
	}
	v := reflect.New(reflect.TypeOf(k.body))
	if err := json.Unmarshal(p.Body, v.Interface()); err != nil {
		return nil, fmt.Errorf("%s effect %d does not decode: %w", p.Kind, p.ID, err)
	}
	return v.Elem().Interface().(EffectBody), nil
}
