package ledger

import "encoding/json"

// SourceRead records how the source differs from its last reading. It has new and
// changed tasks in full, and the order of all tasks.
type SourceRead struct {
	Name    string   `json:"name"`
	Path    string   `json:"path"`
	Tasks   []Task   `json:"tasks,omitempty"`   // new, or changed in any field but Line
	Order   []string `json:"order"`             // ids of all tasks, in document order
	Gone    []string `json:"gone,omitempty"`    // ids of tasks that are no longer in the source
	Doubted []string `json:"doubted,omitempty"` // ids of tasks of which the file lacks something since this reading: nothing of that is believed yet
	Lost    bool     `json:"lost,omitempty"`    // the run was under way then, so nobody started it on this file
	Back    []string `json:"back,omitempty"`    // ids of doubted tasks of which the file lacks nothing any more
	Own     []Task   `json:"own,omitempty"`     // tasks that nightporter puts in front; no file contains them
	Trouble string   `json:"trouble,omitempty"` // why the file cannot be used; the last good reading stays in force
}

// SourceMarked records that a status was written into the user's file.
type SourceMarked struct {
	Mark  Mark   `json:"mark"`            // "": Error is about the task's entry in the progress log
	Error string `json:"error,omitempty"` // why it could not be written; "" = it was
	Tries *Tries `json:"tries,omitempty"` // written along with it

	// Claim is of somebody else who took the report first: nothing was written, and the
	// attempt gives way.
	Claim *ReportClaim `json:"claim,omitempty"`
}

// TaskSet records a change of a task's status.
type TaskSet struct {
	From     Status `json:"from,omitempty"`
	To       Status `json:"to"`
	Why      string `json:"why,omitempty"`
	Question string `json:"question,omitempty"` // id of the open question that belongs to it
	Fresh    bool   `json:"fresh,omitempty"`    // failed attempts are forgotten: after /retry, or an edit of the body
	By       string `json:"by,omitempty"`       // name of the person whose command it was; earlier releases wrote it into Why

	Returned *Returned `json:"returned,omitempty"` // of a done task that an evaluator sent back
	Again    bool      `json:"again,omitempty"`    // of a done task that comes back by itself (Task.Repeat)

	Rest *Rest `json:"rest,omitempty"` // of a task that is withdrawn: what its line brings back; nil in entries of earlier releases

	Gate Gate `json:"gate,omitempty"` // of a report that triage set aside: the gate that it failed at
}

// Returned says why a task that was done is ready again. Its commit stays, and its
// next attempt goes on from the tip of the branch.
type Returned struct {
	By       string   `json:"by"`       // id of the evaluator's task
	Findings []string `json:"findings"` // what it says is wrong
	Times    int      `json:"times"`    // times that the task was sent back, this one included
}

// MaxReturned is how often a task can be sent back before a person decides.
const MaxReturned = 2

// Rest is what a withdrawn task keeps for the return of its line, apart from its
// attempt and its guidance, which stay where they are.
type Rest struct {
	Status    Status     `json:"status"`
	Why       string     `json:"why,omitempty"`
	Question  string     `json:"question,omitempty"`  // id of the one of Questions that the status is about
	Questions []Question `json:"questions,omitempty"` // open ones, which are asked again
}

// Reason returns why the task changed, for people: "retry, by Mira".
func (b TaskSet) Reason() string {
	if b.By == "" {
		return b.Why
	}
	return b.Why + ", by " + b.By
}

// TaskWords records a person's words about a task. Every later prompt of the task
// contains them.
type TaskWords struct {
	Text   string       `json:"text"`
	Answer *AgentAnswer `json:"answer,omitempty"` // the answer to an agent's question that they are; nil for other words
}

// AgentAnswer is the answer to an agent's question.
type AgentAnswer struct {
	Question string   `json:"question"` // id
	Text     string   `json:"text"`     // of the question
	Options  []string `json:"options,omitempty"`
	Words    string   `json:"words"`
	By       string   `json:"by,omitempty"` // who answered; "" = nobody in time, or an entry of an earlier release
}

// TaskNext records that a person wants the task to be the next one.
type TaskNext struct {
	// Fix says that it is a bug report which is to be fixed whatever triage says of it,
	// and whoever claims it.
	Fix bool `json:"fix,omitempty"`
}

