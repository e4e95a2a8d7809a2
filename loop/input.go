package loop

import (
	"encoding/json"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Input is something that reached a project from outside: a command, an
// event, the end of a session, the result of an effect, the passing of time.
type Input struct {
	Key     string      // natural key: the same key is the same input, decided once. "" = never repeated
	Time    time.Time   // set by the engine's clock
	Actor   string      // "console", "agent", "daemon", "telegram:48213377"
	Name    string      // the actor's name for people: "Mira"
	Role    ledger.Role // that the actor was let in with; where it does not hold any more when this is decided, nothing is done. "" = not looked at
	Project string
	Body    InputBody
	Settles int64 // the effect whose result this is; 0 = none
	Idle    bool  // no daemon is there to act on it: decided, and nothing planned
}

// InputBody is the content of one kind of input.
type InputBody interface{ InputKind() string }

// --- What people ask for ---

// StartRun plans a run, or takes up the unfinished one.
type StartRun struct {
	Settings    ledger.Settings
	MaxSessions int              // of the house
	Snapshot    *ledger.Snapshot // the source as it is now, for a run that is resumed; nil = not read
	Alone       bool             // no other project is worked on by this process: their slots are free
	New         bool             // end an unfinished run and start from HEAD
	Check       bool             // preflight only
}

// Pause holds planning; with Now the sessions in hand are cut off too.
type Pause struct{ Now bool }

// Resume ends a pause, and is "try now" while the run waits for an agent. With
// Agent, the run goes on with that one.
type Resume struct{ Agent string }

// Stop ends the run after what is in hand, or at once. Signal says which
// signal asked for it, "" for a person's /stop.
type Stop struct {
	Now    bool
	Signal string
}

// Guide queues a directive. Text may begin with an address (@hat #task !sticky).
type Guide struct{ Text string }

// EditGuidance replaces the words of a queued item.
type EditGuidance struct{ ID, Text string }

// DropGuidance takes an item back.
type DropGuidance struct{ ID string }

// KeepGuidance queues an expired item again.
type KeepGuidance struct{ ID string }

// Now asks to stop the current session and run it again with the words.
// The first time it asks for confirmation by a question.
type Now struct{ Text string }

// AnswerQuestion settles a question. Question may also be a task's id, which
// then means the one open question of that task; Choice is a verb, a letter,
// or the first letters of one, "" where only words were given.
type AnswerQuestion struct {
	Question string
	Choice   string
	Words    string
}

// SkipTask puts a task away.
type SkipTask struct{ Task string }

// RetryTask makes a blocked, skipped or done task ready again, with two new attempts.
type RetryTask struct{ Task string }

// RedoPlan throws a task's plan away and has it planned anew. Parts that are
// done stay done.
type RedoPlan struct {
	Task  string
	Words string // for the planner
}

// NextTask moves a ready task to the front, once.
type NextTask struct{ Task string }

// OfferRun asks for the confirmation of a run: a question whose answer starts
// it (docs/spec 2.0, 23.2).
type OfferRun struct {
	Settings    ledger.Settings
	Review      *ledger.Limits // those of profile review; nil where the settings are of it already
	MaxSessions int
	Tasks       int    // open ones in the source; -1 = not known
	First       string // id of the first one
}

// Late is a command from a time when nobody could read it, older than an
// hour: it asks first (docs/spec 6.7). Do is what it would have done.
type Late struct {
	Line string                 // as typed
	Do   ledger.DeferredCommand // pause, resume or stop
	Sent time.Time              // when it was typed
}

// --- Who may ask: inputs of the house, with an empty Project (docs/spec 6.6) ---

// OfferPairing shows a code on the host. Hash stands for it.
type OfferPairing struct {
	Hash string
	Role ledger.Role
}

// TryPairing is a code that somebody sent; the input's Actor and Name say who.
type TryPairing struct{ Hash string }

// RemovePerson takes somebody out.
type RemovePerson struct{ ID string }

// SetQuiet changes the quiet hours of a chat: as ParseHours reads them.
type SetQuiet struct {
	Chat  string
	Hours ledger.Hours
}

// MeetStranger is a message of somebody who is not let in.
type MeetStranger struct{ Chat, Why string }

// RefuseCommand is a command of somebody whose role does not include it.
type RefuseCommand struct{ Command, For string }

// --- The digest: inputs of the house, too (docs/spec 6.5) ---

// CameBack says that no nightporter was there since Off.
type CameBack struct{ Off time.Time }

// DigestDue says that the time of day of the digest has come. What is due is
// decided here, however often it is said.
type DigestDue struct {
	Day string    // local date, 2026-11-20
	At  time.Time // when it was due that day
}

// WeekDigestDue is DigestDue for the digest of a week.
type WeekDigestDue struct {
	Week string    // ISO 8601, 2026-W47
	At   time.Time // when it was due that week
}

// --- What sessions say ---

// Emit is the event of a session.
type Emit struct {
	Session string
	Type    string
	Data    json.RawMessage
}

// Remember is what a session wants later ones to know.
type Remember struct {
	Session string
	Kind    ledger.MemoryKind
	Text    string
}

// --- What the outside reports ---

// HatsChanged says that hats or patterns were read again while a run is under
// way. Err: they cannot be used as they are.
type HatsChanged struct {
	Pattern ledger.Pattern
	Hats    map[string]ledger.Hat
	Err     string
}

// Preflighted is the result of EffectPreflight.
type Preflighted struct {
	Run      string // that was looked at; "" = the one that is planned
	Base     ledger.Base
	Snapshot ledger.Snapshot
	Problems []ledger.Finding
	Warnings []ledger.Finding
}

// SourceChanged says that the source was read again. Err: it cannot be used
// as it is.
type SourceChanged struct {
	Snapshot ledger.Snapshot
	Err      string
	Read     time.Time // when the reading began; zero = just now. Marks that were written since are newer
}

// SessionExited is the end of a session's process.
type SessionExited struct{ Exit ledger.Exit }

// TreeCaptured is the result of EffectCapture.
type TreeCaptured struct {
	Session string
	Taken   ledger.Capture
	Ref     string
}

// MergeFinished is the result of EffectMerge.
type MergeFinished struct {
	Task   string
	Onto   string
	Merged ledger.Merged
}

// CommitMade is the result of EffectCommit.
type CommitMade struct {
	Task      string
	Committed ledger.Committed
}

// TipMoved is the result of EffectCommit where somebody added commits to the
// run's branch: Tip is what it holds now.
type TipMoved struct {
	Task string
	Tip  string
}

// MarkMade is the result of EffectMark and EffectProgress. Err: it could not
// be written, which is told and holds nothing up.
type MarkMade struct {
	Task string
	Mark ledger.Mark
	Err  string
}

// EffectBroken says that an effect could not be carried out. Disk: because
// the disk is full or the state folder not writable; it is tried again.
type EffectBroken struct {
	Kind string
	Key  string
	Task string
	Text string
	Disk bool
}

// Tick says that time has passed: something in the state may be due.
type Tick struct{}

// Wake says that something changed in the house: an agent is usable again, a
// slot is free.
type Wake struct{}

// InputKind values.
func (StartRun) InputKind() string       { return "start_run" }
func (Pause) InputKind() string          { return "pause" }
func (Resume) InputKind() string         { return "resume" }
func (Stop) InputKind() string           { return "stop" }
func (Guide) InputKind() string          { return "guidance" }
func (EditGuidance) InputKind() string   { return "edit_guidance" }
func (DropGuidance) InputKind() string   { return "drop_guidance" }
func (KeepGuidance) InputKind() string   { return "keep_guidance" }
func (Now) InputKind() string            { return "now" }
func (AnswerQuestion) InputKind() string { return "answer" }
func (SkipTask) InputKind() string       { return "skip" }
func (RetryTask) InputKind() string      { return "retry" }
func (RedoPlan) InputKind() string       { return "redo_plan" }
func (NextTask) InputKind() string       { return "next" }
func (OfferRun) InputKind() string       { return "offer_run" }
func (Late) InputKind() string           { return "late" }
func (OfferPairing) InputKind() string   { return "offer_pairing" }
func (TryPairing) InputKind() string     { return "try_pairing" }
func (RemovePerson) InputKind() string   { return "remove_person" }
func (SetQuiet) InputKind() string       { return "set_quiet" }
func (MeetStranger) InputKind() string   { return "meet_stranger" }
func (RefuseCommand) InputKind() string  { return "refuse_command" }
func (CameBack) InputKind() string       { return "came_back" }
func (DigestDue) InputKind() string      { return "digest_due" }
func (WeekDigestDue) InputKind() string  { return "week_digest_due" }
func (Emit) InputKind() string           { return "emit" }
func (Remember) InputKind() string       { return "remember" }
func (HatsChanged) InputKind() string    { return "hats_changed" }
func (Preflighted) InputKind() string    { return "preflighted" }
func (SourceChanged) InputKind() string  { return "source_changed" }
func (SessionExited) InputKind() string  { return "session_exited" }
func (TreeCaptured) InputKind() string   { return "tree_taken" }
func (MergeFinished) InputKind() string  { return "tree_laid" }
func (CommitMade) InputKind() string     { return "commit_made" }
func (TipMoved) InputKind() string       { return "tip_moved" }
func (MarkMade) InputKind() string       { return "mark_made" }
func (EffectBroken) InputKind() string   { return "effect_broken" }
func (Tick) InputKind() string           { return "tick" }
func (Wake) InputKind() string           { return "wake" }

// Answer is what the sender of an input is told. It is kept under the
// input's key, and given again to whoever repeats it.
type Answer struct {
	OK      bool              `json:"ok"`
	Code    ledger.AnswerCode `json:"code,omitempty"` // for programs
	Text    string            `json:"text"`           // for people: one to three lines, what is now and what comes next
	ID      string            `json:"id,omitempty"`   // g9, q7, r14
	Receipt string            `json:"receipt,omitempty"`
	// Forecast belongs to CodeQueued. Answers stored before it existed have
	// none, which is also the value for the next session that writes.
	Forecast ledger.Forecast `json:"forecast,omitzero"`
}
