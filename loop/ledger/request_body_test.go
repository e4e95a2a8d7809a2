package ledger_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestEditBody: what a person or a template says around our section stays, whatever
// became of its markers.
func TestEditBody(t *testing.T) {
	one, two := ledger.RequestSection("one task"), ledger.RequestSection("two tasks")
	for name, c := range map[string]struct{ body, want string }{
		"new":             {"", two},
		"template":        {"## Why\r\n\r\n- [ ] tests\r\n", "## Why\n\n- [ ] tests\n\n" + two},
		"ours":            {one, two},
		"theirs around":   {"Hi @mira\n\n" + one + "\n\nCloses #7.\n", "Hi @mira\n\n" + two + "\n\nCloses #7.\n"},
		"end taken away":  {strings.TrimSuffix(one, "<!-- /nightporter -->") + "mine", two + "\none task\nmine"},
		"section deleted": {"all mine", "all mine\n\n" + two},
	} {
		got := ledger.EditBody(c.body, two)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if again := ledger.EditBody(got, two); again != got {
			t.Errorf("%s: a second time it is %q", name, again)
		}
	}
	if got := ledger.EditBody("theirs", "no section"); got != "no section" {
		t.Errorf("a draft without a section: %q", got)
	}
}

// TestLongBody: a text that is too long for a forge loses lines of ours, and none
// of a person's.
func TestLongBody(t *testing.T) {
	ours := ledger.RequestSection(strings.Repeat("- a line of ours\n", 10_000))
	for _, theirs := range []string{"", "mine\n\n", strings.Repeat("mine\n", 12_500)} {
		got := ledger.EditBody(theirs+ledger.RequestSection("x")+"\nend", ours)
		if len(got) > ledger.MaxRequestBody && len(theirs) < ledger.MaxRequestBody-200 {
			t.Errorf("%d bytes", len(got))
		}
		if !strings.HasPrefix(got, theirs) || !strings.HasSuffix(got, "<!-- /nightporter -->\nend") {
			t.Errorf("not theirs: %.60q … %.60q", got, got[len(got)-60:])
		}
	}
}
