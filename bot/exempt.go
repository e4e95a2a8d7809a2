package bot

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ExemptText names what may fail in a run without counting: "TestA (go test), for
// #1 alone".
func ExemptText(exempt []ledger.Exemption) string {
	var parts []string
	for _, e := range exempt {
		text := CommandName(e.Run) + ", what failed at the start is not known"
		if names := e.Failures.Names(2); names != "" {
			text = Clean(names) + " (" + CommandName(e.Run) + ")"
		}
		if e.Task != "" {
			text += ", for " + shortID(e.Task) + " alone"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// RedEnd says why a run whose tasks are done does not end with 0, in lines: what
// fails as at the start, the tasks that were committed meanwhile, and a red tip
// that the run did not repair.
func RedEnd(b ledger.RunEnded) (lines []string) {
	if len(b.Exempt) > 0 {
		lines = append(lines, SignLook+" Fails as at the start: "+ExemptText(b.Exempt))
	}
	if len(b.Exempted) > 0 {
		var ids []string
		for _, id := range b.Exempted {
			ids = append(ids, shortID(id))
		}
		lines = append(lines, SignLook+" Committed while something failed as at the start: "+strings.Join(few(ids, 5), " "))
	}
	if b.RedTip != nil && b.FinalOK == nil {
		lines = append(lines, SignFailed+" Not repaired: "+Clean(b.RedTip.String()))
	}
	return lines
}

// few returns at most most of the ids, and says if there are more.
func few(ids []string, most int) []string {
	if len(ids) > most {
		return append(ids[:most:most], "and more")
	}
	return ids
}

// exemptTasks names the tasks that an exemption from a recheck holds for: "#1 #2";
// "" if it holds for all.
func exemptTasks(b ledger.BaselineBroke) string {
	var tasks []string
	for _, e := range b.Exempt {
		if e.Task != "" && !slices.Contains(tasks, e.Task) {
			tasks = append(tasks, e.Task)
		}
	}
	return Ranges(tasks)
}

// BrokeText says what a recheck found, and for how long it is not counted.
func BrokeText(b ledger.BaselineBroke) string {
	if tasks := exemptTasks(b); tasks != "" {
		return Clean(b.Text) + "; not counted for " + tasks + " alone"
	}
	return Clean(b.Text) + "; from here on only shown"
}

// redTipLine names the branch tip that failed verification, until one passes.
func redTipLine(s loop.State) string {
	tip, red := s.Project.RedTip()
	if !red {
		return ""
	}
	return SignFailed + " not repaired: " + Clean(tip.String())
}
