package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/markdown"
)

// KindPlan is the KIND of a Markdown plan, as in "plan:PATH".
const KindPlan = "plan"

// plansFolder is the folder of plans in progress.
const plansFolder = ".agents/plans/in-progress"

// planKind is the row of plans: Markdown files with a check box for each task.
var planKind = Kind{
	Name:     KindPlan,
	Labels:   NoLabels,
	Endings:  []string{".md"},
	Default:  NoDefault,
	Push:     "never",
	Order:    ledger.OrderDocument,
	Form:     markdown.Plan{},
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

// findPlans returns the plans in plansFolder, sorted by name.
func findPlans(repo string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(repo, filepath.FromSlash(plansFolder)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for plans: %w", err)
	}
	var paths []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".progress.md") || e.IsDir() || strings.ToValidUTF8(name, "") != name {
			continue
		}
		paths = append(paths, plansFolder+"/"+name)
	}
	return paths, nil
}
