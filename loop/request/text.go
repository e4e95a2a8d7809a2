package request

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Facts is what the request of a run's branch is written from.
type Facts struct {
	Run      string
	Project  string
	Branch   string
	Plan     string // name of the source, for people: "checkout"
	Subject  string // of the only commit; "" = there are several
	Tip      string // last commit
	AtWork   bool   // the run goes on
	Done     []Task // that the branch has commits of, in the order of the source
	Left     []Task // that it has not
	Guidance []Guidance
	Results  []ledger.Result // verification of Tip; nil = it was not verified as a whole
	Setup    []string        // commands, for a person who verifies by hand
	Verify   []string
	Before   []ledger.Request // requests of earlier runs, open or closed, whose commits the branch has too
	Looks    []string         // what a person has to look at before a merge
	Stack    *Place           // of the branch of one task; nil = the run's own

	Base    string // "" = the engine finds it out
	Request ledger.Requests
}

// Place is the place of a task's request in the stack of its run.
type Place struct {
	N     int             // from 1, the lowest
	Of    int             // 0 = unknown, because the run goes on
	On    *ledger.Request // the one that it stands on, nil = none
	Next  *ledger.Request // the one that stands on it
	Again *ledger.Request // a later one that has the task done again
	Back  []string        // ids of tasks of the stack that commits of this branch take back
	Out   *ledger.Request // the one whose last commits take the task back
	Joint bool            // not its tree was verified, but a later one that has its changes
	Red   string          // the command that failed on its commit, and passed on a later one; "" = none
	Apart *Apart          // of a branch that was made for its task alone; nil = one of a stack of all
}

// Apart is what the request of a task says that has a branch of its own.
type Apart struct {
	OnTask string   // with Place.On: id of its task
	Files  []string // with Place.On: what both change
	With   []Other  // tasks whose changes it has besides
	Began  bool     // it stands on the commit that the run began with
	Why    string   // why it does not stand alone on the base
	Above  []Other  // whose requests stand on it
	Back   bool     // its last commit takes the change back
}

// Other is another task of the run, with its request.
type Other struct {
	Task    string
	Request *ledger.Request // nil = none
}

// Task is a task in the text of a request.
type Task struct {
	ID     string
	Title  string
	Proof  string // what its "done" is worth; "" = unknown
	Commit string
	Status string // why it is not done: "blocked"
	Why    string
	Shown  *Evidence // written where the request is of this task alone
}

// Evidence is what the last attempt at a task has shown, and what it took.
type Evidence struct {
	Cause    string // why it went wrong
	Repro    string // the command that fails without the fix
	Review   *Review
	Criteria []ledger.CriterionResult // of the last verdict of a verifier or tester
	Attempts int
	Sessions int           // of the last attempt
	Worked   time.Duration // of these sessions
}

// says reports whether there is more to say than that a session worked.
func (e *Evidence) says() bool {
	return e != nil && (e.Cause != "" || e.Review != nil || len(e.Criteria) > 0 || e.Attempts > 1)
}

// Review is the last review of a change.
type Review struct {
	Kind   string // of the fix: "ui-component"; "" = it has none
	By     string // the hat
	Rounds int
	Issues int // that it left, below what sends a task back
	Looks  []ledger.PassResult
}

// Guidance is what a person told the sessions, and what became of it.
type Guidance struct {
	ID    string
	Text  string
	By    string
	State string // "addressed"
	Note  string
}

// Sizes of a request's text. A person reads it on a phone, and forges bound it.
const (
	maxTasks    = 100
	maxGuidance = 30
	maxCriteria = 20
	maxCommands = 20
)

// Draft returns the request that says the facts.
func Draft(f Facts) ledger.RequestDraft {
	d := ledger.RequestDraft{
		Head: f.Branch, Base: f.Base, Title: titleOf(f), Body: ledger.RequestSection(bodyOf(f)),
		Draft: f.Request.Draft, Labels: f.Request.Labels, Reviewers: f.Request.Reviewers, Keep: true,
	}
	return d
}

