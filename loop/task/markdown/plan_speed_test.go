package markdown

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/quick"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// TestHeadingWords: no heading that says something of the boxes below it has a number,
// so one with a number is not looked up.
func TestHeadingWords(t *testing.T) {
	for _, headings := range []map[string]bool{asideHeadings, logHeadings, finishedHeadings} {
		for h := range headings {
			if strings.ContainsAny(h, "0123456789") {
				t.Errorf("%q has a number", h)
			}
		}
	}
}

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
		if meantAsPlan.Match([]byte(s)) {
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

// TestShortcuts compares what is written out, and what rules a text out, with the
// expressions, on texts made of their pieces.
func TestShortcuts(t *testing.T) {
	label := regexp.MustCompile(`^\[([A-Z][A-Za-z0-9 ]{0,11})\](?:[ \t]+|$)`)
	quotedPath := regexp.MustCompile("`[^`\\s]+`")
	inlineDepends := regexp.MustCompile(`(?i)\bdepends?[ \t]+on:?[ \t]+([^();\n]*)`)
	onlyForRead := regexp.MustCompile(`(?i)^\**(?:reference|read|see|refs?|context)\**[ \t]*:`)
	pieces := []string{"task 2", "Task ", "T001", "T12 ", "- [ ] **Task ", "* [x] ", "Task", "taſK", "PHASE", "step", "T", "T0", "T-", "FTR-", "0", "12", "1.1", ".", "a", "Z", " ", "\t", "  ", "**", "__", "`", "[", "]", "[P]", "[US1] ", "[Abcdefghijkl]",
		":", ")", "-", "--", "–", "é", "(done)", "✅", "☑️", "✓", "Done", "### ", "## ", "#", "Iteration ", "x", "step 1", "**commit", "Status: ", "done", "(blocked)", "(Manual Verify)", "\n", "(", ",", "depends on ", "DEPEND ON: T1 ", "dependſ\ton ", "and", "1-2", "See", "rEf", "ſee", "none", "N/a"}
	hits := map[string]int{}
	same := func(seed []byte) bool {
		var b strings.Builder
		for _, n := range seed[:min(len(seed), 9)] {
			b.WriteString(pieces[int(n)%len(pieces)])
		}
		s := b.String()
		ok := true
		check := func(what string, got, want any) {
			if got != want {
				t.Logf("%s of %q: %v, want %v", what, s, got, want)
				ok = false
			}
		}
		if m := taskID.FindString(s); m != "" || taskIDLength([]byte(s)) > 0 {
			hits["id"]++
			check("taskIDLength", taskIDLength([]byte(s)), len(m))
		}
		name, length := leadingLabel(s)
		m := label.FindStringSubmatch(s)
		check("leadingLabel", length > 0, m != nil)
		if m != nil {
			hits["label"]++
			check("leadingLabel", name, m[1])
			check("length of leadingLabel", length, len(m[0]))
		}
		if m := explicitID.FindStringSubmatchIndex(s); m != nil {
			hits["explicit"]++
			check("mayHaveID", mayHaveID(s), true)
			if n := plainSpecID(s); n > 0 {
				hits["spec"]++
				check("plainSpecID", s[:n], s[m[2]:m[3]])
				_, _, length := leadingID(s + "1")
				check("length of leadingID", length, explicitID.FindStringSubmatchIndex(s + "1")[1])
			}
		} else if s != "" {
			check("plainSpecID", plainSpecID(s), 0)
		}
		if plainTaskBox([]byte(s)) {
			hits["box"]++
			m := looksLikeTask.FindStringSubmatch(s)
			check("plainTaskBox", m != nil && m[1] != "" && m[2] != "", true)
		}
		for _, line := range []string{s, "### Task " + s} {
			m := taskHeading.FindStringSubmatchIndex(line)
			check("isTaskHeading", isTaskHeading([]byte(line)), m != nil)
			if got, ok := plainTaskHeading([]byte(line)); ok {
				hits["heading"]++
				check("plainTaskHeading", fmt.Sprint(got), fmt.Sprint(m))
			}
		}
		check("saysDone", saysDone([]byte(s)), doneStatus.MatchString(s))
		done, is := doneAtEnd([]byte(s), form.Span{End: len(s)})
		at := doneWords.FindStringSubmatchIndex(s)
		check("doneAtEnd", is, at != nil)
		if is && at != nil {
			hits["done"]++
			check("place of doneAtEnd", done.Span, form.Span{Start: at[2], End: at[3]})
		}
		check("withoutMarkup", withoutMarkup(s), dependsMarkup.Replace(dependsRemark.ReplaceAllString(s, "")))
		var quoted []string
		for path, rest := nextQuoted(s); path != ""; path, rest = nextQuoted(rest) {
			quoted = append(quoted, "`"+path+"`")
		}
		check("nextQuoted", fmt.Sprint(quoted), fmt.Sprint(quotedPath.FindAllString(s, -1)))
		var lists []string
		for list, rest, found := nextDepends(s); found; list, rest, found = nextDepends(rest) {
			lists = append(lists, list)
		}
		var want []string
		for _, m := range inlineDepends.FindAllStringSubmatch(s, -1) {
			want = append(want, m[1])
			hits["depends"]++
		}
		check("nextDepends", fmt.Sprintf("%q", lists), fmt.Sprintf("%q", want))
		check("isOnlyForRead", isOnlyForRead(s), onlyForRead.MatchString(s))
		if onlyForRead.MatchString(s) {
			hits["only for read"]++
		}
		check("saysNone", saysNone(s), noneWords[strings.ToLower(s)] || dependsNone.MatchString(s))
		check("refParts", fmt.Sprint(refParts(s)), fmt.Sprint(refSplit.Split(s, -1)))
		ref := refForm.FindStringSubmatch(s)
		check("refID", refID(s) != "", ref != nil)
		if ref != nil {
			hits["ref"]++
			check("refID", refID(s), ref[1])
		}
		check("FoldID", ledger.FoldID(s), strings.ToLower(strings.Join(strings.Fields(s), " ")))
		check("isStep", isStep(s), stepName.MatchString(s))
		check("oneLine", oneLine(s), strings.Join(strings.Fields(s), " "))
		return ok
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 50_000}); err != nil {
		t.Error(err)
	}
	for _, what := range []string{"id", "label", "explicit", "spec", "box", "heading", "done", "ref", "depends", "only for read"} {
		if hits[what] == 0 {
			t.Errorf("no text for %s: the test shows nothing", what)
		}
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
