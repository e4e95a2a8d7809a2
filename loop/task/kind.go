package task

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Labels says whether the PATH of a kind can be a label of a forge's issues.
type Labels int

// The zero value is none of them.
const (
	NoLabels   Labels = iota + 1 // always a path
	SomeLabels                   // a label after "forge:", else a path
	AllLabels                    // always a label
)

// Kind is the row of one KIND of source, as in "KIND:PATH": all that
// nightporter knows of it. Every cell of a row that is built is set; a cell
// that does not apply says so by its empty value (NoDefault, NoEndings, …).
// Rows are read and never changed.
type Kind struct {
	Name     string
	Reserved bool // the name is taken and read in configurations; nothing opens it, and the cells from Open on are not set

	Labels  Labels
	Foreign bool     // its tasks' text can be anybody's, and is quoted to agents as such
	Endings []string // of paths that are probably of this kind, where somebody leaves the KIND out
	Default string   // path where none is named; NoDefault where one has to be

	// Settings of a run that depend on the kind.
	MaxTasks int    // tasks of an overnight run, 0 for no limit
	Push     string // when the branch is pushed: never, end or task

	// Open opens the source at path, which lies below repo. k is this row.
	Open func(k *Kind, path, repo string, opts Options) (Source, error)
	// Lint returns what is odd in a source that was read without a mistake.
	Lint func(s ledger.Snapshot) []ledger.Diagnostic
	// Find returns the paths of the kind's files in a repository, with slashes
	// and relative to it. A repository without any is no error.
	Find func(repo string) ([]string, error)

	Statuses map[ledger.Mark]string // how each status stands in the file
	Example  string                 // KIND:PATH, for help and messages
	Folder   string                 // where its files are expected, relative to the repository
	Sample   *Sample                // a first file, for a repository that has none
}

// Sample is a source that does no harm and shows the form.
type Sample struct {
	Path string // relative to the repository, with slashes
	Text string
	Form []string // the lines that have to be there, to copy
}

// Values of cells that do not apply.
const NoDefault = ""

// NoEndings is the Endings of a kind whose paths look like any other's.
var NoEndings = []string{}

// kinds is all kinds of sources, in the order in which people are told of
// them. The first one is the one that nightporter proposes.
var kinds = []*Kind{&planKind, &backlogKind, &tasksKind, &prdKind, &bugsKind, &forgeKind}

// Kinds that are not built.
var (
	backlogKind = Kind{Name: "backlog", Reserved: true, Labels: NoLabels, Endings: NoEndings, Default: "ai/backlog.md", MaxTasks: 20, Push: "never"}
	tasksKind   = Kind{Name: "tasks", Reserved: true, Labels: NoLabels, Endings: []string{".json"}, Default: "tasks.json", Push: "never"}
	prdKind     = Kind{Name: "prd", Reserved: true, Labels: NoLabels, Endings: []string{"prd.json"}, Default: "prd.json", Push: "never"}
	bugsKind    = Kind{Name: "bugs", Reserved: true, Labels: SomeLabels, Foreign: true, Endings: NoEndings, Push: "task"}
	forgeKind   = Kind{Name: "forge", Reserved: true, Labels: AllLabels, Foreign: true, Endings: NoEndings, Push: "never"}
)

// Kinds returns every row.
func Kinds() []*Kind { return slices.Clone(kinds) }

// Proposed returns the kind that nightporter proposes where there is none.
func Proposed() *Kind { return kinds[0] }

// FindKind returns the row of a name, which may be reserved; nil where there
// is none.
func FindKind(name string) *Kind {
	n := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Name == name })
	if n < 0 {
		return nil
	}
	return kinds[n]
}

// KindNames returns the names of all kinds.
func KindNames() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// GuessKind returns the kind of a path that somebody named without one, by the
// longest ending that fits; nil where none does.
func GuessKind(path string) *Kind {
	var best *Kind
	longest := 0
	for _, k := range kinds {
		for _, e := range k.Endings {
			if strings.HasSuffix(path, e) && len(e) > longest {
				best, longest = k, len(e)
			}
		}
	}
	return best
}

// forgeLabel begins a PATH that is a label, for kinds with SomeLabels.
const forgeLabel = "forge:"

// Label returns the label that a PATH is, and whether it is one.
func (k *Kind) Label(path string) (label string, is bool) {
	switch k.Labels {
	case AllLabels:
		return path, true
	case SomeLabels:
		return strings.CutPrefix(path, forgeLabel)
	}
	return path, false
}

// Form returns how a source of the kind is written, with a PATH like the given
// one: "plan:PATH", "bugs:forge:LABEL".
func (k *Kind) Form(path string) string {
	_, label := k.Label(path)
	switch {
	case !label:
		return k.Name + ":PATH"
	case k.Labels == SomeLabels:
		return k.Name + ":" + forgeLabel + "LABEL"
	}
	return k.Name + ":LABEL"
}

// Open returns the source of a KIND at path, which is absolute or relative to
// the repository's folder and lies inside it. What a person has to mend is a
// *ledger.InputError. The file is not read yet.
func Open(kind, path, repo string, opts Options) (Source, error) {
	switch k := FindKind(kind); {
	case k == nil:
		return nil, inputError("", fmt.Sprintf("unknown source kind %q", kind), Proposed().writeIt())
	case k.Reserved:
		return nil, inputError("", fmt.Sprintf("source kind %q is not built yet", kind),
			"Use a "+Proposed().Name+": "+Proposed().Example)
	default:
		return k.Open(k, path, repo, opts)
	}
}

// writeIt tells a person how to name a source of the kind.
func (k *Kind) writeIt() string {
	return "Write " + k.Form("") + ", for example " + k.Example
}