// titleOf returns the title: the subject of the only commit, or how many tasks of
// which plan are done.
func titleOf(f Facts) string {
	if f.Subject != "" && !f.AtWork {
		return title(f.Subject)
	}
	name := f.Plan
	if name == "" {
		name = f.Project
	}
	if f.AtWork { // a title that is there stays, however many tasks come
		return title(fmt.Sprintf("%s (%s)", name, f.Run))
	}
	return title(fmt.Sprintf("%s: %s (%s)", name, plural(len(f.Done), "task"), f.Run))
}

func bodyOf(f Facts) string {
	var w writer
	w.line(lead(f))
	if f.Stack != nil {
		w.line(f.Stack.text())
	}
	for _, r := range f.Before {
		if r.State == ledger.RequestClosed {
			w.line(fmt.Sprintf("Builds on %s, which somebody closed, and has its commits too: they would be merged with this one.", r.URL))
			continue
		}
		w.line(fmt.Sprintf("Builds on %s and has its commits too: merge that one first, or this one alone.", r.URL))
	}
	for n, look := range f.Looks {
		if n == maxCommands {
			break
		}
		w.line("**Look at:** " + plain(look))
	}
	if len(f.Done) > 0 {
		w.head("Done")
		tasks(&w, f.Done, doneLine)
	}
	if len(f.Done) == 1 && !f.AtWork && f.Done[0].Shown.says() {
		evidence(&w, f.Project, f.Done[0])
	}
	if len(f.Left) > 0 {
		w.head("Not done")
		tasks(&w, f.Left, leftLine)
	}
	if len(f.Guidance) > 0 {
		w.head("Guidance")
		for n, g := range f.Guidance {
			if n == maxGuidance {
				w.item(fmt.Sprintf("and %d more", len(f.Guidance)-n))
				break
			}
			w.item(guidanceLine(g))
		}
	}
	verification(&w, f)
	return w.String()
}

func lead(f Facts) string {
	name := ""
	if f.Plan != "" {
		name = " of " + plain(f.Plan)
	}
	s := fmt.Sprintf("%s%s by nightporter, run %s.", plural(len(f.Done), "task"), name, f.Run)
	if f.AtWork {
		s += " The run goes on: this text grows with it."
	}
	return s
}

// text says where the request stands, and what to merge first.
func (p Place) text() string {
	if p.Apart != nil {
		return p.apart()
	}
	s := fmt.Sprintf("Number %d of a stack with a request for each task.", p.N)
	if p.Of > 0 {
		s = fmt.Sprintf("%d of %d of a stack with a request for each task.", p.N, p.Of)
	}
	if p.On != nil {
		s += fmt.Sprintf(" Stands on #%d; merge that first.", p.On.Number)
	}
	if p.Next != nil {
		s += fmt.Sprintf(" Next: #%d, which stands on this.", p.Next.Number)
	}
	if p.Again != nil {
		s += fmt.Sprintf(" The task is done again in #%d.", p.Again.Number)
	}
	if p.Out != nil {
		s += fmt.Sprintf(" The task was taken out again, by the last commits of #%d: merge both, or none.", p.Out.Number)
	}
	if len(p.Back) > 0 {
		var ids []string
		for _, id := range p.Back {
			ids = append(ids, code(id))
		}
		s += " Its last commits take back " + strings.Join(ids, ", ") + "."
	}
	return s
}

