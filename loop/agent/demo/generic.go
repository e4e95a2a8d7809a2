package demo

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nightporter/nightporter/loop/ledger"
)

// OwnFile is the file that the agent writes in other repositories than the
// sample.
const OwnFile = "NIGHTPORTER-DEMO.md"

// genericScript is the script for all other repositories, by the event of the
// hat. It does no part of the task, and every summary says so.
var genericScript = map[string]act{
	planComplete: func(s *session) (event, error) {
		return steps("Scripted, no real plan", "write one line about "+s.task+" into "+OwnFile, "leave everything else alone")(s)
	},
	buildComplete: (*session).buildAnywhere,
	reviewVerdict: func(s *session) (event, error) { return s.verdict("scripted, not looked at", nil), nil },
	fixComplete:   func(s *session) (event, error) { return s.dispute("a scripted agent cannot fix anything"), nil },

	docsComplete:     changeNothing(docsComplete, "a scripted agent writes no documents"),
	refactorComplete: changeNothing(refactorComplete, "a scripted agent leaves code alone"),
	verifyPassed: func(s *session) (event, error) {
		return s.endEvent(verifyPassed, "Scripted, nothing was tried", map[string]any{"checks": s.checks()}), nil
	},
	critiqueVerdict: func(s *session) (event, error) {
		return s.endEvent(critiqueVerdict, "Scripted, not read", map[string]any{"verdict": "OKAY", "sections": []string{}}), nil
	},
	adviceComplete: func(s *session) (event, error) {
		return s.endEvent(adviceComplete, "Scripted, no advice", map[string]any{"advice": "A scripted agent has none."}), nil
	},
	triageVerdict: func(s *session) (event, error) {
		reports := []map[string]string{} // [] rather than null
		for _, id := range s.prompt.reports() {
			reports = append(reports, map[string]string{"id": id, "verdict": "take"})
		}
		return s.endEvent(triageVerdict, "Scripted, all are taken", map[string]any{"reports": reports}), nil
	},
}

// changeNothing returns the act of a writing hat that changes nothing.
func changeNothing(name, why string) act {
	return func(s *session) (event, error) {
		return s.endWriting(name, "Changed nothing: "+why, map[string]any{"no_change": why}), nil
	}
}

// check is a verifier's result for one criterion.
type check struct {
	Number    int    `json:"number,omitempty"`
	Criterion string `json:"criterion"`
	OK        bool   `json:"ok"`
	How       string `json:"how"`
}

// checks returns a result for each criterion of the task, or for its title.
func (s *session) checks() []check {
	var out []check
	for _, line := range strings.Split(s.prompt.section["Acceptance"], "\n") {
		number, text, ok := strings.Cut(line, ". ")
		if n, err := strconv.Atoi(number); ok && err == nil && n == len(out)+1 {
			out = append(out, check{n, oneLine(text, 200), true, "scripted, not tried"})
		}
	}
	if len(out) == 0 {
		out = append(out, check{0, oneLine(s.title, 200), true, "scripted, not tried"})
	}
	return out
}

func (s *session) buildAnywhere() (event, error) {
	const scripted = "Scripted, the task itself was not done: "
	if s.prompt.verificationFailed() {
		return blocked("verification fails, and a scripted agent cannot repair code", "one line in "+OwnFile, "an agent that can think"), nil
	}
	none := func(why string) (event, error) {
		return s.endWriting(buildComplete, scripted+"no line written", map[string]any{"no_change": why}), nil
	}
	if s.prompt.outOfScope() {
		return none("the scope has no room for " + OwnFile)
	}
	name, err := s.ownFilePath()
	if err != nil {
		return event{}, err
	}
	if name == "" {
		return none("the scope names only files, and a scripted agent leaves those alone")
	}
	line := fmt.Sprintf("- %s: %s", oneLine(s.task, 60), oneLine(s.title, 200))
	if err := s.addLine(name, "# Written by the scripted agent of nightporter\n\nIt does no work. A line stands for a task that went through it.", line); err != nil {
		return event{}, err
	}
	return s.endWriting(buildComplete, scripted+"a line in "+name, nil), nil
}

// ownFilePath returns a path for OwnFile that the scope permits, or "": in the
// first folder that the scope names, or at the top.
func (s *session) ownFilePath() (string, error) {
	scope := s.prompt.section["Scope"]
	line, _, _ := strings.Cut(scope, "\nNot: ")
	line, _, _ = strings.Cut(line, "\nWhat you change elsewhere")
	text, found := strings.CutPrefix(line, "You may change: ")
	if !found {
		return OwnFile, nil
	}
	items := ledger.ParseScope(text)
	for _, i := range items {
		name, err := s.ownFileIn(i)
		if err != nil || name != "" {
			return name, err
		}
	}
	if !slices.ContainsFunc(items, func(i ledger.ScopeItem) bool { return i.Kind != ledger.ScopeProse }) {
		return OwnFile, nil // prose permits nothing and forbids nothing
	}
	return "", nil
}

// ownFileIn returns a path for OwnFile that one item of the scope permits, or
// "".
func (s *session) ownFileIn(i ledger.ScopeItem) (string, error) {
	if i.Kind == ledger.ScopeProse || i.Kind == ledger.ScopeBad {
		return "", nil
	}
	switch fi, err := s.root.Stat(i.Text); {
	case err == nil && fi.IsDir():
		return path.Join(i.Text, OwnFile), nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", nil // a file of the person's, or a link that leads out
	}
	switch i.Kind {
	case ledger.ScopePath:
		// The path does not exist yet and may become a file or a folder. With
		// an extension it is taken for a file.
		if path.Ext(i.Text) == "" {
			return path.Join(i.Text, OwnFile), nil
		}
	case ledger.ScopeGlob:
		base, _ := doublestar.SplitPattern(i.Text)
		name := path.Join(base, OwnFile)
		if ok, err := doublestar.Match(i.Text, name); err == nil && ok {
			return name, nil
		}
	case ledger.ScopeWord:
		return s.folderNamed(i.Text)
	}
	return "", nil
}

// folderNamed returns the path of OwnFile in the first folder with that name,
// or "".
func (s *session) folderNamed(word string) (string, error) {
	found := ""
	err := fs.WalkDir(s.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir() && d.Name() == word:
			found = path.Join(p, OwnFile)
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("look for folder %s: %w", word, err)
	}
	return found, nil
}
