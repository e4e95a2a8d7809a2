package loop

import (
	"encoding/json"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// Input is anything that reaches a project from outside: a person's command, a
// session's event or end, the result of an effect, the passing of time. Inputs that
// concern all projects have an empty Project.
type Input struct {
	Key     string      // identifies the input: a second delivery with the same key changes nothing. "" = never repeated
	Time    time.Time   // set by the engine's clock
	Same    int         // how many inputs right before it had the same time; set by the engine
	Actor   string      // "console", "agent", "daemon", "telegram:48213377"
	Name    string      // the actor's name for people: "Mira"
	Role    ledger.Role // the actor's role on arrival; Decide refuses the input if the actor has lost it since. "" = not checked
	Project string
	Body    InputBody
	Settles int64               // number of the effect whose result this is; 0 = none
	Result  EffectName          // the same effect; zero = none
	Load    float64             // load average of the machine in the last minute, where the run has a max_load; 0 = not measured. Set by the engine
	Idle    bool                // Decide plans no work, for example because no daemon is running
	Files   []ledger.Attachment // that the sender sent along; their bytes are on the disk. Answer.Attached tells how many are in the ledger now
	Album   string              // that more files belong to, which come as inputs of their own; "" = none
}

// InputBody is the content of one kind of input: a type of this file, or of package
// people.
type InputBody interface{ InputKind() string }

// --- Commands of people ---

// StartRun plans a run, or resumes the unfinished one.
type StartRun struct {
	Settings    ledger.Settings
	MaxSessions int              // limit for all projects together; 0 = unchanged
	Day         ledger.DayBudget // what they may spend together; unchanged where MaxSessions is 0
	Snapshot    *ledger.Snapshot // the present content of the source, used when a run is resumed; nil = not read
	Alone       bool             // this process is for this run alone: it frees the slots that other projects hold, and replaces a check that was cut off
	New         bool             // end the unfinished run, if any, and start from HEAD
	Check       bool             // preflight only
}

// Pause stops the planning of sessions. With Now, sessions in flight are cut off too.
type Pause struct{ Now bool }

// Resume ends a pause. While the run waits for an agent, it tries that agent at
// once. A non-empty Agent replaces the agent of the run's settings.
type Resume struct{ Agent string }

// Stop ends the run after the work in flight, or at once with Now. Signal names the
// signal that caused it, "" for a person's /stop.
type Stop struct {
	Now    bool
	Signal string
}

// Guide queues a directive. Text may begin with an address (@hat #task !sticky).
type Guide struct{ Text string }

// EditGuidance replaces the text of a guidance item that is still queued.
type EditGuidance struct{ ID, Text string }

// DropGuidance withdraws a guidance item.
type DropGuidance struct{ ID string }

// KeepGuidance queues an expired guidance item again.
type KeepGuidance struct{ ID string }

// Now stops the current session and runs it again with Text, after a question to
// confirm it. An empty Text reruns the session without asking. With no session in
// flight, Text is queued as guidance.
type Now struct{ Text string }

// AttachMore adds the input's files to what earlier files of the same album were sent
// with, "g17", and their words to guidance that is still queued.
type AttachMore struct{ To, Words string }

// HearVoice has the input's recording turned into words, which answer a question or are
// guidance that begins with an address: "@builder #12 ".
type HearVoice struct{ ledger.Spoken }

// EraseFiles with a Task erases what was sent with it and the pictures that were taken of
// it: those that the state knows, and Pictures, which are the hashes of earlier ones.
// Without one, it erases the bytes of the files that were sent with guidance, an answer or
// an addition: "g17", "q5", "a3".
type EraseFiles struct {
	ID       string
	Task     string
	Pictures []string
}

// AnswerQuestion answers a question. Question is its id, or the id of a task that
// has exactly one open question. Choice is a verb, a letter, an option, or an
// unambiguous prefix of a verb; "" if there are only Words.
type AnswerQuestion struct {
	Question string
	Choice   string
	Words    string
}

// SkipTask marks a task as skipped.
type SkipTask struct{ Task string }

// RetryTask makes a blocked, skipped or done task ready again and allows it two
// new attempts.
type RetryTask struct{ Task string }

// RedoPlan discards a task's plan and starts the task anew. Parts that are done
// stay done.
type RedoPlan struct {
	Task  string
	Words string // told to the planner; may be empty
}

// RevertTasks takes tasks out of the run's branch, after a confirmation.
type RevertTasks struct{ Tasks []string }

// KeepTasks makes a branch that has the given tasks and no others; without tasks, all
// that were ever on the run's branch. It asks before it leaves work out.
type KeepTasks struct{ Tasks []string }

// RedoTask has a task done again, on a branch without it.
type RedoTask struct {
	Task  string
	Words string // guidance for its next session; may be empty
}

// ResetThreshold takes the learned threshold of a kind of task back. Without a kind it
// is the only one.
type ResetThreshold struct{ Kind string }

// AllowHost lets the project's sessions reach a host that its configuration does not
// name; port 0 stands for 443 and 80.
type AllowHost struct {
	Host string
	Port int
}

// RemoveHost takes an allowed host back.
type RemoveHost struct {
	Host string
	Port int
}

// KeepNetworkOpen keeps the network open for sessions that read text by strangers,
// as far as the settings do, until a time. A zero time closes it again.
type KeepNetworkOpen struct{ Until time.Time }

// ClearTaints takes what sessions left behind that had read text by strangers for the
// project's own.
type ClearTaints struct{}

// NextTask makes a ready task the next task of the run.
type NextTask struct {
	Task string
	// Text is the TextID of the text that the person read, for a task that waits to be
	// taken; "" takes whatever it says.
	Text string
}

// FixReport makes a bug report the next one of the run, or where none is under way of the
// next run, whatever triage says of it and whoever claims it. One that is blocked, skipped
// or set aside is made ready.
type FixReport struct{ Task string }

// AddTasks adds tasks to a source (docs/spec 3.8): to that of the run under way, else
// to Source. A task without an id gets the source's next one.
type AddTasks struct {
	Tasks   []ledger.Task
	Repo    string           // folder of the repository
	Source  ledger.SourceRef // zero: there is none but a run's
	Known   []ledger.Task    // tasks that Source has now
	Session string           // of the session that adds them; "" = a person does
}

// TakeIdea has an idea planned: a session drafts tasks, and a person decides on them
// (docs/spec 3.9). Settings are those of the run that works the plan.
type TakeIdea struct {
	Text     string
	Settings ledger.Settings
}

// UndoAdd takes added tasks out of their source again. ID is that of the addition,
// "a3", or of one of its tasks.
type UndoAdd struct{ ID string }

// EditAdd replaces what was added by other tasks. ID is as in UndoAdd.
type EditAdd struct {
	ID    string
	Tasks []ledger.Task
}

// OfferRun asks a person to confirm a new run. The answer starts it
// (docs/spec 2.0, 23.2).
type OfferRun struct {
	Settings    ledger.Settings
	Review      *ledger.Limits // limits of profile review, offered as a second choice; nil if Settings has that profile
	MaxSessions int
	Day         ledger.DayBudget
	Tasks       int                   // number of open tasks in the source; -1 = unknown
	First       string                // id of the first open task
	Outlook     *ledger.Outlook       // what it will probably get done; nil = unknown
	Lanes       *ledger.LanesProposal // several lanes that it would be faster with; nil = none
	Idle        bool                  // the run could begin nothing: no task is ready, and no branch is red
}

// Late is a command that arrived more than an hour after it was sent, for example
// because the daemon was off. It asks for confirmation instead of acting
// (docs/spec 6.7).
type Late struct {
	Line string                 // as typed
	Do   ledger.DeferredCommand // the command to carry out if confirmed
	Sent time.Time              // when it was sent
}

// --- Inputs from sessions ---

// Emit is an event that a session sends. A session has one event; repeating it gives
// the same answer.
type Emit struct {
	Session string
	Type    string
	Data    json.RawMessage

	written bool // the session has ended, and its last message with this
}

// Remember is a note that a session leaves for later sessions.
type Remember struct {
	Session string
	Kind    ledger.MemoryKind
	Text    string
}

// --- Results of effects and other reports ---

// HostAsked reports that a session waits for a host that is not named. Its key is
// HostKey, so that a session's host is decided on once.
type HostAsked struct{ Request ledger.HostRequest }

// Throttled reports that calls of a session were refused for their number, so many
// that it does not heed the refusal.
type Throttled struct {
	Session string
	Refused int
}

// HatsChanged reports that hats and patterns were read again during a run. A
// non-empty Err says why the new ones cannot be used.
type HatsChanged struct {
	Pattern ledger.Pattern
	Hats    map[string]ledger.Hat
	Err     string
}

// Preflighted is the result of EffectPreflight.
type Preflighted struct {
	Run      string // the run that the preflight was for; "" = the run being planned
	Base     ledger.Base
	Snapshot ledger.Snapshot
	Problems []ledger.Diagnostic
	Warnings []ledger.Diagnostic
	Request  *ledger.RequestView // of a run that keeps a request green: what that shows now
	Wanted   []AgentHosts        // of agents whose sessions may have a closed network
}

// AgentHosts are the hosts that an agent's program asked for when it was tried in a
// closed network that lets nothing out.
type AgentHosts struct {
	Agent string
	Hosts []ledger.HostUse
}

// SourceChanged reports that the source was read again. A non-empty Err says why its
// present content cannot be used.
type SourceChanged struct {
	Snapshot ledger.Snapshot
	Err      string
	Before   TaskList // the tasks as they were known when reading began; empty = as now. A mark that nightporter wrote since is newer than Snapshot

	// Source and Doubted are those of the EffectReread that asked for the
	// reading. They are zero for all other readings.
	Source  string
	Doubted time.Time
}

// SessionExited reports the end of a session's process.
type SessionExited struct{ Exit ledger.Exit }

// TreeCaptured is the result of EffectCapture.
type TreeCaptured struct {
	Session string
	Taken   ledger.Capture
	Ref     string
	Stopped bool // a person stopped the run before the capture was done: nothing was taken
}

// MergeFinished is the result of EffectMerge.
type MergeFinished struct {
	Task     string
	Onto     string
	OntoTree string // for a part: the tree of its task that it was merged into
	Merged   ledger.Merged
}

// ChainMade is the result of EffectChain: the chain, and the attempts that cannot be
// part of it.
type ChainMade struct {
	Batch string // id of the batch
	Links []ledger.BatchLink
	Left  []ledger.BatchLeft
}

// RemakeFinished is the result of EffectRemake.
type RemakeFinished struct {
	Branch string // of the request
	Made   ledger.Remade
}

// Triaged is the result of EffectTriage: a verdict on each report that is not settled,
// and those that somebody else works on.
type Triaged struct {
	Run      string
	Wave     int
	Answers  int // as in the effect
	Verdicts []ledger.Triage
	Claimed  []ledger.Claimed
}

// CommitMade is the result of EffectCommit.
type CommitMade struct {
	Task      string
	Committed ledger.Committed
}

// TipMoved is the result of EffectCommit if somebody else added commits to the
// run's branch. Tip is the new commit of the branch.
type TipMoved struct {
	Task string
	Tip  string
	Tree string // of Tip
}

// LiftFinished is the result of EffectLift.
type LiftFinished struct {
	Run    string // id of the branch
	N      int    // of LiftBegun
	Lifted ledger.Lifted
}

// PushFinished is the result of EffectPush.
type PushFinished struct {
	Run   string
	Push  ledger.Push
	Forge ledger.ForgeKind // the server of the remote
}

// RequestFinished is the result of EffectRequest.
type RequestFinished struct {
	Run     string
	Print   string // of the effect
	Request ledger.Request
}

// RequestLooked tells what a look at the open request of a run's branch showed.
type RequestLooked struct {
	Run string
	Now ledger.RequestStanding
	Tag string // for the next look

	Comments *request.CommentNews // nil: the look did not show them
}

// ReplyFinished is the result of EffectReply. Failure says why there is no reply, nor
// will be one.
type ReplyFinished struct {
	Run     string
	Key     string
	Failure *ledger.ForgeError // nil = it is there, or the request is not open any more
}

// MergeRequest asks for the merge of a request, and is asked about first. Number 0
// stands for the newest open one.
type MergeRequest struct{ Number int }

// RequestMerged is the result of EffectMergeRequest. Failure says why the request is
// not merged.
type RequestMerged struct {
	Run     string
	Head    string // that a person confirmed
	Request ledger.Request
	Method  ledger.MergeMethod
	Failure *ledger.ForgeError // nil = merged, or in the forge's queue
}

// MarkMade is the result of EffectMark and EffectProgress. A non-empty Err says why
// the file could not be written. People are told, and the run goes on.
type MarkMade struct {
	Task   string
	Mark   ledger.Mark
	Err    string
	Source string // of the effect
	Tries  *ledger.Tries
	Claim  *ledger.ReportClaim // of somebody else, to which the mark gave way; nil = none
}

// TasksWritten is the result of EffectAddTasks. A non-empty Err says why the source
// does not take them.
type TasksWritten struct {
	ID     string // of the addition
	Added  ledger.AddedTasks
	Before TaskList // the tasks as they were known when the effect began
	Err    string
	Remedy string
}

// TasksTakenOut is the result of EffectRemoveTasks. A non-empty Err says why they stay.
type TasksTakenOut struct {
	ID  string // of the addition
	Err string
}

// Transcribed is the result of EffectTranscribe. A non-empty Err says why there are no
// words.
type Transcribed struct {
	Of   ledger.EffectTranscribe
	Text string
	Err  string
}

// EffectName names one effect: no other has the same kind and key.
type EffectName struct{ Kind, Key string }

// EffectBroken reports that an effect could not be carried out. With a Fault, it
// is tried again after a RetryPause.
type EffectBroken struct {
	Kind   string
	Key    string
	Task   string
	Text   string
	Remedy string // what a person does about it; "" where the text says all
	Fault  ledger.Fault
}

// Tick reports that time has passed. Due says when one is needed.
type Tick struct{}

// ClockJumped reports that the time of day changed by By against the time in which
// nightporter ran. Without a project it is about the shared state.
type ClockJumped struct{ By time.Duration }

// Wake reports a change in the shared state that may let this project plan work,
// such as a usable agent or a free slot.
type Wake struct{}

// InputKind values.
func (StartRun) InputKind() string        { return "start_run" }
func (Pause) InputKind() string           { return "pause" }
func (HostAsked) InputKind() string       { return "host_asked" }
func (AllowHost) InputKind() string       { return "host_allow" }
func (RemoveHost) InputKind() string      { return "host_remove" }
func (KeepNetworkOpen) InputKind() string { return "network_open" }
func (ClearTaints) InputKind() string     { return "taints_clear" }
func (Resume) InputKind() string          { return "resume" }
func (Stop) InputKind() string            { return "stop" }
func (Guide) InputKind() string           { return "guidance" }
func (EditGuidance) InputKind() string    { return "edit_guidance" }
func (DropGuidance) InputKind() string    { return "drop_guidance" }
func (KeepGuidance) InputKind() string    { return "keep_guidance" }
func (Now) InputKind() string             { return "now" }
func (AttachMore) InputKind() string      { return "attach" }
func (EraseFiles) InputKind() string      { return "erase" }
func (HearVoice) InputKind() string       { return "hear" }
func (Transcribed) InputKind() string     { return "transcribed" }
func (AnswerQuestion) InputKind() string  { return "answer" }
func (SkipTask) InputKind() string        { return "skip" }
func (RetryTask) InputKind() string       { return "retry" }
func (RedoPlan) InputKind() string        { return "redo_plan" }
func (NextTask) InputKind() string        { return "next" }
func (FixReport) InputKind() string       { return "fix" }
func (ResetThreshold) InputKind() string  { return "reset_threshold" }
func (RevertTasks) InputKind() string     { return "revert" }
func (KeepTasks) InputKind() string       { return "keep" }
func (RedoTask) InputKind() string        { return "redo" }
func (AddTasks) InputKind() string        { return "add" }
func (TakeIdea) InputKind() string        { return "idea" }
func (UndoAdd) InputKind() string         { return "undo_add" }
func (EditAdd) InputKind() string         { return "edit_add" }
func (TasksWritten) InputKind() string    { return "tasks_written" }
func (TasksTakenOut) InputKind() string   { return "tasks_taken_out" }
func (OfferRun) InputKind() string        { return "offer_run" }
func (Late) InputKind() string            { return "late" }
func (Emit) InputKind() string            { return "emit" }
func (Remember) InputKind() string        { return "remember" }
func (Throttled) InputKind() string       { return "throttled" }
func (HatsChanged) InputKind() string     { return "hats_changed" }
func (Preflighted) InputKind() string     { return "preflighted" }
func (SourceChanged) InputKind() string   { return "source_changed" }
func (SessionExited) InputKind() string   { return "session_exited" }
func (TreeCaptured) InputKind() string    { return "tree_taken" }
func (MergeFinished) InputKind() string   { return "tree_laid" }
func (ChainMade) InputKind() string       { return "chain_made" }
func (RemakeFinished) InputKind() string  { return "branch_remade" }
func (Triaged) InputKind() string         { return "triaged" }
func (CommitMade) InputKind() string      { return "commit_made" }
func (TipMoved) InputKind() string        { return "tip_moved" }
func (LiftFinished) InputKind() string    { return "lift_finished" }
func (PushFinished) InputKind() string    { return "push_finished" }
func (RequestFinished) InputKind() string { return "request_finished" }
func (RequestLooked) InputKind() string   { return "request_looked" }
func (MergeRequest) InputKind() string    { return "merge" }
func (RequestMerged) InputKind() string   { return "request_merged" }
func (ReplyFinished) InputKind() string   { return "reply_finished" }
func (MarkMade) InputKind() string        { return "mark_made" }
func (EffectBroken) InputKind() string    { return "effect_broken" }
func (Tick) InputKind() string            { return "tick" }
func (ClockJumped) InputKind() string     { return "clock_jumped" }
func (Wake) InputKind() string            { return "wake" }
