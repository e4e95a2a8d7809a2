package messagelint

import (
	"github.com/nightporter/nightporter/internal/regexp"
)

// jargon are words of the program's inside that first readers did not understand, with
// what messages say in their place. The exact terms stay in --json, and beside the plain
// word in /evidence.
var jargon = []struct {
	word  *regexp.Regexp
	plain string
}{
	{regexp.MustCompile(`\bbaseline\b|\bBaseline(:| is| fails| broke)`), "at the start, before any work"},
	{regexp.MustCompile(`(?i)\bboundary( level)?\b`), "how far sessions are shut in (bot.ShutIn)"},
	{regexp.MustCompile(`(?i)\bverification (is )?red\b`), "checks fail"},
	{regexp.MustCompile(`(?i)\b(is|are|was|stayed|still|runs?|branch|tip) red\b|\bred (tip|branch|baseline|in|with|without|commands?)\b`), "fails, or fails its checks"},
	{regexp.MustCompile(`(?i)\b(branch|green|red|newer|the) tips?\b|\bsha of\b`), "the branch"},
	{regexp.MustCompile(`(?i)\b(accepted|without an|no) event\b|\b\d+ refused\b`), "without a report, or what hat refused and why"},
	{regexp.MustCompile(`(?i)[✓✗] (claim|submit|fix-applied)\b|\bsubmit (pass|fail)\b`), "given to claude, passed, failed, changed 1 file"},
	{regexp.MustCompile(`(^|[ (])a\d+([ :,.)]|$)`), "attempt 1"},
	{regexp.MustCompile(`(?i)\bpreflight\b`), "before the start"},
	{regexp.MustCompile(`(?i)\b(input|its|the same|start) tree\b`), "the files, or where it was"},
	{regexp.MustCompile(`(?i)(^|[^→] )converge[sd]?\b`), "done"},
	{regexp.MustCompile(`(?i)\bstalled\b`), "made no progress"},
	{regexp.MustCompile(`(?i)\b(wall|stall) limit\b`), "time limit, silent too long"},
}

// Jargon returns the first word of the program's inside in a text, and what to say in its
// place; "" for none.
func Jargon(text string) (word, plain string) {
	for _, j := range jargon {
		if found := j.word.FindString(text); found != "" {
			return found, j.plain
		}
	}
	return "", ""
}
