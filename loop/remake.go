package loop

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// A person takes single tasks out of the branch, brings them back, or has one done
// again (docs/spec 9.7). The branch is made again from its commits, as another one;
// the one before stays. The tasks that it lacks are skipped, so that nothing does
// them again by itself. A branch that was pushed is never another one: commits on
// top take the changes back.
//
// It takes its turn when nothing is in hand: while a run works, after the task in
// hand; once the run has ended, at once. Until its tip has passed verification,
// nothing says that it may be merged.

// MadeCommit is a commit of a run's branch, as it was first made.
type MadeCommit struct {
	Task     string        `json:"task,omitempty"` // id as written; "" = somebody else's commits
	Commit   string        `json:"commit"`
	Since    string        `json:"since,omitempty"`    // of somebody else's: all after it up to Commit
	Out      bool          `json:"out,omitempty"`      // the branch does not have it any more
	Done     bool          `json:"done,omitempty"`     // its task was done when it was left out
	Replaced bool          `json:"replaced,omitempty"` // its task was done again since
	Now      string        `json:"now,omitempty"`      // of a branch that was made again: the commit with the change; "" = Commit
	Empty    bool          `json:"empty,omitempty"`    // of such a branch: it has the whole change without a commit
	Red      string        `json:"red,omitempty"`      // the command that failed on it when it was the tip
	Proof    *ledger.Proof `json:"proof,omitempty"`    // what the task's "done" was worth before it was left out
	ProvedIn string        `json:"proved_in,omitempty"`
}

// tip returns the commit as the run's branch has it.
func (m MadeCommit) tip() string { return cmp.Or(m.Now, m.Commit) }

// Remake is a branch that is being made again.
type Remake struct {
	Wish   ledger.RemakeWish `json:"wish"`
	By     string            `json:"by"`
	Stage  RemakeStage       `json:"stage"`
	Branch string            `json:"branch,omitempty"` // set with RemakeMaking
	Tip    string            `json:"tip,omitempty"`    // set with RemakeChecking
}

// RemakeStage says what a Remake waits for.
type RemakeStage string

// Stages, in their order.
const (
	RemakeWaits    RemakeStage = "waits"    // for its turn
	RemakeMaking   RemakeStage = "making"   // its effect is under way
	RemakeChecking RemakeStage = "checking" // its tip is verified
)

// Pushed reports whether a branch has left this machine, or is about to.
func (p Project) Pushed(branch string) bool {
	return slices.ContainsFunc(p.Requests.Branches, func(b request.Branch) bool {
		ours := b.Name == branch || b.Of != "" && p.Run != nil && b.Of == p.Run.ID && branch == p.Run.Base.Branch
		return ours && (b.Pushed != "" || b.Pushing != "")
	})
}

// onBranch reports whether the run's branch has a commit of the task, or of parts that
// it has or had.
func (p Project) onBranch(task string) bool {
	return p.Run != nil && slices.ContainsFunc(p.Run.Made, func(m MadeCommit) bool {
		return m.Task != "" && !m.Out && (ledger.SameID(m.Task, task) || ledger.SameID(p.wholeOf(m.Task), task))
	})
}

// leftOut reports whether the run's branch had a commit of the task that can come
// back.
func (r *Run) leftOut(task string) bool {
	return r != nil && slices.ContainsFunc(r.Made, func(m MadeCommit) bool { return m.Out && !m.Replaced && ledger.SameID(m.Task, task) })
}

// Kept returns the tasks that the run's branch has commits of, in the order of the
// branch. A part counts as its task.
func (p Project) Kept() []string {
	return p.tasksWith(func(m MadeCommit) bool { return !m.Out })
}

// LeftOut returns the tasks that were taken out of the run's branch and can come
// back, in the order of the branch.
func (p Project) LeftOut() []string {
	return p.tasksWith(func(m MadeCommit) bool { return m.Out && !m.Replaced })
}

func (p Project) tasksWith(such func(MadeCommit) bool) (ids []string) {
	if p.Run == nil {
		return nil
	}
	for _, m := range p.Run.Made {
		if m.Task == "" || !such(m) {
			continue
		}
		if id := p.wholeOf(m.Task); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// wholeOf returns the id of the task that has the given one as a part, or the id
// itself.
func (p Project) wholeOf(id string) string {
	if n := p.index(id); n >= 0 {
		if of := p.Tasks.At(n).Task.Parent; of != "" {
			return of
		}
	}
	return id
}

// commitsOf returns the tasks, in the ledger's sense, that have the commits of a
// task: itself and its parts.
func (p Project) commitsOf(id string) []string {
	ids := []string{id}
	for _, m := range p.Run.Made {
		if m.Task != "" && !ledger.SameID(m.Task, id) && ledger.SameID(p.wholeOf(m.Task), id) && !slices.Contains(ids, m.Task) {
			ids = append(ids, m.Task)
		}
	}
	return ids
}

// branchName returns the last part of the branch's name, for people: r14.1.
func (r *Run) branchName() string { return BranchName(r.Base.Branch) }

// BranchName returns the last part of the name of a run's branch, for people: r14.1.
func BranchName(branch string) string { return branch[strings.LastIndexByte(branch, '/')+1:] }

// allOf returns the given tasks and their parts on the branch.
func (p Project) allOf(ids []string) (all []string) {
	for _, id := range ids {
		all = append(all, p.commitsOf(id)...)
	}
	return all
}

func holds(ids []string, id string) bool {
	return id != "" && slices.ContainsFunc(ids, func(o string) bool { return ledger.SameID(o, id) })
}

// firstBranch returns the branch that the run began with: nightporter/shop/r14.
func (r *Run) firstBranch() string {
	return r.Base.Branch[:strings.LastIndexByte(r.Base.Branch, '/')+1] + r.ID
}

// remakeOf returns the branch of the run that is being made again; nil for none.
func remakeOf(r *Run) *Remake {
	if r == nil {
		return nil
	}
	return r.Remake
}

// idle reports whether the run has ended and nothing is made of it any more.
func (r *Run) idle() bool { return r.Over() && (r == nil || r.Remake == nil) }
