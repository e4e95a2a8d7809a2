package bot

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// maxDiagnostics limits the problems in one message.
const maxDiagnostics = 5

// NotStarted lists the problems that keep a run from starting, each with its
// remedy (docs/spec 2.0).
func NotStarted(project string, found []ledger.Diagnostic) Message {
	rest := "not started: " + Plural(len(found), "problem")
	if len(found) == 1 && found[0].File != "" {
		rest = "not started: " + findingPlace(found[0])
	}
	m := refusal("run.notstarted", firstLine(SignFailed, project, rest, ""))
	m.Project = project
	m.findings(found)
	m.add("Nothing runs. Mend it, then /run " + project + ".")
	m.button("Start", "/run "+project)
	m.keepOpen(found)
	return m
}

// keepOpen adds a button that keeps the network open where a remedy names that command.
func (m *Message) keepOpen(found []ledger.Diagnostic) {
	const command = "/net " + netOpen
	if slices.ContainsFunc(found, func(f ledger.Diagnostic) bool { return strings.Contains(f.Remedy, command) }) {
		m.button("Keep open", command)
	}
}

func (m *Message) findings(found []ledger.Diagnostic) {
	for _, f := range found[:min(len(found), maxDiagnostics)] {
		text := Cut(Foreign(f.Text), 4*quoteWidth)
		if f.File != "" {
			text = findingPlace(f) + "  " + text
		}
		m.add(text)
		m.add(Cut(Foreign(f.Remedy), 4*quoteWidth))
	}
	if more := len(found) - maxDiagnostics; more > 0 {
		m.add(fmt.Sprintf("and %d more", more))
	}
}

// findingPlace returns a finding's position: "checkout.md:41".
func findingPlace(f ledger.Diagnostic) string {
	name := Cut(Clean(path.Base(strings.ReplaceAll(f.File, `\`, "/"))), 40)
	if f.Line > 0 {
		name += fmt.Sprintf(":%d", f.Line)
	}
	return name
}
