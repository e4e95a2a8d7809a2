package loop

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// issueSet returns a key that is equal for two reviews with the same issues, whatever
// their order. Issues are the same if they agree in severity, file and rule; their
// text and line may differ (docs/spec 2.6).
func issueSet(issues []ledger.Issue) string {
	keys := make([]string, len(issues))
	for n, i := range issues {
		keys[n] = string(i.Severity) + "\x00" + i.File + "\x00" + i.Rule
	}
	slices.Sort(keys)
	return strings.Join(slices.Compact(keys), "\x01")
}
