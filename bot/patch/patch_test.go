package patch_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot/patch"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop/ledger"
)

func files(text string) []patch.File { return patch.Parse(version(text)) }

func pages(lay patch.Layout, text string) []patch.Page {
	return patch.Pages([][]patch.File{files(text)}, []string{""}, lay)
}

func textOf(all []patch.Page) string {
	var b strings.Builder
	for n, p := range all {
		if n > 0 {
			b.WriteString(strings.TrimSpace("--- next page "+p.File) + "\n")
		}
		b.WriteString(strings.Join(p.Lines(), "\n") + "\n")
	}
	return b.String()
}

// TestText compares lists and pages with the golden file.
func TestText(t *testing.T) {
	checked := version(sample)
	checked.Checks = []string{"run.sh"}
	golden.Sections(t, "text", map[string]string{
		"list":                       strings.Join(patch.Index(files(sample), 32), "\n"),
		"list, a changed check":      strings.Join(patch.Index(patch.Parse(checked)[:2], 32), "\n"),
		"list, a narrow screen":      strings.Join(patch.Index(files(sample), 24), "\n"),
		"pages of messages":          textOf(pages(patch.TextLayout, sample)),
		"pages of pictures, as text": textOf(pages(patch.PictureLayout, sample)),
		"terminal":                   textOf(pages(patch.WideLayout, sample)),
		"two versions": textOf(patch.Pages([][]patch.File{files(sample)[:1], files(sample)[1:2]},
			[]string{"commit 9c41e07, 02:27", "commit 4f0c2d1, Tue 01:10"}, patch.PictureLayout)),
		"nothing but a mode": textOf(pages(patch.TextLayout, "diff --git a/run.sh b/run.sh\nold mode 100755\nnew mode 100644\n")),
		"an empty file":      textOf(pages(patch.TextLayout, "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n")),
		"CR LF on all lines": textOf(pages(patch.TextLayout, "diff --git a/x b/x\n@@ -1 +1,2 @@\n a\r\n+b\r\n")),
		"CR LF is new":       textOf(pages(patch.TextLayout, "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+a\r\n")),
		"what is not seen":   textOf(pages(patch.TextLayout, "diff --git a/x\u202egpj.go b/x\u202egpj.go\n@@ -1 +1 @@\n-a\x00b\x1b[31m\x7f\u200b\u00ad\ufeff\n+a\u0301\u0301\u0301\u0301\u0301 \u3164=\u2028漢字\U000e0041\ufe0f \xff\t \n")),
		"no hunk of the file": textOf(patch.Pages([][]patch.File{patch.Parse(patch.Version{Files: []ledger.Change{
			{FileChange: ledger.FileChange{Path: "a.go", Added: 7, Removed: 1}, Status: ledger.ChangeModified},
			{FileChange: ledger.FileChange{Path: "b.go", Added: 2}, Status: ledger.ChangeModified, Patch: "diff --git a/b.go b/b.go\n@@ -1,1 +1,3 @@\n a\n+b\n"},
		}})}, []string{""}, patch.TextLayout)),
		"a secret was removed": textOf(pages(patch.TextLayout, "diff --git a/key b/key\n@@ -1,1 +1,9 @@\n a\n+[secret removed: private-key]\n[secret removed: x]\n b\n")),
	})
}

// TestOrder checks that what decides comes first and what programs write last.
func TestOrder(t *testing.T) {
	v := patch.Version{Checks: []string{"Makefile"}}
	for _, p := range []string{"go.sum", "a.md", "Makefile", "vendor/x.go", "x_test.go", "a.go", "b.go", "data.bin"} {
		n := 3
		if p == "b.go" {
			n = 9
		}
		v.Files = append(v.Files, ledger.Change{FileChange: ledger.FileChange{Path: p, Added: n}, Status: ledger.ChangeModified})
	}
	var got []string
	for _, f := range patch.Parse(v) {
		got = append(got, f.Path)
	}
	if want := "Makefile b.go a.go x_test.go a.md data.bin go.sum vendor/x.go"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

// TestChanged checks which words of replaced lines are marked.
func TestChanged(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"return legacy.Place(o)", "return adapter.Place(o)", "[legacy] [adapter]"},
		{"const n = 3", "const n = 5", "[3] [5]"},
		{"f(a, b)", "f(a, b, c)", "[] [, c]"},
		{"if x {", "return nothing at all, ever", "[] []"},
		{"größe := 1", "größe := 12", "[1] [12]"},
		{strings.Repeat("x ", 800), strings.Repeat("y ", 800), "[] []"},
	} {
		f := files("diff --git a/x.go b/x.go\n@@ -1 +1 @@\n-" + c.was + "\n+" + c.is + "\n")[0]
		got := ""
		for _, l := range f.Hunks[0].Lines {
			var parts []string
			for _, r := range l.Changed {
				parts = append(parts, l.Text[r[0]:r[1]])
			}
			got += " [" + strings.Join(parts, "|") + "]"
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%q → %q: %s, want %s", c.was, c.is, got, c.want)
		}
	}
	f := files("diff --git a/x.go b/x.go\n@@ -1 +1,2 @@\n-	return legacy.Place(o)\n+	// new\n+	return adapter.Place(o)\n")[0]
	if l := f.Hunks[0].Lines; len(l[1].Changed) != 0 || len(l[2].Changed) != 1 {
		t.Errorf("a removed line is paired with the wrong one: %+v", l)
	}
}
