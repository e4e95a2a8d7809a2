package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/quick"
)

// TestListMark compares listMark, and what mayBeTask rules out, with the
// expressions of the grammar, on texts of the bytes that they know.
func TestListMark(t *testing.T) {
	item := regexp.MustCompile(`^(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?`)
	const alphabet = "-*+0123456789.)  \t\t[[ xX]]]tTaAsSkKſK:("
	letters := []rune(alphabet)
	marks, tasks := 0, 0
	same := func(seed []byte, lead uint8) bool {
		var text strings.Builder
		text.WriteString([]string{"", "- ", "- [ ] ", "12. [x]\t", "123456789)", "1234567890.", "- [ ] **Task ", "* [x] taſk ", "- [ ] tasK\t"}[lead%9])
		for _, b := range seed {
			text.WriteRune(letters[int(b)%len(letters)])
		}
		s := text.String()
		if want := item.FindString(s); listMark(s) != want {
			t.Logf("%q: %q, want %q", s, listMark(s), want)
			return false
		} else if want != "" {
			marks++
		}
		if looksLikeTask.Match([]byte(s)) {
			tasks++
			return mayBeTask([]byte(s))
		}
		return true
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
	if marks < 100 || tasks < 100 {
		t.Errorf("%d marks, %d tasks: the test shows nothing", marks, tasks)
	}
}

// BenchmarkParsePlan reads a plan of twelve tasks.
func BenchmarkParsePlan(b *testing.B) {
	text := "# A plan\n\n"
	for n := range 12 {
		text += fmt.Sprintf("- [ ] **Task %d: Part %d of it**\n  - Scope: `src/a%d/`, docs/\n  - Depends on: Task 1\n  - Acceptance:\n    - 1.005 becomes 1.01\n    - the old table stays\n", n+2, n, n)
	}
	text = strings.Replace(text, "# A plan\n\n", "# A plan\n\n- [x] **Task 1: First**\n\n", 1)
	for b.Loop() {
		if _, err := ParsePlan("plan.md", []byte(text)); err != nil {
			b.Fatal(err)
		}
	}
}
