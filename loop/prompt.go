package loop

import (
	"fmt"
	"path"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of what goes into a prompt (docs/spec 4.7).
const (
	bytesPerToken   = 3.5       // an estimate, and called one
	maxIssues       = 100       // AsIssues in the prompt itself
	maxIssueBytes   = 32 << 10  // of them
	maxDiffBytes    = 100 << 10 // of the diff that a reviewer is given
	maxMemoryTokens = 4000      // of all that the hat's load list brings
	leastKept       = 200       // tokens: less of a part than this is no use, and it is left out whole
)

// Material is what a prompt needs besides the state: what the engine looked
// up in the repository and the project's notebooks.
type Material struct {
	Conventions []File // AGENTS.md, CLAUDE.md of the start commit
	Loaded      []File // the hat's load list
	Diff        string // of the attempt so far
	Changed     []ledger.FileChange
}

// File is one file's path and text.
type File struct {
	Path string
	Text string
}

// Prompt is what a session is given: the prompt itself, and the files of its
// CONTEXT folder.
type Prompt struct {
	Text    string
	Context map[string][]byte
	Parts   []Part // in the order of the text
	Tokens  int    // of Text, estimated
	Max     int    // the hat's max_tokens, 0 = no limit
	Over    bool   // Text is longer than Max: what may be cut was cut, and the rest never is
}

// Part is one section of a prompt.
type Part struct {
	Title  string
	Text   string // as it stands in the prompt, without its heading
	Tokens int    // of Text, estimated
	Whole  int    // what it would have with nothing cut
	Cut    bool
}

// BuildPrompt builds the prompt of a session that is planned in the state
// (docs/spec 4.7). It is deterministic: the same state and material give the same
// text, also after a crash.
//
// The order is fixed. What docs/spec 4.7 does not name stands where it is read
// best: Objections behind the plan that they are about; Last progress, Note
// well, Issues, Verification and Changes so far behind what happened, from the
// oldest news to the newest, all before the person's own words, because these
// outrank them and what is read last is kept in mind.
func BuildPrompt(s State, session string, m Material) (Prompt, error) {
	ses, ok := s.Project.Session(session)
	if !ok {
		return Prompt{}, fmt.Errorf("session %s is not in flight", session)
	}
	t, ok := s.Project.Find(ses.Task)
	if !ok || t.Attempt == nil || s.Project.Run == nil {
		return Prompt{}, fmt.Errorf("session %s has no attempt", session)
	}
	w := &writing{
		p: s.Project, r: s.Project.Run, t: t, w: t.Attempt, ses: ses, m: m,
		hat: s.Project.Run.Settings.Hats[ses.Planned.Hat], context: map[string][]byte{},
	}
	if t.Task.Parent != "" {
		w.parent, w.part = s.Project.Find(t.Task.Parent)
	}
	plan := w.plan()
	w.context["task.md"] = []byte("# " + t.Task.ID + ": " + t.Task.Title + "\n\n" + t.Task.Body + "\n")
	if len(plan) > 0 {
		w.context["plan.json"] = plan
	}
	parts := []part{
		{title: "Role", text: strings.TrimSpace(w.hat.Prompt)},
		{title: "Task", text: w.taskText()},
		{title: "Acceptance", text: w.acceptanceText()},
		{title: "Scope", text: w.scopeText()},
		w.planPart(plan),
		{title: "Objections", text: w.objectionsText()},
		w.earlierPart(),
		w.historyPart(),
		w.progressPart(),
		{title: "Note well", text: w.noteText()},
		{title: "Issues", text: w.issuesText()},
		{title: "Verification", text: w.verifiedText()},
		w.diffPart(),
		{title: "Guidance", text: w.guidanceText()},
		{title: "Answers", text: w.answersText()},
		w.memoryPart(len(plan) > 0),
		conventionsPart(m.Conventions),
		{title: "How to end", text: w.howToEnd()},
	}
	return assemble(parts, w.hat.MaxTokens, w.context), nil
}

// writing is one prompt in the making: what all of its parts are made from.
type writing struct {
	p       Project
	r       *Run
	t       TaskState
	w       *Attempt
	part    bool      // the task is a part of another one's plan
	parent  TaskState // that other one
	hat     ledger.Hat
	ses     Session
	m       Material
	context map[string][]byte
}

// Needs says what a session's prompt has to look up, and where.
type Needs struct {
	Load     []string // the hat's load list: .ralph/… in the person's checkout, the rest at Rev
	Rev      string   // commit whose conventions and load list are read
	From, To string   // trees of the diff; empty = none
}

// notebooks is the folder of the checkout that sessions write through hat
// (docs/spec 9.1, 11), and latestPlan the newest plan of any task in it.
const (
	notebooks  = ".ralph/"
	latestPlan = notebooks + "events/latest-plan.json"
)

// InNotebook reports whether a path of a load list is one of the project's
// notebooks, which are in the person's checkout and in no commit.
func InNotebook(file string) bool { return strings.HasPrefix(path.Clean(file), notebooks) }

// PromptNeeds returns what BuildPrompt wants as Material.
func PromptNeeds(s State, session string) (Needs, bool) {
	ses, ok := s.Project.Session(session)
	if !ok || s.Project.Run == nil {
		return Needs{}, false
	}
	t, ok := s.Project.Find(ses.Task)
	if !ok || t.Attempt == nil {
		return Needs{}, false
	}
	n := Needs{Load: s.Project.Run.Settings.Hats[ses.Planned.Hat].Load, Rev: t.Attempt.Base}
	if t.Attempt.Tree != t.Attempt.Start {
		n.From, n.To = t.Attempt.Start, t.Attempt.Tree
	}
	return n, true
}
