package bot_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
	requests "github.com/nightporter/nightporter/loop/request"
)

// TestRemoteText says "pushed" only of the commit that the branch has.
func TestRemoteText(t *testing.T) {
	const tip, before = "c2", "4f0c2d1ab29876543210"
	open := &ledger.Request{Number: 48, State: ledger.RequestOpen}
	merged := &ledger.Request{Number: 48, State: ledger.RequestMerged}
	for _, c := range []struct {
		tip  string
		b    requests.Branch
		want string
	}{
		{tip, requests.Branch{}, ""},
		{tip, requests.Branch{Pushing: tip}, ""},
		{tip, requests.Branch{Pushed: tip}, "pushed"},
		{"", requests.Branch{Pushed: tip}, "pushed"},
		{tip, requests.Branch{Pushed: before, Pushing: tip}, "pushed up to 4f0c2d1ab2"},
		{tip, requests.Branch{Pushed: before}, "pushed up to 4f0c2d1ab2"}, // a red tip is not pushed
		{tip, requests.Branch{Pushed: tip, Request: open}, "PR 48"},
		{tip, requests.Branch{Pushed: before, Request: open}, "PR 48 up to 4f0c2d1ab2"},
		{tip, requests.Branch{Pushed: before, Request: merged}, "PR 48 merged"},
	} {
		if got := bot.RemoteText(c.tip, c.b); got != c.want {
			t.Errorf("tip %q, %+v: %q, want %q", c.tip, c.b, got, c.want)
		}
	}
}
