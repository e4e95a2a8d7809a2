package ledger

import (
	"reflect"
	"strconv"
	"strings"
)

// ProofWord says what a task's "done" is worth (docs/spec 8.4).
type ProofWord string

// Words, from the most that is proved to nothing.
const (
	Proved        ProofWord = "proved"            // a new test fails without the change and passes with it; the old ones pass
	Tested        ProofWord = "tested"            // the old tests pass, and none shows the change
	TestedNew     ProofWord = "tested (new code)" // a new test passes that could not be built before the change
	ChangedChecks ProofWord = "changed checks"    // what proves was changed, and the start's version does not pass
	Reviewed      ProofWord = "reviewed"          // no command proves it; a review or a person passed it
	Unproved      ProofWord = "unproved"          // neither
)

// ProofWords returns all words in that order.
func ProofWords() []ProofWord {
	return []ProofWord{Proved, Tested, TestedNew, ChangedChecks, Reviewed, Unproved}
}

// Proof is the word of one task, with what it rests on.
type Proof struct {
	Word ProofWord `json:"word"`
	// Tests are those of the task that failed on its start, by their names.
	Tests []string `json:"tests,omitempty"`
	// Changes name what the task changed of what proves: "1 test deleted".
	Changes []CheckChange `json:"changes,omitempty"`
	// Flaky are new tests that failed on the start in only one of two runs.
	Flaky []string `json:"flaky,omitempty"`
	// Fewer says, for ChangedChecks, where fewer tests ran than at the start.
	Fewer   []FewerTests `json:"fewer,omitempty"`
	Reason  string       `json:"reason,omitempty"`  // the agent's, for ChangedChecks
	Allowed string       `json:"allowed,omitempty"` // who allowed ChangedChecks
	By      string       `json:"by,omitempty"`      // who passed a task that only a person can judge
	Unknown []string     `json:"unknown,omitempty"` // parts of the verification commands that could not be followed
}

// Text returns the word as people read it: "reviewed (by Mira)".
func (p Proof) Text() string {
	if p.Word == Reviewed && p.By != "" {
		return string(p.Word) + " (by " + p.By + ")"
	}
	return string(p.Word)
}

// Sure reports whether nothing about the task is left for a person to look at
// before a merge: it is neither unproved nor rests on changed checks that nobody
// allowed.
func (p Proof) Sure() bool {
	return p.Word != Unproved && p.Word != "" && (p.Word != ChangedChecks || p.Allowed != "")
}

// Kinds and actions of a CheckChange on which decisions depend. They are those of
// loop/proof, which has the others.
const (
	CheckTest     = "test"
	CheckSnapshot = "snapshot"
	CheckDeleted  = "deleted"
	CheckSkipped  = "skipped"
	CheckMoved    = "moved"
)

// CheckChange is one thing that proved at an attempt's start and that the attempt
// changed.
type CheckChange struct {
	Path    string   `json:"path"`
	To      string   `json:"to,omitempty"` // where a moved test is now
	Kind    string   `json:"kind"`         // script, test, config, snapshot, helper
	Action  string   `json:"action"`       // deleted, changed, skipped, shadowed, moved
	Added   int      `json:"added,omitempty"`
	Removed int      `json:"removed,omitempty"`
	Cases   []string `json:"cases,omitempty"` // test cases that no test has any more
	Named   bool     `json:"named,omitempty"` // the task itself names it
}

// ProofRequest asks what a tree changed of what proves, against its attempt's
// start. It is empty where nothing proves by commands.
type ProofRequest struct {
	Commands []string `json:"commands,omitempty"`
	Tests    []string `json:"tests,omitempty"` // globs of the project, besides the usual ones; "!GLOB" = no test
	Task     string   `json:"task,omitempty"`  // what the task says, title, text and acceptance, in which paths are looked for
	Scope    string   `json:"scope,omitempty"` // the task's own scope, as written
}

// Asked reports whether there is anything to find out.
func (r ProofRequest) Asked() bool { return len(r.Commands) > 0 }

// ProofFacts answers a ProofRequest.
type ProofFacts struct {
	Changes []CheckChange `json:"changes,omitempty"`
	Summary string        `json:"summary,omitempty"` // of Changes, for people: "1 test deleted, test.sh −4"
	// Guard is the tree with the start's version of what proves over it. It has to
	// pass as well. "" means that nothing has to be guarded.
	Guard string `json:"guard,omitempty"`
	// Unguarded says why no such tree can be made; the tree counts as red then.
	Unguarded string `json:"unguarded,omitempty"`
	// OnStart is the attempt's start with the new and changed tests over it. ""
	// means that there are none.
	OnStart string   `json:"on_start,omitempty"`
	Tests   []string `json:"tests,omitempty"`    // files of those tests
	NewCode bool     `json:"new_code,omitempty"` // some of them cannot be laid on the start: they stand in new source files
	Unknown []string `json:"unknown,omitempty"`  // parts of the commands that could not be followed
}

// Guards reports whether the tree has to pass by its start's version of what proves
// as well. Nil facts do not say so.
func (f *ProofFacts) Guards() bool { return f != nil && (f.Guard != "" || f.Unguarded != "") }

// Like reports whether two trees changed the same of what proves, each against its
// own start. Nil facts are like no others.
func (f *ProofFacts) Like(o *ProofFacts) bool {
	if f == nil || o == nil {
		return f == o
	}
	return reflect.DeepEqual(f.kind(), o.kind())
}

// kind returns the facts without what depends on the start.
func (f ProofFacts) kind() ProofFacts {
	for _, tree := range []*string{&f.Guard, &f.OnStart} {
		if *tree != "" {
			*tree = "some"
		}
	}
	return f
}

// ProofMode says how much of the proof of a task is looked for.
type ProofMode string

// Modes. "" in settings of earlier releases is ProofFull.
const (
	ProofFull   ProofMode = "full"
	ProofChecks ProofMode = "checks" // the start's checks on the new tree only
	ProofOff    ProofMode = "off"
)

// ProofCount counts the words of tasks.
type ProofCount map[ProofWord]int

// Text returns the counts in the order of the words: "3 proved · 1 tested".
func (c ProofCount) Text() string {
	var parts []string
	for _, w := range ProofWords() {
		if n := c[w]; n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+string(w))
		}
	}
	return strings.Join(parts, " · ")
}
