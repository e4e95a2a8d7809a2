package bot_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestSpentMerge checks that [Merge] of a request that was merged or closed is spent, and
// that of an open one is not, whatever its checks say.
func TestSpentMerge(t *testing.T) {
	for state, want := range map[ledger.RequestState]string{
		ledger.RequestOpen: "", ledger.RequestMerged: "PR 48 is merged already", ledger.RequestClosed: "PR 48 is closed already",
	} {
		d := stands(over(), &ledger.RequestStanding{State: state, Base: "main", Failing: 1})
		for _, line := range []string{"/merge 48", "/merge PR 48"} {
			if got, _ := bot.ButtonSpent(d, bot.Request{Text: line, Time: d.Now}); got != want {
				t.Errorf("%s, %s: %q, want %q", state, line, got, want)
			}
		}
		if _, spent := bot.ButtonSpent(d, bot.Request{Text: "/merge", Time: d.Now}); spent {
			t.Errorf("%s: /merge alone is spent", state)
		}
	}
}
