package task

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// KindForge is the KIND of the issues of the repository's forge, as in "forge:LABEL".
const KindForge = "forge"

// forgeKind is the row of issues: those with a label are tasks.
var forgeKind = Kind{
	Name:    KindForge,
	Labels:  AllLabels,
	Foreign: true,
	Endings: NoEndings,
	Default: NoDefault,
	Push:    "never",
	Order:   ledger.OrderDocument,
	Open:    openForge,
	Lint:    func(ledger.Snapshot) []ledger.Diagnostic { return nil },
	Find:    func(string) ([]string, error) { return nil, nil }, // finding a label would take the network
	Statuses: map[ledger.Mark]string{
		ledger.MarkOpen: "open", ledger.MarkWorking: "nightporter: working", ledger.MarkDone: "nightporter: done",
		ledger.MarkBlocked: "nightporter: blocked", ledger.MarkManualVerify: "nightporter: to check",
	},
	Example: KindForge + ":nightporter",
}

// statusLabels are the labels that stand for statuses, without that of open issues:
// these have none.
func statusLabels() []string {
	var out []string
	for _, m := range []ledger.Mark{ledger.MarkWorking, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify} {
		out = append(out, forgeKind.Statuses[m])
	}
	return out
}

// openForge opens the issues with a label. It does not use the network.
func openForge(k *Kind, label, _ string, opts Options) (Source, error) {
	label = strings.TrimSpace(label)
	switch {
	case label == "":
		return nil, inputError("", "the source has no label", k.writingHint())
	case strings.Contains(label, ","):
		return nil, inputError("", fmt.Sprintf("the label %q has a comma, by which forges separate labels", label), "Use a label without one")
	case opts.CommitStatus:
		return nil, inputError("", "commit_status does not go with "+k.Name+": an issue is in no commit", "Take commit_status out")
	case opts.Tracker == nil:
		name := (&forgeSource{kind: k, label: label}).name()
		return nil, inputError("", name+" needs a configured project, whose remote has the issues", "Name the project's repository: --repo DIR")
	}
	return &forgeSource{kind: k, label: label, opts: opts, every: pollIssues}, nil
}