// apart is text for a request that is not one of a stack of all.
func (p Place) apart() string {
	a, s := p.Apart, "Stands alone: no other request of the run has to be merged first."
	switch {
	case p.On == nil && len(a.With) > 0:
		s = ""
	case a.Began:
		s = "Stands on the commit that the run began with, not on the base as it is now."
	case p.On != nil:
		s = fmt.Sprintf("Stands on #%d", p.On.Number)
		if a.OnTask != "" {
			s += " (the fix of " + code(a.OnTask) + ")"
		}
		switch n := len(a.Files); {
		case n == 1:
			s += ": both change " + code(a.Files[0])
		case n > 1:
			s += fmt.Sprintf(": both change %s and %s more", code(a.Files[0]), plural(n-1, "file"))
		}
		s += ". Merge that first."
	}
	if len(a.With) > 0 {
		s += " Has the changes of " + others(a.With) + ", too: they are merged with it."
	}
	if a.Why != "" {
		s += " Why: " + plain(a.Why) + "."
	}
	if len(a.Above) > 0 {
		s += " On this stand " + others(a.Above) + "."
	}
	if p.Again != nil {
		s += fmt.Sprintf(" The task is done again in #%d.", p.Again.Number)
	}
	if a.Back {
		s += " Its last commit takes the change back: nothing is left to merge."
	}
	return strings.TrimSpace(s)
}

// apartVerified says what was verified of a branch that is not one of a stack of all.
func (p Place) apartVerified() string {
	switch {
	case p.Apart.Back:
		return "The branch has no change any more."
	case p.Red != "":
		return "What it changes passed before its commit, but " + code(p.Red) + " failed on the commit. It passes with a later fix of the run."
	case p.Joint:
		return "What it changes was not verified by itself, but together with later fixes of the run."
	}
	return "All of it passed as it is on this branch, in a clean room."
}

