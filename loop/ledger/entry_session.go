package ledger

import (
	"encoding/json"

	"github.com/nightporter/nightporter/guidance"
)

// SessionPlanned records a session before its start, with everything that it
// will be given.
type SessionPlanned struct {
	Kind     Kind             `json:"kind"`
	Hat      string           `json:"hat,omitempty"`
	Agent    string           `json:"agent,omitempty"`
	Model    string           `json:"model,omitempty"`
	Command  string           `json:"command,omitempty"`
	Index    int              `json:"index,omitempty"`  // position of the command in its check
	Repeat   bool             `json:"repeat,omitempty"` // the session repeats a command that failed
	Tree     string           `json:"tree"`             // input tree
	Round    int              `json:"round,omitempty"`
	Guidance guidance.Binding `json:"guidance,omitzero"`
	Replaces string           `json:"replaces,omitempty"` // the session that this session repeats
	Note     string           `json:"note,omitempty"`     // the note of a repeat: how to avoid the same end
	Wall     Duration         `json:"wall,omitempty"`
	Stall    Duration         `json:"stall,omitempty"`
	Network  NetworkMode      `json:"network,omitempty"` // "" = NetworkOpen
	Outside  OutsideText      `json:"outside,omitempty"`
	Reserved Reservation      `json:"reserved,omitzero"` // where a budget holds
	Raised   bool             `json:"raised,omitempty"`  // Model is of the tier above its hat's, because an attempt failed
	Second   string           `json:"second,omitempty"`  // the agent whose review of the same tree passed, and which this one must confirm
}

// OutsideText says what became of the network of a session because its prompt holds
// text that strangers may have written, or its command runs the work of such a
// session. "" = there is no such text.
type OutsideText string

// Values of OutsideText.
const (
	OutsideClosed OutsideText = "closed" // NetworkNone, whatever the settings say
	OutsideOpen   OutsideText = "open"   // as the settings say: a person keeps it open (NetworkKeptOpen)
)

// EventAccepted records the event that a session ended with. A session has at most
// one.
type EventAccepted struct {
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data"`
	Receipt string          `json:"receipt"`
	Written bool            `json:"written,omitempty"` // it was not sent: the agent's last message ended with it
}

// EventRefused records a rejected event, so that the chain shows it.
type EventRefused struct {
	Type string   `json:"type"`
	Why  string   `json:"why"`
	Owed []string `json:"owed,omitempty"` // guidance that the event did not report on, a reason to reject it once
	// Missing are reports that a triager says nothing of, a reason to reject its event once.
	Missing []string `json:"missing,omitempty"`
}

// SessionThrottled records that a session keeps calling the daemon although its
// calls are refused for their number. A session has at most one, whatever it does.
type SessionThrottled struct {
	Refused int `json:"refused"` // calls that were refused until then
}

// SessionEnded records how a session ended and how it is counted.
type SessionEnded struct {
	Kind   Kind           `json:"kind"`
	End    SessionOutcome `json:"end"`
	Counts Accounting     `json:"counts,omitempty"` // agent sessions only
	Exit   Exit           `json:"exit"`
	OK     bool           `json:"ok"`             // commands only: the command passed
	Text   string         `json:"text,omitempty"` // for people, and for the note of the session that repeats it
}

// SessionCut records that the daemon ended a session early. Its work counts as
// nothing.
type SessionCut struct {
	Why string `json:"why"`
}

// SessionOutput records the result of a session and never changes (docs/spec 8.1).
type SessionOutput struct {
	Hat         string   `json:"hat"`
	Event       string   `json:"event"`
	Summary     string   `json:"summary,omitempty"`
	Artifacts   []string `json:"artifacts,omitempty"`
	IssuesFound int      `json:"issues_found"`
	Suggestions int      `json:"suggestions"`
	DurationMs  int64    `json:"duration_ms"`
}

// TakenOver records the tree that was captured from a session.
type TakenOver struct {
	Taken Capture `json:"taken"`
	Ref   string  `json:"ref"`
}

// TreeKept records the files of a session that counts as nothing. No session
// builds on them, but people can look at them.
type TreeKept struct {
	Ref   string       `json:"ref"`
	Tree  string       `json:"tree"`
	Files []FileChange `json:"files,omitempty"`
	More  int          `json:"more,omitempty"` // as in Capture
}

// MemoryKind names one of the project's notebooks.
type MemoryKind string

// Notebooks, each a file of .ralph/agent in the person's checkout.
const (
	MemoryFact     MemoryKind = "memory"   // memories.md: what is true of the repository
	MemoryDecision MemoryKind = "decision" // decisions.md: decisions and their reasons
	MemoryNote     MemoryKind = "note"     // scratchpad.md: notes for the following sessions
)

// File returns the notebook's path in the person's checkout.
func (k MemoryKind) File() string { return ".ralph/agent/" + notebookFiles[k] }

var notebookFiles = map[MemoryKind]string{MemoryFact: "memories.md", MemoryDecision: "decisions.md", MemoryNote: "scratchpad.md"}

// PlanFile is the path in the person's checkout of the newest plan of any task.
const PlanFile = ".ralph/events/latest-plan.json"

// MemoryKept records a text that a session leaves for later sessions (docs/spec 11).
type MemoryKept struct {
	Kind MemoryKind `json:"kind"`
	Hat  string     `json:"hat"`
	Text string     `json:"text"`
}
