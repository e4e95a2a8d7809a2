// Package api is the wire contract of the two Unix sockets, one per session for
// hat and the operator's, and the client of both.
//
//	api.go       paths, bodies, headers, limits, exit codes of hat
//	client.go    Call, which repeats an unanswered request; Try, which does not
//	conn.go      one exchange over a Unix socket, without package net
//	response.go  the HTTP answer
//
// Both sockets speak HTTP/1.1 with JSON bodies under /v1. The server answers
// after the commit of what it reports. Requests with the same Key are one
// request.
//
// Fields and paths are added, never renamed: a session's hat may be older than
// the daemon. The package imports only the standard library, and neither net
// nor net/http, so that hat stays small and starts fast; a test holds that. The
// tests also hold that a truncated or malformed answer is an error and never a
// reply.
package api

import "encoding/json"

// Version is the version of the contract. Clients send it in VersionHeader, and
// the server checks it first.
const Version = 1

// Headers of both sockets.
const (
	VersionHeader = "Nightporter-Api"
	TokenHeader   = "Nightporter-Token" // hat: the session's token; operator: the content of operator.key
)

// Environment variables of a session.
const (
	EnvSocket  = "HAT_SOCKET"
	EnvToken   = "HAT_TOKEN"
	EnvSession = "HAT_SESSION"
	EnvRun     = "HAT_RUN"
	EnvTask    = "HAT_TASK"
	EnvName    = "HAT_NAME"
)

// Exit codes of hat.
const (
	ExitAccepted = 0
	ExitRefused  = 1 // standard error names the correction
	ExitUsage    = 2
	ExitLater    = 75 // nightporter did not answer
)

// MaxBody limits a request body in bytes: an event of 256 kB with its envelope.
const MaxBody = 512 << 10

// MaxEvent limits the payload of an event in bytes.
const MaxEvent = 256 << 10

// MaxDepth limits how deep the JSON of a request is nested.
const MaxDepth = 64

// Paths of a session's socket. All are POST with a body, even those that only
// read.
const (
	PathEmit     = "/v1/emit"     // Emit → Reply
	PathTask     = "/v1/task"     // TaskQuery → Reply with Task or Tasks
	PathGuidance = "/v1/guidance" // Empty → Reply with Guidance
	PathNote     = "/v1/note"     // Note → Reply
	PathMemory   = "/v1/memory"   // Note → Reply; an empty Text lists the memory as Reply.Text
	PathSession  = "/v1/session"  // Empty → Reply: Receipt after the event was accepted, before that Text with what is missing
	PathWrite    = "/v1/write"    // Write → Reply: Text with why changes of the file are not kept, once for each file; else no Text
)

// Paths of the operator's socket.
const (
	PathCommand = "/v1/command" // Command → Reply
	PathView    = "/v1/view"    // View → Reply with Data
	PathMetrics = "/metrics"    // GET
)

// Empty is the body of a request without arguments.
type Empty struct{}

// Emit ends the session with one event. The token identifies session, run and
// task; a request cannot name them.
type Emit struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data,omitempty"` // a JSON object, kept byte for byte
}

// TaskQuery asks for one task, or for all if ID is empty. Add adds tasks to the run's
// source: a NewTasks. The same Add of a session is one Add, however often it is sent.
type TaskQuery struct {
	ID  string          `json:"id,omitempty"`
	Add json.RawMessage `json:"add,omitempty"`
}

// NewTasks is one new task, or several in Tasks.
type NewTasks struct {
	NewTask
	Tasks []NewTask `json:"tasks,omitempty"`
}

// NewTask is a task to be added. An empty ID becomes the source's next free one.
type NewTask struct {
	ID         string   `json:"id,omitempty"`
	Title      string   `json:"title,omitempty"`
	Body       string   `json:"body,omitempty"`
	Scope      string   `json:"scope,omitempty"`
	DependsOn  []string `json:"depends_on,omitempty"` // ids of tasks, also of others in the same NewTasks
	Acceptance []string `json:"acceptance,omitempty"`
	Priority   string   `json:"priority,omitempty"`   // P0 to P3, or critical, high, medium, low
	Complexity int      `json:"complexity,omitempty"` // 1 to 10
	Role       string   `json:"role,omitempty"`
}

// Note is text for the project's memory.
type Note struct {
	Kind string `json:"kind,omitempty"`
	Text string `json:"text"`
}

// Write asks about a file that the agent's program is about to change.
type Write struct {
	Path string `json:"path"` // absolute
}

// Command is a line as a person types it in a chat or terminal.
type Command struct {
	Key     string `json:"key"`               // natural key: commands with the same key are one command
	Project string `json:"project,omitempty"` // for a line that names no project
	Text    string `json:"text"`              // "/guidance Wrap it", "q5 retry"
	Actor   string `json:"actor,omitempty"`
}

// ViewWatch is the view of a live screen for one project; an empty Project
// means the one that is running. With ArgSeen the answer comes as soon as the
// view differs from the one seen, or unchanged after some seconds.
const (
	ViewWatch = "watch"
	ArgSeen   = "seen" // value of the same name in the last answer's Data
)

// ViewPane is the view of one part of a large live screen: the output of the
// session at work, or the plan or the diff of its task. It waits for news like
// ViewWatch; an answer without news has no lines, and the same value of ArgSeen.
const (
	ViewPane = "pane"
	ArgPane  = "pane" // output, plan or diff
	ArgTask  = "task" // of this task; "" = of the one at work
)

// View asks for a read model: status, tasks, evidence, verify, log, diff.
type View struct {
	Name    string            `json:"name"`
	Project string            `json:"project,omitempty"`
	Args    map[string]string `json:"args,omitempty"`
}

// Reply is the answer to every request. OK false means a refusal: nothing was
// done, and Text names the correction.
type Reply struct {
	OK       bool            `json:"ok"`
	Text     string          `json:"text,omitempty"`    // for people and agents
	Receipt  string          `json:"receipt,omitempty"` // of an Emit; the same for the same event
	Task     *Task           `json:"task,omitempty"`
	Tasks    []Task          `json:"tasks,omitempty"`
	Guidance []Guidance      `json:"guidance,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// Task is a task for hat to print.
type Task struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Status     string   `json:"status"`
	Body       string   `json:"body,omitempty"`
	Scope      string   `json:"scope,omitempty"`
	DependsOn  []string `json:"depends_on,omitempty"`
	Acceptance []string `json:"acceptance,omitempty"`
	Current    bool     `json:"current,omitempty"` // whether it is the session's own task
}

// Guidance is a directive for hat to print.
type Guidance struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Bound bool   `json:"bound"` // whether this session has to report on it
}
