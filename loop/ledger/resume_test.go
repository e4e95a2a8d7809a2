package ledger_test

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestResumeCommand(t *testing.T) {
	s := ledger.Settings{Repo: "/srv/my shop", Source: ledger.SourceRef{Kind: "plan", Path: "it's.md"}, Profile: "overnight", Flags: "--max-tasks 3"}
	want := `nightporter run --repo '/srv/my shop' --source 'plan:it'\''s.md' --profile overnight --max-tasks 3`
	if got := s.ResumeCommand(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
