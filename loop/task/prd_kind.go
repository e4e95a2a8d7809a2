package task

import (
	"path"
	"path/filepath"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/jsonform"
	"github.com/nightporter/nightporter/loop/task/markdown"
)

// KindPRD is the KIND of a prd.json, as in "prd:PATH".
const KindPRD = "prd"

const prdFile = "prd.json"

// prdKind is the row of prd.json: user stories with passes, or with a status.
var prdKind = Kind{
	Name:     KindPRD,
	Labels:   NoLabels,
	Endings:  []string{prdFile},
	Default:  prdFile,
	Push:     "never",
	Order:    ledger.OrderScore,
	Form:     jsonform.PRD{},
	Open:     openFile,
	Lint:     markdown.Lint,
	Find:     findPRDs,
	Statuses: jsonform.PRDStatuses,
	Example:  KindPRD + ":" + prdFile,
	Folder:   ".",
	Sample: &Sample{
		Path: prdFile,
		Text: samplePRD,
		Form: []string{
			`{ "id": "US-001", "title": "What is to be done", "acceptanceCriteria": ["How to see that it is done"], "priority": 1, "passes": false }`,
		},
	},
}

// samplePRD is harmless: its only story writes one new page.
const samplePRD = `{
  "userStories": [
    {
      "id": "US-001",
      "title": "Say how to build and test this",
      "description": "As a newcomer I want to read how to build and test this. Change nothing else.",
      "acceptanceCriteria": [
        "CONTRIBUTING.md names the command that builds and the one that tests, each tried",
        "It is at most one page long"
      ],
      "priority": 1,
      "passes": false,
      "notes": ""
    }
  ]
}
`

// findPRDs returns the prd.json files in the places of the tools that write them.
func findPRDs(repo string) ([]string, error) {
	paths := []string{prdFile, "scripts/ralph/" + prdFile, "ralph/" + prdFile, "tasks/" + prdFile}
	named, err := filepath.Glob(filepath.Join(globEscape(repo), ".agents", "tasks", "prd*.json"))
	if err != nil {
		return nil, err
	}
	for _, p := range named {
		paths = append(paths, path.Join(".agents/tasks", filepath.Base(p)))
	}
	return findRecognised(repo, jsonform.PRD{}, paths), nil
}
