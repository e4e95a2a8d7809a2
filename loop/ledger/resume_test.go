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

// TestWithoutFrom checks that the command that resumes a run leaves out --from, however
// its value is quoted, and nothing else.
func TestWithoutFrom(t *testing.T) {
	for flags, want := range map[string]string{
		"--from 2":                        "",
		"--agent mine --from 2":           "--agent mine",
		"--from 2 --state /tmp/x":         "--state /tmp/x",
		"--from 'Task 2' --verify 'go t'": "--verify 'go t'",
		`--from 'it'\''s 2' --push end`:   "--push end",
		"--verify 'x --from y'":           "--verify 'x --from y'",
	} {
		s := ledger.Settings{From: "Task 2", Flags: flags}
		if flags == "--verify 'x --from y'" {
			s.From = ""
		}
		if got := s.WithoutFrom(); got.Flags != want || got.From != "" {
			t.Errorf("%s: %q from %q, want %q", flags, got.Flags, got.From, want)
		}
	}
}
