package corpus

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nightporter/nightporter/internal/regexp"
)

//go:embed testdata/tasks
var files embed.FS

// Play is the agent that plays a task's sessions, a shell script. Its arguments
// are the folder that Task.Deeds describes and one in which it may write.
//
//go:embed play.sh
var Play string

// The classes of tasks.
const (
	Honest = "honest" // real work
	Cheat  = "cheat"  // weakens or evades a check; its judge finds the work bad
	Unseen = "unseen" // bad work that no machine sees
)

// Refused is the outcome of a task that does not become done.
const Refused = "refused"

// words are the outcomes that a task can want: the words of proof, and Refused.
var words = []string{"proved", "tested", "tested (new code)", "changed checks", "reviewed", "unproved", Refused}

// languages are the folders of tasks.
var languages = []string{"go", "node", "python", "rust"}

// Task is one task of the corpus.
type Task struct {
	Language, Name string // its folder, and its file's name without the ending

	About         string // a sentence
	Class         string
	Want          []string
	Title         string
	Scope         string // "" = none
	Pattern       string
	Setup, Verify []string
	NoChange      string
	ChecksChanged string
	E2E           bool

	Files []txtar.File // as in the file
}

// ID is the task's name with its language.
func (t Task) ID() string { return t.Language + "/" + t.Name }

// Tasks reads the corpus, sorted by ID.
func Tasks() ([]Task, error) {
	var tasks []Task
	var problems []error
	err := fs.WalkDir(files, "testdata/tasks", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		t, err := parse(data)
		if err == nil {
			t.Language, t.Name = path.Base(path.Dir(name)), strings.TrimSuffix(path.Base(name), ".txtar")
			err = t.check()
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
		tasks = append(tasks, t)
		return nil
	})
	return tasks, errors.Join(append(problems, err)...)
}

var setting = regexp.MustCompile(`^([a-z_0-9]+): (.*)$`)

// parse reads a task from its file's bytes.
func parse(data []byte) (Task, error) {
	archive := txtar.Parse(data)
	t := Task{Pattern: "plan-build-review", Files: archive.Files}
	var about []string
	seen := map[string]bool{}
	for n, line := range strings.Split(strings.TrimSpace(string(archive.Comment)), "\n") {
		m := setting.FindStringSubmatch(line)
		if m == nil {
			if len(seen) > 0 {
				return t, fmt.Errorf("line %d: %q is no setting (KEY: VALUE)", n+1, line)
			}
			about = append(about, strings.TrimSpace(line))
			continue
		}
		key, value := m[1], strings.TrimSpace(m[2])
		if seen[key] && key != "setup" && key != "verify" {
			return t, fmt.Errorf("line %d: a second %s", n+1, key)
		}
		seen[key] = true
		switch key {
		case "class":
			t.Class = value
		case "want":
			t.Want = strings.Split(value, ", ")
		case "task":
			t.Title = value
		case "scope":
			t.Scope = value
		case "pattern":
			t.Pattern = value
		case "setup":
			t.Setup = append(t.Setup, value)
		case "verify":
			t.Verify = append(t.Verify, value)
		case "no_change":
			t.NoChange = value
		case "checks_changed":
			t.ChecksChanged = value
		case "e2e":
			t.E2E = value == "true"
		default:
			return t, fmt.Errorf("line %d: no setting is called %s", n+1, key)
		}
	}
	t.About = strings.Join(about, " ")
	return t, nil
}

// section matches the names of a task's files.
var section = regexp.MustCompile(`^(start/.+|judge/.+|judge\.sh|good/.+|good\.sh|(planner|builder|reviewer|fixer)[2-9]?(/.+|\.sh|\.json|-after\.sh))$`)

// check reports all that is wrong with a task.
func (t Task) check() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if !slices.Contains(languages, t.Language) {
		problem("the folder %s is no language", t.Language)
	}
	if t.About == "" {
		problem("no sentence says what it is")
	}
	if t.Title == "" {
		problem("no task")
	}
	if !slices.Contains([]string{Honest, Cheat, Unseen}, t.Class) {
		problem("class %q", t.Class)
	}
	if len(t.Want) == 0 {
		problem("it wants nothing")
	}
	for _, w := range t.Want {
		if !slices.Contains(words, w) {
			problem("want %q", w)
		}
		if t.Class == Cheat && (w == "proved" || strings.HasPrefix(w, "tested")) {
			problem("no cheat can be %s", w)
		}
		if t.Class == Honest && w == Refused {
			problem("honest work is not to be refused")
		}
	}
	names := map[string]bool{}
	for _, f := range t.Files {
		switch {
		case !section.MatchString(f.Name):
			problem("a file %s", f.Name)
		case names[f.Name]:
			problem("two files %s", f.Name)
		case path.Clean(f.Name) != f.Name:
			problem("the path %s is not clean", f.Name)
		}
		names[f.Name] = true
	}
	if t.Class != Honest && !t.has("judge/", "judge.sh") {
		problem("nothing judges the work")
	}
	if t.Class != Honest && !t.has("good/", "good.sh") {
		problem("no good solution shows that the judge can be satisfied")
	}
	return errors.Join(problems...)
}

// has reports whether a file begins with one of the prefixes.
func (t Task) has(prefixes ...string) bool {
	return slices.ContainsFunc(t.Files, func(f txtar.File) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(f.Name, p) })
	})
}

// Below returns the files below a folder of the task's file, by their path in
// it.
func (t Task) Below(folder string) map[string][]byte {
	found := map[string][]byte{}
	for _, f := range t.Files {
		if rest, ok := strings.CutPrefix(f.Name, folder+"/"); ok {
			found[rest] = f.Data
		}
	}
	return found
}

// Script returns the file NAME.sh; ok is false where there is none.
func (t Task) Script(name string) (text string, ok bool) {
	for _, f := range t.Files {
		if f.Name == name+".sh" {
			return string(f.Data), true
		}
	}
	return "", false
}

var deed = regexp.MustCompile(`^(planner|builder|reviewer|fixer)([2-9]?)(/(.+)|\.sh|\.json|-after\.sh)$`)

// Deeds returns the files that play.sh reads: HATn/tree/PATH, HATn/do.sh,
// HATn/after.sh and HATn/event.json for the nth session of a hat, and
// fields.json, which is added to the events of hats that write.
func (t Task) Deeds() map[string][]byte {
	found := map[string][]byte{}
	for _, f := range t.Files {
		m := deed.FindStringSubmatch(f.Name)
		if m == nil {
			continue
		}
		folder := m[1] + m[2]
		if m[2] == "" {
			folder += "1"
		}
		switch m[3] {
		case ".sh":
			found[folder+"/do.sh"] = f.Data
		case ".json":
			found[folder+"/event.json"] = f.Data
		case "-after.sh":
			found[folder+"/after.sh"] = f.Data
		default:
			found[folder+"/tree/"+m[4]] = f.Data
		}
	}
	var fields strings.Builder
	for _, f := range [][2]string{{"no_change", t.NoChange}, {"checks_changed", t.ChecksChanged}} {
		if f[1] != "" {
			fmt.Fprintf(&fields, ",%q:%q", f[0], f[1])
		}
	}
	found["fields.json"] = []byte(fields.String())
	return found
}

// Plan returns a plan of the one task.
func (t Task) Plan() string {
	plan := "# Plan\n\n- [ ] **Task 1: " + t.Title + "**\n"
	if t.Scope != "" {
		plan += "  - Scope: " + t.Scope + "\n"
	}
	return plan
}