// PathsAllowed records the decision about paths outside of a task's scope that
// its sessions wrote repeatedly: a person allows the task to write them or,
// with Denied, they stay forbidden and are not asked about again.
type PathsAllowed struct {
	Paths  []string `json:"paths"`
	Denied bool     `json:"denied,omitempty"`
}

// SecretsCleared records that a person called findings no secrets. They are not
// asked about again in the project.
type SecretsCleared struct {
	Found []SecretFound `json:"found"`
}

// NewFilesSettled records the decision about folders in which a session made more
// new files than are taken without a question: any number is taken from now on
// or, with LeftOut, their new files are ignored for the task.
type NewFilesSettled struct {
	Paths   []string `json:"paths"`
	LeftOut bool     `json:"left_out,omitempty"`
}

// PartsMade turns approved sections of a task's plan into tasks such as "Task
// 5/b", which are in no file (docs/spec 4.4). Gone lists parts of an earlier plan
// that were never begun. Whole says that the plan is settled: the task is done
// when its parts are.
type PartsMade struct {
	Parts []Task            `json:"parts,omitempty"`
	Plans map[string]string `json:"plans,omitempty"` // the section of each part as JSON, keyed by the part's id as written
	Gone  []string          `json:"gone,omitempty"`
	Whole bool              `json:"whole,omitempty"`
}

// PartMerged records that the change of a part was merged into the tree of its task. It
// is an entry of that task.
type PartMerged struct {
	Part    string `json:"part"`    // its id, as written
	Session string `json:"session"` // that wrote the change
	Summary string `json:"summary,omitempty"`
	Tree    string `json:"tree"` // of the task, with the change
	Files   int    `json:"files"`
	Setup   bool   `json:"setup,omitempty"` // a lockfile changed: setup is due

	Manual    string      `json:"manual,omitempty"`    // what a person has to look at
	Learnings string      `json:"learnings,omitempty"` // of its sessions
	Outside   OutsideText `json:"outside,omitempty"`   // what its sessions had; closed if one had it
	Scripted  bool        `json:"scripted,omitempty"`  // the scripted agent had one of its sessions

	Disputed json.RawMessage `json:"disputed,omitempty"` // what it disputes of what it had to mend, and why

	Proof *ProofFacts `json:"proof,omitempty"` // of Tree against the start of the task's attempt
}

// PartsMerged records that the changes of all parts of a task are in its tree. The
// attempt goes on as after one session of the hat that built them.
type PartsMerged struct {
	Hat     string          `json:"hat"`
	Session string          `json:"session"` // the last one that wrote
	Type    string          `json:"type"`    // of the event
	Data    json.RawMessage `json:"data"`    // what the sessions said, as one event of that type
	Tree    string          `json:"tree"`
}

// TaskReplanned records that a task is planned anew after failed attempts: its next
// attempt begins with a planner, who is told of them (docs/spec 2.5).
type TaskReplanned struct {
	Failed int `json:"failed"` // failed attempts so far
}

// PlanSettled records the result of the argument about a plan: the critic or a
// person approved it, or a person sent it back with words.
type PlanSettled struct {
	Approved bool   `json:"approved"`
	By       string `json:"by"` // "critic", or a person's name
	Rounds   int    `json:"rounds"`
	Words    string `json:"words,omitempty"`
}

// TaskCommitted records a task's commit on the branch. A task has one.
type TaskCommitted struct {
	Commit  string       `json:"commit"`
	Parent  string       `json:"parent"`
	Tree    string       `json:"tree"`
	Subject string       `json:"subject"`
	Files   []FileChange `json:"files,omitempty"`
	More    int          `json:"more,omitempty"`    // how many changed files Files leaves out
	Exempt  []string     `json:"exempt,omitempty"`  // what fails in it as at the start, for people
	Outside bool         `json:"outside,omitempty"` // sessions of its attempt read text that strangers may have written
}

// TaskProved records what a task's "done" is worth, when it is done, and again
// when a person allows or passes it (docs/spec 8.4).
type TaskProved struct {
	Proof Proof `json:"proof"`
}

// TaskPictured records the picture of an attempt's start, and again both that one and
// the picture of its result, before it is committed (docs/spec 8.5).
type TaskPictured struct {
	Pictured
}

// TipFound records that somebody else added commits to the run's branch.
type TipFound struct {
	Commit string `json:"commit"`
	Tree   string `json:"tree,omitempty"` // of Commit; "" in entries of earlier releases
}
