package cloud

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Title returns the title of a new job, for an issue.
func (j Job) Title() string {
	title := ledger.ShortID(j.Task.ID)
	if j.Task.Title != "" {
		title += ": " + j.Task.Title
	}
	return text.First(text.OneLine(title), 200)
}

// Prompt returns what the agent is told. It is made of the source's task alone:
// nothing that somebody wrote on the forge is in it, because the agent acts on
// what it reads. Names of checks are quoted as data.
func (j Job) Prompt() string {
	if j.Request != 0 {
		return j.roundPrompt()
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	body := strings.TrimSpace(j.Task.Body)
	if body == "" {
		body = j.Task.Title
	}
	line("%s", body)
	if j.Task.Scope != "" {
		line("\nChange only: %s", j.Task.Scope)
	}
	if len(j.Task.Acceptance) > 0 {
		line("\nIt is done when:")
		for _, a := range j.Task.Acceptance {
			line("- %s", a)
		}
	}
	if j.Task.Notes != "" {
		line("\n%s", j.Task.Notes)
	}
	line("\nHand in one pull request for this issue, with tests, and nothing that the task does not ask for.")
	if j.Attempt > 1 {
		line("This is attempt %d: the one before ended without a pull request.", j.Attempt)
	}
	return b.String()
}

func (j Job) roundPrompt() string {
	switch j.Cause {
	case ReasonConflict:
		return "This pull request conflicts with its base. Merge the base branch into it, resolve the conflicts so that neither side's changes are lost, and push."
	case ReasonBroken:
		return "Your last session with this pull request ended with a failure. Continue it: finish the task of its issue, and push."
	}
	names := make([]string, len(j.Checks))
	for i, c := range j.Checks {
		names[i] = "`" + strings.ReplaceAll(text.First(text.OneLine(c), 100), "`", "'") + "`"
	}
	return "These checks of this pull request fail: " + strings.Join(names, ", ") + ". Find the cause in their logs, mend it in the code that this pull request changes, and push. Do not weaken the checks."
}
