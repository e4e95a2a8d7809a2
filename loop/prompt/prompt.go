package prompt

import (
	"fmt"
	"path"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of the contents of a prompt (docs/spec 4.7).
const (
	bytesPerToken   = ledger.BytesPerToken // an estimate; people are told that it is one
	maxIssues       = 100                  // issues in the text of the prompt
	maxIssueBytes   = 32 << 10             // of those issues
	maxDiffBytes    = 100 << 10            // of the diff that a reviewer gets
	maxListBytes    = 16 << 10             // of the list of changed files
	leastPatch      = 1 << 10              // of a file's patch: a shorter part is left out
	maxMemoryTokens = 4000                 // of all files of the hat's load list
	leastKept       = 200                  // tokens: a part that would be shorter than this is left out
)

// Material is what a prompt needs besides the state. The engine reads it from
// the repository and the project's notebooks. Any field may be empty.
type Material struct {
	Conventions []File          // AGENTS.md and CLAUDE.md of the start commit
	Loaded      []File          // files of the hat's load list
	Changes     []ledger.Change // of the attempt so far, with their patches
	Mine        []ledger.Change // of the attempt before, if its change met others
	Theirs      []ledger.Change // what it met

	Pictures map[string][]byte // by hash, those of Lookup.Pictures that are there
}

// File is the path and the text of one file.
type File struct {
	Path string
	Text string
}

// Prompt is what a session gets: the text, and the files of its CONTEXT folder
// by name.
type Prompt struct {
	Text    string
	Context map[string][]byte
	Parts   []Part // in the order of the text
	Tokens  int    // estimate for Text
	Max     int    // the hat's max_tokens; 0 = no limit
	Over    bool   // Text exceeds Max even after all cuts: some parts are never cut
}

// Part is one section of a prompt.
type Part struct {
	Title  string
	Text   string // as in the prompt, without its heading
	Tokens int    // estimate for Text
	Whole  int    // the same estimate with nothing cut
	Cut    bool
}

// Build builds the prompt of a session that is planned in s (docs/spec 4.7). It
// is deterministic: the same state and material give the same text, also after
// a crash. It returns an error if the session is not in flight or its task has
// no attempt.
//
// The order of the parts is fixed. Parts that docs/spec 4.7 does not name stand
// where a reader needs them. Objections follow the plan that they are about.
// Planned anew, Both sides and Earlier attempts precede the history that they are older than.
// Last progress, Note well, Issues, Verification and Changes so far follow the
// history, oldest news first; Review passes say how to read the changes. All of these precede the person's guidance: it
// outranks them, and a model remembers best what it reads last.
func Build(s loop.State, session string, m Material) (Prompt, error) {
	ses, ok := s.Project.Session(session)
	if !ok {
		return Prompt{}, fmt.Errorf("session %s is not in flight", session)
	}
	t, ok := s.Project.Find(ses.Task)
	if !ok || t.Attempt == nil || s.Project.Run == nil {
		return Prompt{}, fmt.Errorf("session %s has no attempt", session)
	}
	b := &builder{
		project: s.Project, run: s.Project.Run, task: t, attempt: t.Attempt, session: ses, material: m,
		hat: s.Project.Run.Settings.Hats[ses.Planned.Hat], context: map[string][]byte{},
	}
	if t.Task.Parent != "" {
		b.parent, b.isPart = s.Project.Find(t.Task.Parent)
	}
	plan := b.plan()
	b.context["task.md"] = []byte("# " + t.Task.ID + ": " + b.title(t) + "\n\n" + b.quoted(t, "This text", t.Task.Body) + "\n")
	if len(plan) > 0 {
		b.context["plan.json"] = plan
	}
	parts := []part{
		{title: "Role", text: strings.TrimSpace(b.hat.Prompt)},
		{title: "Task", text: b.taskText()},
		{title: "Acceptance", text: b.acceptanceText()},
		{title: "Scope", text: b.scopeText()},
		b.planPart(plan),
		{title: "Objections", text: b.objectionsText()},
		b.earlierPart(),
		{title: "Planned anew", text: b.replanText()},
		b.conflictPart(),
		b.attemptsPart(),
		b.historyPart(),
		b.progressPart(),
		{title: "Note well", text: b.noteText()},
		{title: "Issues", text: b.issuesText()},
		{title: "Verification", text: b.verifiedText()},
		b.changesPart(),
		{title: "Review passes", text: b.passesText()},
		{title: "Guidance", text: b.guidanceText()},
		{title: "Answers", text: b.answersText()},
		b.memoryPart(len(plan) > 0),
		conventionsPart(m.Conventions),
		{title: "How to end", text: b.howToEnd()},
	}
	return assemble(parts, b.hat.MaxTokens, b.context), nil
}

// builder holds everything that the parts of one prompt are made from.
type builder struct {
	project  loop.Project
	run      *loop.Run
	task     loop.TaskState
	attempt  *loop.Attempt
	isPart   bool           // the task is a part of parent's plan
	parent   loop.TaskState // zero unless isPart is set
	hat      ledger.Hat
	session  loop.Session
	material Material
	context  map[string][]byte
}

// Lookup names the files and trees that the Material of a prompt is read from.
type Lookup struct {
	Load     []string         // the hat's load list: .ralph/… in the person's checkout, all else at Rev
	Rev      string           // commit whose conventions and load list are read
	From, To string           // trees to compare for the diff; empty = no diff
	Conflict *ledger.Conflict // whose two sides are looked up; nil = none
	Pictures []string         // hashes of the pictures that people sent with what the prompt says
}

// notebooks is the folder of the checkout that sessions write to through hat
// (docs/spec 9.1, 11).
const notebooks = ".ralph/"

// InNotebook reports whether a path of a load list is a notebook. Notebooks are
// in the person's checkout and in no commit.
func InNotebook(file string) bool { return strings.HasPrefix(path.Clean(file), notebooks) }

// Needs returns what the engine has to look up to fill the Material of Build.
// It returns false if the session is not in flight or has no attempt.
func Needs(s loop.State, session string) (Lookup, bool) {
	ses, ok := s.Project.Session(session)
	if !ok || s.Project.Run == nil {
		return Lookup{}, false
	}
	t, ok := s.Project.Find(ses.Task)
	if !ok || t.Attempt == nil {
		return Lookup{}, false
	}
	n := Lookup{Pictures: picturesFor(s.Project, ses, t), Load: s.Project.Run.Settings.Hats[ses.Planned.Hat].Load, Rev: t.Attempt.Base}
	if hat := s.Project.Run.Settings.Hats[ses.Planned.Hat]; !judges(hat) {
		n.Conflict = t.Conflict
	}
	if t.Attempt.Tree != t.Attempt.Start {
		n.From, n.To = t.Attempt.Start, t.Attempt.Tree
	}
	return n, true
}
