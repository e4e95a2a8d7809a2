package ledger

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Effect asks the outside to act. It is committed together with the entries
// that it follows from, and carried out afterwards, if need be by the next
// process.
type Effect struct {
	Project string
	Key     string // what it is about; unique together with its kind
	Body    EffectBody
}

// EffectBody is the content of one kind of effect.
type EffectBody interface{ EffectKind() string }

// EffectPreflight tries everything that would fail at 3:00: result Preflighted.
type EffectPreflight struct {
	Begin Begin `json:"begin"`
}

// EffectStart starts a session that is planned in the state, and stays in
// flight until it has ended: result SessionExited.
type EffectStart struct {
	Session string `json:"session"`
	Tree    string `json:"tree"`
	Restore bool   `json:"restore,omitempty"` // bring the work folder to Tree first
	Clean   string `json:"clean,omitempty"`   // run in a clean folder of this commit instead
}

// EffectEnd ends a session: no result of its own, the session's exit follows.
type EffectEnd struct {
	Session string   `json:"session"`
	Grace   Duration `json:"grace"`
}

// EffectCapture takes over what a session left: result TreeCaptured.
type EffectCapture struct {
	Request CaptureRequest `json:"takeover"`
}

// EffectMerge lays an attempt's change onto a newer tip: result MergeFinished.
type EffectMerge struct {
	Task  string    `json:"task"`
	Merge MergeTree `json:"merge"`
}

// EffectCommit makes a task's commit: result CommitMade.
type EffectCommit struct {
	Task   string     `json:"task"`
	Commit CommitTask `json:"commit"`
	// Marks and Progress travel in the commit under commit_status.
	Marks    []Marking `json:"marks,omitempty"`
	Progress *Progress `json:"progress,omitempty"`
}

// EffectMark writes a status into the source: result MarkMade.
type EffectMark struct {
	Task string `json:"task"`
	Mark Mark   `json:"mark"`
}

// EffectProgress appends to the progress log: no result.
type EffectProgress struct {
	Progress Progress `json:"progress"`
}

// EffectRemember appends to one of the project's notebooks: no result.
type EffectRemember struct {
	Memory Memory `json:"memory"`
}

// EffectKeepPlan keeps the newest plan where hats load it from: no result.
type EffectKeepPlan struct {
	Task string          `json:"task"`
	Plan json.RawMessage `json:"plan"`
}

// Memory is one line of a notebook. The same Key is the same line.
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

func (EffectCapture) EffectKind() string { return "takeover" }

func (EffectMerge) EffectKind() string { return "merge" }

func (EffectCommit) EffectKind() string { return "commit" }

func (EffectMark) EffectKind() string { return "mark" }

func (EffectProgress) EffectKind() string { return "progress" }

func (EffectRemember) EffectKind() string { return "memory" }

func (EffectKeepPlan) EffectKind() string { return "plan" }

// effectKinds says of each kind what is done about one whose outcome is
// unknown, and gives its zero value. A kind that is missing here cannot be
// committed.
var effectKinds = map[string]struct {
	class Class
	body  EffectBody
}{
	"preflight":     {Repeatable, EffectPreflight{}},
	"session.start": {Findable, EffectStart{}}, // by its folder
	"session.end":   {Repeatable, EffectEnd{}},
	"takeover":      {Repeatable, EffectCapture{}},
	"merge":         {Repeatable, EffectMerge{}},
	"commit":        {Repeatable, EffectCommit{}}, // the same commit has the same hash
	"mark":          {Repeatable, EffectMark{}},
	"progress":      {Findable, EffectProgress{}}, // by its key in the log
	"memory":        {Findable, EffectRemember{}}, // by its key in the notebook
	"plan":          {Repeatable, EffectKeepPlan{}},
}

// Pending returns the effect in the form in which it is kept.
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

// Effect reads a kept effect back.
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
