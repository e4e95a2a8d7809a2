package bot

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/proof"
)

// ProofOf returns what a finished task's "done" is worth (docs/spec 8.4). nil
// means that nothing is known, and then nothing is shown: the task is not done,
// is from an earlier release, or a person ticked it.
func ProofOf(s loop.State, t loop.TaskState) *ledger.Proof {
	if t.Status != ledger.Done {
		return nil
	}
	return s.Project.TaskProof(t)
}

// ProofText returns a finished task's word: "proved", "reviewed (by Mira)". "" if
// nothing is known.
func ProofText(s loop.State, t loop.TaskState) string {
	if p := ProofOf(s, t); p != nil {
		return proofWord(*p)
	}
	return ""
}

func proofWord(p ledger.Proof) string { return Cut(Clean(p.Text()), 34) }

// ProofSign returns the sign that stands before a word.
func ProofSign(p ledger.Proof) string {
	if p.Sure() {
		return SignDone
	}
	return SignLook
}

// ProofNote returns a word with what a person has to know about it: "changed
// checks: 1 test deleted, test.sh −4; allowed by Mira".
func ProofNote(p ledger.Proof) string {
	text, what := proofWord(p), CheckChanges(p)
	switch {
	case what == "":
	case p.Word != ledger.ChangedChecks:
		text += ", " + what
	default:
		text += ": " + what
	}
	if p.Word != ledger.ChangedChecks {
		return text
	}
	if p.Allowed == "" {
		return text + "; not allowed"
	}
	return text + "; allowed by " + Cut(Foreign(p.Allowed), 20)
}

// maxCheckFiles limits the files that CheckChanges names.
const maxCheckFiles = 2

// CheckChanges says in a few words what was changed of what proves, and how many
// tests do not run any more: "1 test deleted, test.sh −4", "3 tests fewer ran". It
// leaves out what the task itself names, and is "" for no change.
func CheckChanges(p ledger.Proof) string {
	var list []proof.Change
	for _, c := range p.Changes {
		if c.Named {
			continue
		}
		list = append(list, proof.Change{
			Path: Cut(Clean(c.Path), 2*quoteWidth), To: c.To, Kind: proof.Kind(c.Kind), Action: proof.Action(c.Action),
			Added: c.Added, Lost: c.Removed, Cases: c.Cases,
		})
	}
	text := Clean(proof.Summary(list, maxCheckFiles))
	if n := fewerTests(p); n > 0 {
		text = strings.TrimPrefix(text+", "+Plural(n, "test")+" fewer ran", ", ")
	}
	return Cut(text, quoteWidth)
}

// fewerTests returns how many tests of the start did not run.
func fewerTests(p ledger.Proof) (n int) {
	for _, f := range p.Fewer {
		n += f.Was - f.Ran
	}
	return n
}

// ProofCounts returns the counts of the tasks that a run did: "3 proved · 1
// tested". "" if nothing is known.
func ProofCounts(s loop.State) string {
	if s.Project.Run == nil {
		return ""
	}
	count, _, _ := s.Project.ProofOf(s.Project.Run.ID)
	return count.Text()
}

// MergeStep says what comes next after the end e of a run that left nothing to do
// and whose tip did not fail verification.
func MergeStep(s loop.State, e ledger.RunEnded) string {
	unsure := s.Project.Unsure()
	switch {
	case s.Project.Run.Scripted > 0:
		return "Nothing runs."
	case e.PartlyRed():
		return "Nothing runs. Look at /diff before you use it."
	case len(unsure) > 0:
		return lookFirst(s, unsure)
	case !TipGreen(s, e):
		return "Nothing runs. No command checked the branch: look at /diff."
	}
	if b := s.Project.FirstBranch(); b.Request != nil {
		if b.IsOpen() && s.Project.RequestStale(b) {
			return "Merge once it is pushed and its checks pass."
		}
		return mergeRequestStep(b)
	}
	if len(e.Unpushed) > 0 {
		return pushNext
	}
	return mergeNow
}

// lookFirst names the tasks that a person has to look at before a merge, the first
// one with its reason.
func lookFirst(s loop.State, unsure []loop.TaskState) string {
	p := s.Project.TaskProof(unsure[0])
	why := CheckChanges(*p)
	if p.Word != ledger.ChangedChecks || why == "" {
		why = proofWord(*p)
	}
	text := "Look at " + shortID(unsure[0].Task.ID) + " first: " + why
	var more []string
	for _, t := range unsure[1:] {
		more = append(more, t.Task.ID)
	}
	if len(more) > 0 {
		text += "; and at " + Cut(Ranges(more), 40)
	}
	return text + "."
}

// lookAt names the tasks of Unsure in few columns: "#2", "3 tasks".
func lookAt(s loop.State) string {
	unsure := s.Project.Unsure()
	if len(unsure) == 1 {
		return shortID(unsure[0].Task.ID)
	}
	return Plural(len(unsure), "task")
}

