package backlog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

const header = "| ID | Task | Status | Feature.md |\n|---|---|---|---|\n"

// TestReadList reads tables of other shapes than the usual one.
func TestReadList(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // "id|title|status|priority|link|prose"
	}{
		"seed": {formtest.SeedBacklog, []string{
			"TECH-068|Native triggers (was blocked | queued twice)|done|2|features/TECH-068-2026-02-02-native-triggers.md|",
			"TECH-069|Fresh context per spec|queued|3|features/TECH-069-2026-02-02-fresh-context.md|",
			"TECH-070|Sync limits|draft|2|features/TECH-070.md|", "BUG-071a|Totals done wrong|in_progress|4||",
			"GROWTH-001|Launch post|blocked|4|features/TECH-068-2026-02-02-native-triggers.md|",
			"GROWTH-002|Showcase|resumed|2||closed: covered by TECH-068"}},
		"CRLF, BOM, case, marks": {formtest.Backlogs[1], []string{"A-1|one|queued|0||", "A-2|two|done|0||", "A-3|three|done|0||"}},
		"no outer pipes, front matter, comments, code": {formtest.Backlogs[2], []string{
			"X_Y-1|`a` and `b`|blocked|0||", "X_Y-2|done | queued|in_progress|0||", "X_Y-3|c|manual_verify|0||"}},
		"status first, title in another language": {"| 状態 | 内容 | ID |\n|---|---|---|\n| queued | 書く | `T-1` |\n", []string{"T-1|書く|queued|0||"}},
		"link column without a header":            {"| ID | Was | Status | Mehr |\n|---|---|---|---|\n| T-1 | tun | queued | [x](<a%20b.md#top> \"t\") |\n", []string{"T-1|tun|queued|0|a b.md|"}},
		"path, address, placeholder": {header + "| T-1 | a | queued | `docs/a.md` |\n| T-2 | b | queued | [x](https://example.com/a.md) |\n| T-3 | c | queued | — |\n| T-4 | d | queued |\n", []string{
			"T-1|a|queued|0|docs/a.md|", "T-2|b|queued|0||[x](https://example.com/a.md)", "T-3|c|queued|0||", "T-4|d|queued|0||"}},
		"linked id, bold title, empty row": {header + "| [T-1](x.md) | **a** *b* | queued | - |\n| | | | |\n| [T-2](y.md) | **c** | queued | - |\n", []string{"T-1|**a** *b*|queued|0||", "T-2|c|queued|0||"}},
		"a table right below a table":      {header + "| T-1 | a | done | |\n| ID | Status | What |\n|---|---|---|\n| T-2 | queued | b |\n", []string{"T-1|a|done|0||", "T-2|b|queued|0||"}},
		"a foreign table right below":      {header + "| T-1 | a | done | |\n| Status | What |\n|---|---|\n| queued | b |\n", []string{"T-1|a|done|0||"}},
		"too many empty cells":             {header + "| T-1 | a | done | | | |\n", []string{"T-1|a|done|0||"}},
		"nested in a quote: not read":      {header + "| T-1 | a | done | |\n\n> | ID | Status |\n> |---|---|\n> | T-2 | queued |\n", []string{"T-1|a|done|0||"}},
		"remark behind a status":           {header + "| T-1 | a | done 2026-01-02 (by Mira) | |\n", []string{"T-1|a|done|0||"}},
		"numbers and emoji as ids":         {header + "| 1 | a | queued | |\n| 🚀-2 | b | queued | |\n", []string{"1|a|queued|0||", "🚀-2|b|queued|0||"}},
		"a table in a comment that closes": {"<!--\n" + header + "| T-9 | x | queued | |\n-->\n" + header + "| T-1 | a | done | |\n", []string{"T-1|a|done|0||"}},
	} {
		list, err := ReadList("ai/backlog.md", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, r := range list.Rows {
			got = append(got, fmt.Sprintf("%s|%s|%s|%d|%s|%s", r.ID, r.Title, r.Status, r.Priority, r.Link, r.Prose))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// TestMalformed: what a person would take for a task and cannot be read is an error
// with its line.
func TestMalformed(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no table":           {"# x\n", "b.md  has no tasks: expected a table with the columns ID and Status"},
		"no status column":   {"| ID | Task |\n|---|---|\n| T-1 | a |\n", "has no tasks"},
		"twice":              {header + "| T-1 | a | done | |\n\n" + header + "| t-1 | b | queued | |\n", "b.md:7  t-1 is in line 3, too"},
		"unknown status":     {header + "| T-1 | a | closed | |\n", `b.md:3  T-1 has the status "closed": expected draft, queued,`},
		"two statuses":       {header + "| T-1 | a | queued done | |\n", `b.md:3  T-1 has the status "queued done"`},
		"status in a past":   {header + "| T-1 | a | was done | |\n", `b.md:3  T-1 has the status "was done"`},
		"status struck":      {header + "| T-1 | a | ~~done~~ | |\n", `b.md:3  T-1 has the status "~~done~~"`},
		"status in doubt":    {header + "| T-1 | a | done? | |\n", `b.md:3  T-1 has the status "done?"`},
		"part of a word":     {header + "| T-1 | a | undone | |\n", `b.md:3  T-1 has the status "undone"`},
		"no status":          {header + "| T-1 | a | — | |\n", "b.md:3  T-1 has no status"},
		"short row":          {header + "| T-1 | a |\n", "b.md:3  T-1 has 2 cells and none for its status: the header in line 1 has 4"},
		"a pipe too many":    {header + "| T-1 | a | b | queued | x |\n", "b.md:3  T-1 has 5 cells where the header in line 1 has 4"},
		"id with spaces":     {header + "| the first | a | queued | |\n", `b.md:3  id "the first": expected one word`},
		"row in no table":    {header + "| T-1 | a | done | |\n\n| T-2 | b | queued | |\n", "b.md:5  T-2 is in no table"},
		"no dashes":          {"| ID | Task | Status |\n| T-1 | a | `queued` |\n", "b.md:2  T-1 is in no table"},
		"code never closed":  {"```\n" + header + "| T-1 | a | queued | |\n", "b.md:1  this code block or comment is never closed"},
		"comment not closed": {header + "| T-1 | a | done | |\n<!-- x\n| T-2 | a | queued | |\n", "b.md:4  this code block or comment is never closed"},
		"NUL":                {header + "\x00", "b.md:3  a NUL byte"},
		"UTF-16":             {"\xff\xfe|\x00", "b.md:1  is UTF-16"},
		"Latin-1":            {header + "| T-1 | gr\xfc | done | |\n", "b.md:3  is not UTF-8"},
	} {
		_, err := ReadList("b.md", []byte(c.text))
		if input := (*ledger.InputError)(nil); !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// TestMarkKeepsForm: a mark changes the word alone, in its own case.
func TestMarkKeepsForm(t *testing.T) {
	for cell, want := range map[string]string{
		"queued": "done", "**Queued**": "**Done**", "`QUEUED`": "`DONE`", "🚀 queued (soon)": "🚀 done (soon)", "_in progress_": "_done_", "In-Progress": "Done",
	} {
		text := "| ID | Task queued | Status |\n|---|---|---|\n| T-1 | queued T-2 done | " + cell + " |  \r\n| T-2 | x | done |"
		got, changes, gone, err := Mark("b.md", []byte(text), []ledger.Marking{{Task: "t-1", Mark: ledger.MarkBlocked}, {Task: "T-1", Mark: ledger.MarkDone}})
		if wanted := strings.Replace(text, "| "+cell+" |", "| "+want+" |", 1); err != nil || len(gone) > 0 || len(changes) != 1 || string(got) != wanted {
			t.Errorf("%s: got %q, want %q (%v)", cell, got, wanted, err)
		}
	}
	text := []byte(header + "| T-1 | a | queued | |\n| T-2 | b | done | |\n| t-2 | c | queued | |\n| T-3 | c | nonsense | |\n")
	if _, _, _, err := Mark("b.md", text, []ledger.Marking{{Task: "T-2", Mark: ledger.MarkDone}}); !errors.As(err, new(*ledger.InputError)) {
		t.Errorf("marking an id of two rows: %v", err)
	}
	got, _, gone, err := Mark("b.md", text, []ledger.Marking{{Task: "T-1", Mark: ledger.MarkDone}, {Task: "T-9", Mark: ledger.MarkDone}})
	if err != nil || !slices.Equal(gone, []string{"T-9"}) || string(got) != strings.Replace(string(text), "queued", "done", 1) {
		t.Errorf("with mistakes elsewhere: %q, %q, %v", got, gone, err)
	}
	if _, _, _, err := Mark("b.md", text, []ledger.Marking{{Task: "T-1", Mark: "closed"}}); err == nil {
		t.Error("an unknown mark was written")
	}
}

// TestMarkAnyTable: in any table a mark changes one word of one cell, and reads back.
func TestMarkAnyTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		title := rapid.OneOf(rapid.SampledFrom([]string{"queued", "T-1 done", `a \| b`, "`x`", "[l](u.md)", "—", ""}), rapid.StringMatching(`[a-zäß💡 *_.()\[\]-]{0,20}`))
		words := []string{"queued", "Done", "**blocked**", "`resumed`", "✅ done (x)", "in_progress", "manual_verify", "DRAFT"}
		var b strings.Builder
		type cellOf struct{ before, cell, after string }
		var rows []cellOf
		n := 0
		for range rapid.IntRange(1, 3).Draw(t, "tables") {
			b.WriteString("## x" + eol + eol + "| Who | ID | State | What |" + eol + "|-|-|:-:|-|" + eol)
			for range rapid.IntRange(1, 5).Draw(t, "rows") {
				n++
				r := cellOf{fmt.Sprintf("| %s | T-%d | ", title.Draw(t, "who"), n), rapid.SampledFrom(words).Draw(t, "status"), " | " + title.Draw(t, "title") + " |" + eol}
				rows = append(rows, r)
				b.WriteString(r.before + r.cell + r.after)
			}
			b.WriteString(eol)
		}
		text := b.String()
		list, err := ReadList("b.md", []byte(text))
		if err != nil || len(list.Rows) != n {
			t.Fatalf("%d of %d rows, %v\n%s", len(list.Rows), n, err, text)
		}
		pick := rapid.IntRange(0, n-1).Draw(t, "pick")
		m := rapid.SampledFrom([]ledger.Mark{ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify, ledger.MarkWorking}).Draw(t, "mark")
		marked, changes, gone, err := Mark("b.md", []byte(text), []ledger.Marking{{Task: fmt.Sprintf("t-%d", pick+1), Mark: m}})
		if err != nil {
			t.Fatal(err)
		}
		row := rows[pick]
		if list.Rows[pick].Status == Draft {
			if len(gone) != 1 || string(marked) != text {
				t.Fatalf("a draft was marked: %q", marked)
			}
			return
		}
		before, after, _ := strings.Cut(text, row.before+row.cell+row.after)
		rest, ok1 := strings.CutPrefix(string(marked), before+row.before)
		cell, ok2 := strings.CutSuffix(rest, row.after+after)
		status, _, ok3 := findStatus([]byte(cell), form.Span{End: len(cell)})
		if !ok1 || !ok2 || !ok3 || status != changes[0].To || statusWord.ReplaceAllString(cell, "") != statusWord.ReplaceAllString(row.cell, "") {
			t.Fatalf("%q became %q", text, marked)
		}
	})
}

// FuzzBacklog: no text makes reading or marking fail otherwise than by an InputError,
// and a mark changes its line alone.
func FuzzBacklog(f *testing.F) {
	for _, text := range formtest.Backlogs {
		f.Add(text)
	}
	f.Add(header + "| T-1 | a | queued done | |\n\n| T-2 | b | queued |\n```\n|")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadList("b.md", []byte(text))
		if err != nil {
			if !errors.As(err, new(*ledger.InputError)) {
				t.Fatal(err)
			}
			return
		}
		for _, r := range list.Rows {
			marked, _, gone, err := Mark("b.md", []byte(text), []ledger.Marking{{Task: r.ID, Mark: ledger.MarkDone}})
			if err != nil || len(gone) > 0 != (r.Status == Draft) {
				t.Fatalf("%s: %v, gone %q", r.ID, err, gone)
			}
			old, now := bytes.Split([]byte(text), []byte("\n")), bytes.Split(marked, []byte("\n"))
			for n := range old {
				if n+1 != r.Line && !bytes.Equal(old[n], now[n]) {
					t.Fatalf("marking %s changed line %d: %q", r.ID, n+1, now[n])
				}
			}
		}
		if len(list.Rows) > 0 {
			if grown, err := AddRows("b.md", []byte(text), []NewRow{{Task: ledger.Task{ID: "NEW-1", Title: "x|y"}}}); err == nil && len(grown) <= len(text) {
				t.Fatal("nothing was added")
			}
		}
		ReadSpec("s.md", []byte(text))
	})
}

// large returns a backlog with n rows.
func large(n int) []byte {
	var b bytes.Buffer
	b.WriteString(header)
	for i := range n {
		fmt.Fprintf(&b, "| TECH-%06d | The title of this task, which says what is done \\| and what is queued | queued | [spec](features/TECH-%06d-2026-02-02-some-slug.md) |\n", i, i)
	}
	return b.Bytes()
}

// BenchmarkMark marks one row of 100,000.
func BenchmarkMark(b *testing.B) {
	text := large(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if list, err := ReadList("b.md", text); err != nil || len(list.Rows) != 100_000 {
			b.Fatal(err)
		}
		if _, _, _, err := Mark("b.md", text, []ledger.Marking{{Task: "TECH-050000", Mark: ledger.MarkDone}}); err != nil {
			b.Fatal(err)
		}
	}
}
