package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
	"github.com/nightporter/nightporter/loop/task/markdown"
)

// KindPlan is the KIND of a Markdown plan, as in "plan:PATH".
const KindPlan = "plan"

// plansFolder is the folder of plans in progress.
const plansFolder = ".agents/plans/in-progress"

// planKind is the row of plans: Markdown files whose tasks are boxes or headings.
var planKind = Kind{
	Name:     KindPlan,
	Labels:   NoLabels,
	Endings:  []string{".md"},
	Default:  NoDefault,
	Push:     "never",
	Order:    ledger.OrderDocument,
	Form:     markdown.Any{},
	Open:     openFile,
	Lint:     markdown.Lint,
	Find:     findPlans,
	Statuses: markdown.Statuses,
	Example:  KindPlan + ":" + plansFolder + "/NAME.md",
	Folder:   plansFolder,
	Sample: &Sample{
		Path: plansFolder + "/first.md",
		Text: samplePlan,
		Form: []string{
			"- [ ] **Task 1: What is to be done**",
			"  - Scope: `folder/or/file`",
			"  - Acceptance: how to see that it is done",
		},
	},
}

// samplePlan is harmless: its only task writes one new page.
const samplePlan = `# First

## Tasks

- [ ] **Task 1: Say how to build and test this**
  - Scope: ` + "`CONTRIBUTING.md`" + `
  - Depends on: none
  - Acceptance:
    - CONTRIBUTING.md names the command that builds and the one that tests, each tried
    - It is at most one page long
  - Notes: Describe what is there. Change nothing else.
`

// planPlaces are where tools keep their lists of tasks, as patterns of path.Match
// below the repository. The first one is our own: what is there is meant as a plan, also
// with mistakes. Elsewhere a file counts when it has tasks.
var planPlaces = []string{
	plansFolder + "/*.md", ".agents/plans/*.md", ".agents/plans/*/*.md", ".agents/plans/*/*/*.md",
	"docs/superpowers/plans/*.md", "docs/plans/*.md", "specs/*/tasks.md", ".specify/specs/*/tasks.md", ".kiro/specs/*/tasks.md",
	"openspec/changes/*/tasks.md", "docs/stories/*.md", ".planning/ROADMAP.md",
	"PLAN.md", "plan.md", "IMPLEMENTATION_PLAN.md", "TODO.md", "todo.md", "TASKS.md", "tasks.md", "fix_plan.md", "@fix_plan.md", ".ralph/fix_plan.md", ".ralph/@fix_plan.md",
}

// maxLooked limits the files that findPlans opens.
const maxLooked = 2000

// findPlans returns the Markdown files with tasks, in the order of planPlaces.
func findPlans(repo string) ([]string, error) {
	dir, err := os.OpenRoot(repo)
	if err != nil {
		return nil, fmt.Errorf("look for plans: %w", err)
	}
	defer func() { _ = dir.Close() }()
	root := dir.FS()
	if _, err := fs.ReadDir(root, plansFolder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for plans: %w", err)
	}
	var paths []string
	var seen []fs.FileInfo // plan.md and PLAN.md are one file where case does not matter
	looked := 0
	for n, pattern := range planPlaces {
		found, err := fs.Glob(root, pattern)
		if err != nil {
			return nil, fmt.Errorf("look for plans: %w", err)
		}
		for _, p := range found {
			info, err := fs.Stat(root, p)
			if err != nil || !info.Mode().IsRegular() || strings.HasSuffix(p, ".progress.md") || strings.ToValidUTF8(p, "") != p ||
				slices.Contains(paths, p) || slices.ContainsFunc(seen, func(o fs.FileInfo) bool { return os.SameFile(o, info) }) {
				continue
			}
			if n > 0 {
				if looked++; looked > maxLooked || info.Size() > form.MaxBytes {
					continue
				}
				data, err := fs.ReadFile(root, p)
				if err != nil || (markdown.Any{}).Recognise(p, data) == "" {
					continue
				}
			}
			paths, seen = append(paths, p), append(seen, info)
		}
	}
	return paths, nil
}
