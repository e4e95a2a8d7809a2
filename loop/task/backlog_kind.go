package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/backlog"
	"github.com/nightporter/nightporter/loop/task/backlogmd"
)

// KindBacklog is the KIND of Markdown tables with specs, as in "backlog:PATH".
const KindBacklog = "backlog"

// backlogFile is where backlogs are by habit.
const backlogFile = "ai/backlog.md"

// backlogKind is the row of backlogs: Markdown tables with a row for each task and a
// document for each row, and folders of Backlog.md with a file for each task.
var backlogKind = Kind{
	Name:     KindBacklog,
	Labels:   NoLabels,
	Endings:  []string{"backlog.md"},
	Default:  backlogFile,
	MaxTasks: 20,
	Push:     "never",
	Order:    ledger.OrderDocument,
	Form:     backlog.Table{},
	Open:     openBacklog,

	Recognise: recogniseBacklog,
	Lint:      lintBacklog,
	Find:      findBacklog,
	Statuses:  backlog.Statuses,
	Example:   KindBacklog + ":" + backlogFile,
	Folder:    "ai",
	Sample: &Sample{
		Path: backlogFile,
		Text: sampleBacklog,
		Form: []string{
			"| ID | Task | Status | Priority | Feature.md |",
			"|----|------|--------|----------|------------|",
			"| TECH-001 | What is to be done | queued | P2 | [spec](features/TECH-001.md) |",
		},
	},
}

// sampleBacklog is harmless: its only task writes one new page.
const sampleBacklog = `# Backlog

| ID | Task | Status | Priority | Feature.md |
|----|------|--------|----------|------------|
| TECH-001 | Say in CONTRIBUTING.md how to build and test this, on one page at most; change nothing else | queued | P2 | — |
`

// findBacklog returns the backlogs at their usual places: a table, and folders.
func findBacklog(repo string) ([]string, error) {
	var found []string
	info, err := os.Lstat(filepath.Join(repo, filepath.FromSlash(backlogFile)))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.IsDir():
	case err != nil:
		return nil, fmt.Errorf("look for a backlog: %w", err)
	default:
		found = append(found, backlogFile)
	}
	folders := []string{"backlog", ".backlog"}
	if data, err := readBelow(repo, rootConfig); err == nil {
		if c, err := backlogmd.ReadConfig(rootConfig, data); err == nil && filepath.IsLocal(c.Folder) && !slices.Contains(folders, path.Clean(c.Folder)) {
			folders = append(folders, path.Clean(c.Folder))
		}
	}
	for _, folder := range folders {
		if isTaskFolder(repo, folder) {
			found = append(found, folder)
		}
	}
	return found, nil
}

// recogniseBacklog returns what shows that a file is a table of tasks, or a folder one
// of Backlog.md.
func recogniseBacklog(repo, rel string, folder bool, data []byte) string {
	switch {
	case !folder:
		return backlog.Table{}.Recognise(rel, data)
	case isTaskFolder(repo, rel):
		return "a file for each task in " + openFolderName + "/"
	}
	return ""
}

// largeSpec is how many criteria are too many for one attempt.
const largeSpec = 30

// lintBacklog warns of open tasks that are too large for one spec.
func lintBacklog(s ledger.Snapshot) []ledger.Diagnostic {
	var found []ledger.Diagnostic
	for _, t := range s.Tasks {
		if n := len(t.Acceptance); t.Mark == ledger.MarkOpen && n > largeSpec {
			found = append(found, ledger.Diagnostic{File: filepath.Base(s.Path), Line: t.Line, Text: fmt.Sprintf("%s is large: %d criteria of done", t.ID, n), Remedy: "Split it into several specs"})
		}
	}
	return found
}

// specFolder is the folder of specs, beside the backlog.
const specFolder = "features"

// diaryName is the diary's path, beside the backlog.
const diaryName = "diary/autopilot-progress.md"

// programs are what flags of a spec's environment need, by flag.
var programs = map[string]string{"nodejs": "node", "node": "node", "docker": "docker", "python": "python3", "go": "go", "rust": "cargo", "java": "java"}

// missingPrograms returns what a spec needs and PATH does not have.
func missingPrograms(spec *backlog.Spec, lookPath func(string) (string, error)) []string {
	var missing []string
	for _, flag := range spec.Needs() {
		if program := programs[flag]; program != "" {
			if _, err := lookPath(program); err != nil {
				missing = append(missing, program)
			}
		}
	}
	return missing
}

// specNamed returns the spec in a sorted listing that is named after an id:
// TECH-069.md, or TECH-069-2026-02-02-slug.md. several reports that there are more.
func specNamed(names []string, id string) (name string, several bool) {
	row := backlog.Row{ID: id}
	for _, n := range names {
		if len(n) >= len(id) && strings.EqualFold(n[:len(id)], id) && row.Names(n) {
			if name != "" {
				return name, true
			}
			name = n
		}
	}
	return name, false
}
