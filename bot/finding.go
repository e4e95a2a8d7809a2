package bot

import (
	"fmt"
	"path"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// maxFindings limits the problems in one message.
const maxFindings = 5

// NotStarted lists the problems that keep a run from starting, each with its
// remedy (docs/spec 2.0).
func NotStarted(project string, found []ledger.Finding) Message {
	rest := "not started: " + Plural(len(found), "problem")
	if len(found) == 1 && found[0].File != "" {
		rest = "not started: " + findingPlace(found[0])
	}
	m := refusal("run.notstarted", firstLine(SignFailed, project, rest, ""))
	m.Project = project
	m.findings(found)
	m.add("Nothing runs. Mend it, then /run " + project + ".")
	m.button("Start", "/run "+project)
	return m
}

func (m *Message) findings(found []ledger.Finding) {
	for _, f := range found[:min(len(found), maxFindings)] {
		text := Cut(Clean(f.Text), 4*quoteWidth)
		if f.File != "" {
			text = findingPlace(f) + "  " + text
		}
		m.add(text)
		m.add(Cut(Clean(f.Fix), 2*quoteWidth))
	}
	if more := len(found) - maxFindings; more > 0 {
		m.add(fmt.Sprintf("and %d more", more))
	}
}

// findingPlace returns a finding's position: "checkout.md:41".
func findingPlace(f ledger.Finding) string {
	name := Cut(Clean(path.Base(strings.ReplaceAll(f.File, `\`, "/"))), 40)
	if f.Line > 0 {
		name += fmt.Sprintf(":%d", f.Line)
	}
	return name
}
