package loop

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// taskCommands returns the commands that check the tree of a task's attempt: those of
// the project, the one that reproduced the fault, and the task's own (docs/spec 3.5).
// files are the changes of the session in hand, nil for all.
func (d *decision) taskCommands(t TaskState, files []ledger.FileChange) []ledger.Command {
	cmds := t.Attempt.withRepro(d.repairCommands(t, verifyCommands(d.run().Settings, ledger.KindVerify, files)))
	for _, run := range ownCommands(t.Task) {
		if !slices.ContainsFunc(cmds, func(c ledger.Command) bool { return c.Run == run }) {
			cmds = append(cmds, ledger.Command{Run: run, Parallel: run != t.Task.Evaluation})
		}
	}
	return cmds
}

// ownCommands returns the commands that prove a task beside the project's: each file
// that it has to leave for others is there, and its source's evaluation passes. They
// run where all commands run, inside the boundary.
func ownCommands(t ledger.Task) []string {
	var cmds []string
	for _, path := range leaves(t) {
		cmds = append(cmds, "test -e "+shellQuote(path))
	}
	if t.Evaluation != "" {
		cmds = append(cmds, t.Evaluation)
	}
	return cmds
}

// leaves returns the paths of the files that a task has to leave for others. The
// source that names them also lets its sessions write them.
func leaves(t ledger.Task) []string {
	var paths []string
	for _, o := range t.Outputs {
		if o.Path != "" {
			paths = append(paths, o.Path)
		}
	}
	return paths
}

// hatVerifier judges a task whose source asks for it (Task.Verifier), also where no
// pattern routes to it.
const hatVerifier = "verifier"

// nextJudging returns the next hat of an attempt where the pattern says to. Before a task
// converges whose source has it judged, the verifier looks at the result, unless the
// pattern's own verifier just did. What fails goes back to the hat that wrote last.
func nextJudging(s ledger.Settings, t TaskState, to string) string {
	w := t.Attempt
	if !t.Task.Verifier || s.ReadsOnly() || !slices.Contains(s.Hats[hatVerifier].Emits, ledger.EventPassed) {
		return to
	}
	switch {
	case to == ledger.Converged && w.Event.Type != ledger.EventPassed:
		return hatVerifier
	case to == "" && w.Hat == hatVerifier && w.Event.Type == ledger.EventPassed:
		return ledger.Converged
	case to == "" && w.Hat == hatVerifier && w.Event.Type == ledger.EventFailed:
		return writerHat(s, t)
	}
	return to
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
