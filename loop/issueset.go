package loop

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// issueSet is what makes two reviews the same: severity, file and rule
// (docs/spec 2.6).
func issueSet(issues []ledger.Issue) string {
	keys := make([]string, len(issues))
	for n, i := range issues {
		keys[n] = string(i.Severity) + "\x00" + i.File + "\x00" + i.Rule
	}
	slices.Sort(keys)
	return strings.Join(slices.Compact(keys), "\x01")
}
