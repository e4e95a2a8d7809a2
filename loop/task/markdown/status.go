package markdown

import (
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Statuses holds the notation of each status: a box, or words between box
// and title.
var Statuses = map[ledger.Mark]string{
	ledger.MarkOpen: "[ ]", ledger.MarkDone: "[x]",
	ledger.MarkBlocked: "(blocked)", ledger.MarkManualVerify: "(manual-verify)",
}

// planWord returns the words of a status that needs more than a box.
func planWord(m ledger.Mark) (words string, is bool) {
	words = Statuses[m]
	return words, strings.HasPrefix(words, "(")
}
