package prompt

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// passWords say what a reviewer looks for in each pass.
var passWords = map[ledger.Pass]string{
	ledger.PassIntent:     "does it do what the report asks for, all of it and nothing else? Would the reporter see the bug gone?",
	ledger.PassBugs:       "what does it break? Callers, other pages, empty and odd input, two at a time.",
	ledger.PassSecurity:   "what does it open? Who may now see or do what they could not, and which input is believed.",
	ledger.PassGuidelines: "does it follow the repository's own rules and the way its neighbours are written?",
	ledger.PassVisual:     "does it look right? Wide and narrow, long text, other languages, dark and light; say what you could not look at.",
}

// passes returns the passes of the review that the session makes, nil if it makes none.
func (b *builder) passes() []ledger.Pass {
	if !emits(b.hat, ledger.EventReview) || b.task.Task.Report == nil || b.task.Triage == nil {
		return nil
	}
	return b.task.Triage.Passes
}

// passesText says which passes the kind of the fix asks for.
func (b *builder) passesText() string {
	passes := b.passes()
	if len(passes) == 0 {
		return ""
	}
	lead := "Make these passes over the change"
	if kind := b.task.Triage.Kind; kind != "" {
		lead = fmt.Sprintf("The fix is of the kind %s. %s", kind, lead)
	}
	lines := []string{lead + ", one after the other, and answer each, also where you found nothing:"}
	for _, p := range passes {
		lines = append(lines, fmt.Sprintf("- %s: %s", p, passWords[p]))
	}
	return strings.Join(append(lines, fmt.Sprintf("Each issue names its pass, and how sure you are that it is real, in percent. One below %d is kept and sends nothing back: look until you are sure, or say that you are not.", ledger.SureFrom)), "\n")
}
