package task

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/jsonform"
)

// KindBugs is the KIND of an inbox of bug reports, as in "bugs:PATH".
const KindBugs = ledger.SourceBugs

const bugsFile = "bugs.json"

// bugsKind is the row of inboxes: reports as sites send them. A run works through them
// in waves (docs/spec 7).
var bugsKind = Kind{
	Name:     KindBugs,
	Labels:   SomeLabels,
	Foreign:  true,
	Endings:  []string{bugsFile},
	Default:  bugsFile,
	Push:     "task",
	Order:    ledger.OrderScore,
	Form:     jsonform.Bugs{},
	Open:     openBugs,
	Lint:     func(ledger.Snapshot) []ledger.Diagnostic { return nil }, // triage says what is wrong with a report
	Find:     findBugs,
	Statuses: jsonform.BugStatuses,
	Example:  KindBugs + ":" + bugsFile,
	Folder:   ".",
	Sample: &Sample{
		Path: bugsFile,
		Text: sampleBugs,
		Form: []string{
			`{ "id": "B1", "body": "What was done, what was seen, and what was expected instead.", "severity": "high", "page": "/profile", "status": "open" }`,
		},
	},
}

// sampleBugs is harmless: the fix of its only report is one new page.
const sampleBugs = `[
  {
    "id": "B1",
    "body": "I opened the README and saw no command that builds or tests this, instead of one for each. Steps: open README.md, look for it. Change nothing but the documentation.",
    "severity": "low",
    "page": "README.md",
    "status": "open"
  }
]
`

func openBugs(k *Kind, path, repo string, opts Options) (Source, error) {
	if label, is := k.Label(path); is {
		return openForge(k, label, repo, opts)
	}
	at, err := newSourcePath(k, path, repo)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(at.path); err == nil && info.IsDir() {
		return openReports(at, opts)
	}
	return openFile(k, path, repo, opts)
}

// findBugs returns the inboxes in their usual places.
func findBugs(repo string) ([]string, error) {
	return findRecognised(repo, jsonform.Bugs{}, inboxPaths()), nil
}

// Inbox returns the path of the only inbox in the usual places of a repository, also of
// one without reports. None, and more than one, are a *ledger.InputError.
func Inbox(repo string) (string, error) {
	var there []string
	for _, p := range inboxPaths() {
		if _, err := readBelow(repo, p); err == nil {
			there = append(there, p)
		}
	}
	for _, folder := range []string{"bugs", "bug-reports"} {
		if names, err := reportNames(filepath.Join(repo, folder)); err == nil && len(there) == 0 && len(names) > 0 {
			there = append(there, folder)
		}
	}
	switch len(there) {
	case 1:
		return there[0], nil
	case 0:
		return "", inputError("", "there is no inbox for bug reports", "Make one: a file "+bugsFile+" with [] in it. Runs fix its reports with source = \""+bugsKind.Example+"\"")
	}
	return "", inputError("", "there are several inboxes for bug reports: "+strings.Join(there, ", "), "Keep one of them, or name it: source = \"bugs:PATH\"")
}

// inboxPaths are the usual places of inboxes.
func inboxPaths() (paths []string) {
	for _, dir := range []string{"", "ai", ".agents", "bugs"} {
		for _, name := range []string{bugsFile, "bug-reports.json", strings.TrimSuffix(bugsFile, ".json") + ".jsonl"} {
			paths = append(paths, path.Join(dir, name))
		}
	}
	return paths
}
