package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/cause"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Reasons say why an attempt failed or a task is blocked. A person reads them on
// a phone, and the next attempt in its prompt: they name what is still wrong,
// because how often it was tried does not say what to do.

// maxReason limits a reason in characters.
const maxReason = 200

// reason joins what is wrong and what happened to at most maxReason characters.
func reason(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return cutText(strings.Join(parts, "; "), maxReason)
}

// withNote adds a note to a reason, for which it cuts one that was bounded already. The
// words of a session are longer, and stay whole.
func withNote(why, note string) string {
	switch {
	case note == "":
		return why
	case utf8.RuneCountInString(why) > maxReason:
		return why + "; " + note
	}
	return cutText(why, maxReason-utf8.RuneCountInString(note)-2) + "; " + note
}

// cutText returns a text as one line of at most most characters.
func cutText(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return strings.TrimRight(string(r[:most-1]), " ") + "…"
	}
	return text
}

// causeOf returns the line of a failed command's output that says why it failed,
// or "no output".
func causeOf(output string) string {
	if line := cause.Line(output); line != "" {
		return line
	}
	return "no output"
}

// whyRed says why a command failed: that nightporter ended it, with the last that
// it printed, or else the line of its output that says why.
func whyRed(res ledger.Result) string {
	switch {
	case res.Why == "":
		return causeOf(res.Tail)
	case res.Tail == "" || strings.HasPrefix(res.Tail, res.Why):
		return res.Why
	}
	return res.Why + "; its output: " + causeOf(res.Tail)
}

// exitNote returns " (exit 1)" for a command whose exit code says that it failed,
// else "".
func exitNote(res ledger.Result) string {
	if res.Exit <= 0 {
		return ""
	}
	return fmt.Sprintf(" (exit %d)", res.Exit)
}

// firstRed describes the first failed command that counts, or returns "".
func firstRed(v ledger.Verified) string {
	for _, res := range v.Results {
		if !res.OK && !res.Advisory {
			return res.Run + " (" + cmp.Or(newOf(res), whyRed(res)) + ")"
		}
	}
	return ""
}

// stillFails describes the first failed command that counts, with space left for
// what else a reason says: "sh test.sh still fails (f2: expected 3, got 4)".
func stillFails(v ledger.Verified) string {
	for _, res := range v.Results {
		if !res.OK && !res.Advisory {
			return fmt.Sprintf("%s still fails (%s)", cutText(res.Run, 50), cutText(cmp.Or(newOf(res), whyRed(res)), 80))
		}
	}
	return ""
}

// newOf names the failures of a command that are not exempt, where it has an
// exemption: the line of its output that says why it failed may be about an exempt
// one.
func newOf(res ledger.Result) string {
	if names := res.NewNames(3); names != "" {
		return "new: " + names
	}
	return ""
}

// open says what is still wrong with the attempt's tree: the command that failed
// in its last verification, otherwise the worst issue of its last review. It
// returns "" if neither is known.
func (w *Attempt) open() string {
	if v := w.Verified; v != nil && !v.OK && (v.Kind == ledger.KindVerify || v.Kind == ledger.KindBatch) {
		return stillFails(*v)
	}
	if w.Facts != nil && w.Guarded != "" && !w.GuardOK && !w.accepted() {
		if len(w.Fewer) > 0 {
			return ledger.FewerText(w.Fewer)
		}
		return "the start's checks fail: " + cutText(w.Facts.Summary, 90)
	}
	return openIssues(w.Issues)
}

// openIssues describes issues by their number and the worst of them.
func openIssues(issues []ledger.Issue) string {
	if len(issues) == 0 {
		return ""
	}
	worst := slices.MinFunc(issues, func(a, b ledger.Issue) int { return a.Severity.Rank() - b.Severity.Rank() })
	if len(issues) == 1 {
		return "still open: " + cutText(worst.Describe(), 110)
	}
	return fmt.Sprintf("%d issues still open, first %s", len(issues), cutText(worst.Describe(), 110))
}

// failedRow says why an attempt ends after b, the last of its failed sessions in
// a row.
func failedRow(w *Attempt, b ledger.Redo) string {
	last := string(b.Why)
	switch c := w.Captured; {
	case b.Why == ledger.RedoSilent:
		last = w.EarlyText
	case b.Why == ledger.RedoUnchanged && c != nil && len(c.Outside) > 0:
		last = "changed only files out of scope: " + joinFew(c.Outside)
	case b.Why == ledger.RedoUnchanged:
		return reason(w.open(), fmt.Sprintf("the last %d sessions changed nothing", w.FailedRow))
	case b.Why == ledger.RedoViolation && c != nil && len(c.Refused) > 0:
		last = "left what cannot be kept: " + c.Refused[0].Short()
	case b.Why == ledger.RedoScope && c != nil:
		return reason(w.open(), "without files out of scope: "+cutText(joinFew(c.Outside), 60))
	}
	return failedSessions(w, last)
}

// failedSessions says why an attempt ends after failed sessions in a row, of
// which last describes the last one.
func failedSessions(w *Attempt, last string) string {
	return reason(cutText(last, 90), fmt.Sprintf("%d failed sessions in a row", w.FailedRow), w.open())
}

// stayedRed says why an attempt ends after its last session left a red tree, and
// whether sessions changed anything. input is the tree that the session began
// with.
func stayedRed(w *Attempt, input string) string {
	text := cmp.Or(stillFails(*w.Verified), "verification fails")
	switch w.Verified.Tree {
	case w.Start:
		return reason(text, fmt.Sprintf("the last %d sessions changed nothing", w.Red))
	case input:
		return reason(text, "the last session changed nothing")
	}
	return reason(text + fmt.Sprintf(" after %d sessions", w.Red))
}

// unreproduced says what is wrong with a reproducer's command.
func unreproduced(v ledger.Verified) string {
	if len(v.Results) == 0 {
		return "it was not run"
	}
	last := v.Results[len(v.Results)-1]
	run := cutText(last.Run, 80)
	switch {
	case last.Flaky:
		return run + " fails only now and then"
	case last.OK:
		return run + " passes"
	}
	return fmt.Sprintf("%s cannot be run (%s)", run, cutText(whyRed(last), 80))
}