// others names tasks with their requests: "`B1` (#12) and `B2`".
func others(all []Other) string {
	var names []string
	for _, o := range all {
		name := code(o.Task)
		if o.Request != nil {
			name += fmt.Sprintf(" (#%d)", o.Request.Number)
		}
		names = append(names, name)
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return names[0]
}

func tasks(w *writer, all []Task, line func(Task) string) {
	for n, t := range all {
		if n == maxTasks {
			w.item(fmt.Sprintf("and %d more", len(all)-n))
			return
		}
		w.item(line(t))
	}
}

func doneLine(t Task) string {
	s := fmt.Sprintf("%s %s", code(t.ID), plain(t.Title))
	if t.Proof != "" {
		s += ": " + plain(t.Proof)
	}
	if t.Commit != "" {
		s += " (" + short(t.Commit) + ")"
	}
	return s
}

func leftLine(t Task) string {
	s := fmt.Sprintf("%s %s: %s", code(t.ID), plain(t.Title), plain(t.Status))
	if t.Why != "" {
		s += ", " + plain(t.Why)
	}
	return s
}

func guidanceLine(g Guidance) string {
	s := fmt.Sprintf("%s %s", g.ID, plain(g.Text))
	if g.By != "" {
		s += " (" + plain(g.By) + ")"
	}
	s += ": " + g.State
	if g.Note != "" {
		s += ", " + plain(g.Note)
	}
	return s
}

// maxCause is how much of the cause of a bug a request says, in bytes.
const maxCause = 600

// evidence says what the task's attempt has shown. Words of sessions can be those of a
// stranger's report, so they are plain.
func evidence(w *writer, project string, t Task) {
	s := t.Shown
	w.head("Evidence")
	if s.Cause != "" {
		w.item("Cause: " + plain(text.First(s.Cause, maxCause)))
	}
	if s.Repro != "" {
		w.item("Reproduced, before the fix, by " + code(s.Repro))
	}
	if s.Review != nil {
		w.item(s.Review.text())
	}
	criteria(w, s.Criteria)
	took := plural(s.Attempts, "attempt") + ", "
	if s.Attempts > 1 {
		took += "the last one with "
	}
	w.item(took + fmt.Sprintf("%s of %d min", plural(s.Sessions, "session"), max(1, int(s.Worked.Round(time.Minute)/time.Minute))))
	w.item("The whole chain, at the host: " + code("nightporter evidence "+t.ID+" --project "+project))
}

// criteria says of each criterion of the task what became of it. What was tried besides is
// in the chain.
func criteria(w *writer, all []ledger.CriterionResult) {
	words := map[ledger.CriterionVerdict]string{
		ledger.CriterionHeld: "Tried, and holds: ", ledger.CriterionFailed: "Does not hold: ", ledger.CriterionUntried: "Not tried: ",
		ledger.CriterionLeftOut: "Not tried, as a person said: ", ledger.CriterionDropped: "Ruled out: ",
	}
	shown := 0
	for _, c := range all {
		if c.Number == 0 {
			continue
		}
		if shown++; shown > maxCriteria {
			w.item("and more criteria, in the chain")
			return
		}
		w.item(words[c.Verdict] + plain(text.First(c.Criterion, maxCause)))
	}
}

// text says what a review looked at.
func (r Review) text() string {
	how := "by " + code(r.By)
	if r.Kind != "" {
		how = "as " + code(r.Kind)
	}
	s := fmt.Sprintf("Reviewed %s, %s", how, plural(r.Rounds, "round"))
	var looks []string
	for _, l := range r.Looks {
		look := plain(string(l.Pass)) + " ✓"
		if l.Verdict != ledger.PassOK {
			look = plain(string(l.Pass)) + " ✗"
		}
		looks = append(looks, look)
	}
	if len(looks) > 0 {
		s += ": " + strings.Join(looks, " · ")
	}
	if r.Issues > 0 {
		s += fmt.Sprintf("; %s below what sends it back", plural(r.Issues, "remark"))
	}
	return s
}

// verification says what was run on the tip, and how to run it by hand.
func verification(w *writer, f Facts) {
	w.head("Verification")
	switch {
	case len(f.Results) > 0:
		w.line(fmt.Sprintf("On %s, in a clean room:", short(f.Tip)))
		for n, r := range f.Results {
			if n == maxCommands {
				w.item(fmt.Sprintf("and %d more", len(f.Results)-n))
				break
			}
			if !r.Setup || !r.OK {
				w.item(resultLine(r))
			}
		}
	case len(f.Verify) == 0:
		w.line("The project has no verification commands: nothing was run.")
	case f.Stack != nil && f.Stack.Apart != nil:
		w.line(f.Stack.apartVerified())
	case f.Stack != nil && f.Stack.Red != "":
		w.line("What it changes passed before its commit, but " + code(f.Stack.Red) + " failed on the commit. It passes with the requests above it: merge this one only together with them.")
	case f.Stack != nil && f.Stack.Joint:
		w.line("What it changes was not verified by itself, but together with requests above it: what passed has their changes, too.")
	case f.Stack != nil:
		w.line("What it changes passed before its commit, with the changes of all requests below it.")
	default:
		w.line("What each task changes passed before its commit.")
	}
	if len(f.Verify) == 0 {
		return
	}
	w.line("By hand:")
	lines := []string{"git fetch origin " + f.Branch, "git switch --detach FETCH_HEAD"}
	lines = append(lines, f.Setup[:min(len(f.Setup), maxCommands)]...)
	lines = append(lines, f.Verify[:min(len(f.Verify), maxCommands)]...)
	w.line(block(lines))
}

func resultLine(r ledger.Result) string {
	switch {
	case r.OK && r.Flaky:
		return code(r.Run) + " passes (it failed once, and passed when repeated)"
	case r.OK:
		return code(r.Run) + " passes"
	case r.Advisory:
		return code(r.Run) + " fails as it did before the run"
	}
	return code(r.Run) + " fails"
}

// short returns the beginning of a commit's hash.
func short(commit string) string { return commit[:min(len(commit), 10)] }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// writer builds Markdown: paragraphs, and lists under headings.
type writer struct {
	strings.Builder
	list bool
}

func (w *writer) head(s string) { w.para("## " + s) }
func (w *writer) line(s string) { w.para(s) }

func (w *writer) para(s string) {
	if w.Len() > 0 {
		w.WriteString("\n\n")
	}
	w.WriteString(s)
	w.list = false
}

func (w *writer) item(s string) {
	if w.list {
		w.WriteString("\n- " + s)
		return
	}
	w.para("- " + s)
	w.list = true
}
