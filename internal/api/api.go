// Package api is the wire contract of the two Unix sockets: hat's, one per
// session, and the operator's. It is a contract file (add, do not rename) and
// imports nothing but the standard library, without net/http, so that hat
// stays small and starts fast.
//
// Both sockets speak HTTP/1.1 with JSON bodies under /v1. Every answer is
// given after what it reports was committed. A request with the same Key is
// the same request.
package api

import "encoding/json"

// Version is sent by clients in the header VersionHeader and checked first.
const Version = 1

// Headers of both sockets.
const (
	VersionHeader = "Nightporter-Api"
	TokenHeader   = "Nightporter-Token" // hat: the session's token; operator: content of operator.key
)

// Environment that a session finds (SPEC 17).
const (
	EnvSocket  = "HAT_SOCKET"
	EnvToken   = "HAT_TOKEN"
	EnvSession = "HAT_SESSION"
	EnvRun     = "HAT_RUN"
	EnvTask    = "HAT_TASK"
	EnvName    = "HAT_NAME"
)

// Exit codes of hat (SPEC 11).
const (
	ExitAccepted = 0
	ExitRefused  = 1 // the text says what to change
	ExitUsage    = 2
	ExitLater    = 75 // nightporter did not answer: try later
)

// MaxBody is the largest request body in bytes: an event of 256 kB and its envelope.
const MaxBody = 512 << 10

// MaxEvent is the largest event payload in bytes (SPEC 4.2).
const MaxEvent = 256 << 10

// Paths of hat's socket; all are POST with a body, also those that only read.
const (
	PathEmit     = "/v1/emit"     // Emit → Reply
	PathTask     = "/v1/task"     // TaskQuery → Reply with Task or Tasks
	PathGuidance = "/v1/guidance" // Empty → Reply with Guidance
	PathNote     = "/v1/note"     // Note → Reply
	PathMemory   = "/v1/memory"   // Note → Reply; an empty Text asks for what is kept, as Reply.Text
	PathSession  = "/v1/session"  // Empty → Reply: with Receipt once its event was accepted, else Text says what is missing
)

// Paths of the operator's socket.
const (
	PathCommand = "/v1/command" // Command → Reply
	PathView    = "/v1/view"    // View → Reply with Data
	PathMetrics = "/metrics"    // GET
)

// Empty is a body that says nothing.
type Empty struct{}

// Emit ends the session with one event. Session, run and task are known from
// the token and cannot be named.
type Emit struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data,omitempty"` // object; kept as sent
}

// TaskQuery asks for one task, or for all where ID is empty; Add adds one
// where the source can take it.
type TaskQuery struct {
	ID  string          `json:"id,omitempty"`
	Add json.RawMessage `json:"add,omitempty"`
}

// Note is text for the project's memory.
type Note struct {
	Kind string `json:"kind,omitempty"`
	Text string `json:"text"`
}

// Command is a line as a person types it in chat or terminal.
type Command struct {
	Key     string `json:"key"`               // natural key: the same key is the same command
	Project string `json:"project,omitempty"` // where the line names none
	Text    string `json:"text"`              // "/guidance Wrap it", "q5 retry"
	Actor   string `json:"actor,omitempty"`
}

// ViewWatch is the view of what a live screen shows of one project: an empty
// Project means the one that is at work. With ArgSeen it is answered when it
// has become another one than that, or after some seconds as it is.
const (
	ViewWatch = "watch"
	ArgSeen   = "seen" // what the last answer's Data said under the same name
)

// View asks for a read model: status, tasks, evidence, verify, log, diff.
type View struct {
	Name    string            `json:"name"`
	Project string            `json:"project,omitempty"`
	Args    map[string]string `json:"args,omitempty"`
}

// Reply answers every request. OK false is a refusal: Text says what to
// change, and nothing was done.
type Reply struct {
	OK       bool            `json:"ok"`
	Text     string          `json:"text,omitempty"`    // for people and agents
	Receipt  string          `json:"receipt,omitempty"` // emit: the same for the same event
	Task     *Task           `json:"task,omitempty"`
	Tasks    []Task          `json:"tasks,omitempty"`
	Guidance []Guidance      `json:"guidance,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// Task as hat shows it.
type Task struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Status     string   `json:"status"`
	Body       string   `json:"body,omitempty"`
	Scope      string   `json:"scope,omitempty"`
	DependsOn  []string `json:"depends_on,omitempty"`
	Acceptance []string `json:"acceptance,omitempty"`
	Current    bool     `json:"current,omitempty"` // the session's own task
}

// Guidance as hat shows it.
type Guidance struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Bound bool   `json:"bound"` // this session has to say what it did with it
}