// TipGreen reports whether the tip of the run's branch passed its verification: at
// the end e of the run, or already before.
func TipGreen(s loop.State, e ledger.RunEnded) bool {
	if r := s.Project.Run; r.Tip != e.Tip { // the branch was made again since (docs/spec 9.7)
		return r.Remake == nil && s.Project.Green[s.Project.Source] == r.Tip
	}
	if e.FinalOK != nil {
		return *e.FinalOK && !e.FinalCut
	}
	return !e.FinalCut && e.Tip != "" && s.Project.Green[s.Project.Source] == e.Tip
}

// proof adds to a task's message its word and what it rests on. Tests and files
// are Pre lines, in which a platform makes nothing tappable: an agent chose the
// names.
func (m *Message) proof(p ledger.Proof) {
	text := "Proof: " + proofWord(p)
	switch {
	case p.Word != ledger.ChangedChecks:
	case p.Allowed == "":
		text += ", not allowed"
	default:
		text += ", allowed by " + Cut(Foreign(p.Allowed), 20)
	}
	m.add(text)
	if what := CheckChanges(p); what != "" {
		m.pre(what)
	}
	m.quote(p.Reason)
	m.names("Fails without the change:", p.Tests)
	m.names("Fails only now and then:", p.Flaky)
	m.names("Not followed, what these run:", p.Unknown)
}

// checksNeed says what a question about changed checks is about.
func checksNeed(q ledger.Question) string {
	if q.Proof != nil && len(q.Proof.Fewer) > 0 && len(q.Proof.Changes) == 0 {
		return "runs fewer tests"
	}
	return "changed its own checks"
}

// checks lists what was changed of what proves, and the reason that the agent gave.
func (m *Message) checks(q ledger.Question) {
	if q.Proof == nil {
		return
	}
	var names []string
	for _, c := range q.Proof.Changes {
		if c.Named {
			continue // the task asks for it
		}
		name := Clean(c.Path) + " " + Clean(c.Action)
		if c.Added > 0 {
			name += fmt.Sprintf(" +%d", c.Added)
		}
		if c.Removed > 0 {
			name += fmt.Sprintf(" −%d", c.Removed)
		}
		names = append(names, name)
		for _, lost := range c.Cases {
			names = append(names, "  "+Clean(lost))
		}
	}
	if len(names) > 0 {
		m.add("Changed:")
	}
	for _, n := range names {
		m.pre(orElse(n, "…"))
	}
	m.whole(q.Proof.Reason)
}

// names lists foreign names as Pre lines below a line that introduces them.
func (m *Message) names(head string, names []string) {
	if len(names) == 0 {
		return
	}
	m.add(head)
	for _, n := range names[:min(len(names), maxPaths)] {
		m.pre(orElse(Cut(CleanPre(n), quoteWidth), "…"))
	}
	if more := len(names) - maxPaths; more > 0 {
		m.add(fmt.Sprintf("and %d more", more))
	}
}

// ProofGroup is a line of finished tasks with the same word.
type ProofGroup struct {
	Sign, Word string
	Tasks      []string // ids
	Note       string   // for changed checks: the word with what was changed
}

// ProofGroups groups finished tasks by their words, from the most that is proved
// to nothing; tasks of which nothing is known come last. A task with changed
// checks stands alone.
func ProofGroups(s loop.State, tasks []loop.TaskState) []ProofGroup {
	var groups []ProofGroup
	for _, w := range append(ledger.ProofWords(), "") {
		at := map[string]int{} // index in groups, by text of the word
		for _, t := range tasks {
			p := ProofOf(s, t)
			if p == nil {
				p = &ledger.Proof{}
			}
			if p.Word != w {
				continue
			}
			g := ProofGroup{Sign: SignDone, Word: proofWord(*p), Tasks: []string{t.Task.ID}}
			if w != "" {
				g.Sign = ProofSign(*p)
			}
			if n, is := at[g.Word]; is {
				groups[n].Tasks = append(groups[n].Tasks, t.Task.ID)
				continue
			}
			if w == ledger.ChangedChecks {
				g.Note = ProofNote(*p)
			} else {
				at[g.Word] = len(groups)
			}
			groups = append(groups, g)
		}
	}
	return groups
}

// Text returns the group without its sign: "#1–#3 proved".
func (g ProofGroup) Text() string { return strings.TrimSpace(Ranges(g.Tasks) + " " + g.Word) }

// Whole is Text with what was changed: "#2 changed checks: 1 test deleted; not
// allowed".
func (g ProofGroup) Whole() string {
	return strings.TrimSpace(Ranges(g.Tasks) + " " + orElse(g.Note, g.Word))
}
