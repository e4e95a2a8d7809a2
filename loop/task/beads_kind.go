package task

import (
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/jsonform"
	"github.com/nightporter/nightporter/loop/task/markdown"
)

// KindBeads is the KIND of an issues.jsonl of beads, as in "beads:PATH".
const KindBeads = "beads"

// Places of bd's database and its export.
const (
	beadsFolder = ".beads"
	beadsFile   = beadsFolder + "/issues.jsonl"
)

// beadsKind is the row of beads. Its file is only read; issues are closed through bd.
var beadsKind = Kind{
	Name:     KindBeads,
	Labels:   NoLabels,
	Endings:  []string{".jsonl"},
	Default:  beadsFile,
	Push:     "never",
	Order:    ledger.OrderScore,
	Form:     jsonform.Beads{},
	Open:     openBeads,
	Lint:     markdown.Lint,
	Find:     findBeads,
	Statuses: jsonform.BeadsStatuses,
	Example:  KindBeads + ":" + beadsFile,
	Folder:   beadsFolder,
	Sample: &Sample{
		Path: beadsFile,
		Text: sampleBeads,
		Form: []string{`bd create "What is to be done"`},
	},
}

const sampleBeads = `{"id":"first-1","title":"Say how to build and test this","description":"CONTRIBUTING.md names the command that builds and the one that tests, each tried. Change nothing else.","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-01T08:00:00Z","updated_at":"2026-11-01T08:00:00Z"}
`

func findBeads(repo string) ([]string, error) {
	return findRecognised(repo, jsonform.Beads{}, []string{beadsFile}), nil
}
