package patch_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/nightporter/nightporter/bot/patch"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

func render(text string) []byte {
	return patch.HTML(patch.Head{Title: "shop #5", About: []string{"Move orders <to> the new API"}}, [][]patch.File{files(text)}, []string{""})
}

// TestHTML compares the file with the golden one. Whoever changes it looks at it
// in a browser, dark and light, in a window of 360 pixels.
func TestHTML(t *testing.T) {
	got := render(sample)
	checkHTML(t, got)
	golden.Compare(t, "sample.html", string(got))
}

// allowed are the elements of an HTML file and their attributes. None of them
// takes an address.
var allowed = map[string][]string{
	"html": {"lang"}, "head": nil, "meta": {"charset", "http-equiv", "content", "name"}, "title": nil, "style": nil, "body": nil, "header": nil, "main": nil,
	"h1": nil, "h2": nil, "p": nil, "details": {"open"}, "summary": nil, "small": nil, "ins": nil, "del": nil, "div": {"class"}, "i": nil, "b": nil, "code": nil,
	"mark": nil, "u": nil, "span": {"class"},
}

var (
	className = regexp.MustCompile(`^[a-z]( [a-z])?$`)
	address   = regexp.MustCompile(`(?i)url\s*\(|@import|image-set|expression|javascript:|src\s*=|href`)
)

// checkHTML fails unless a file is whole, is well formed, loads nothing, runs
// nothing, and has no character that is not seen as itself.
func checkHTML(t testing.TB, data []byte) {
	t.Helper()
	z := html.NewTokenizer(bytes.NewReader(data))
	var open []string
	policy := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 || !policy {
				t.Fatalf("the file ends within %q, with a policy: %v", open, policy)
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			tok := z.Token()
			attributes, known := allowed[tok.Data]
			if !known {
				t.Fatalf("an element %s", tok)
			}
			for _, a := range tok.Attr {
				if !slices.Contains(attributes, a.Key) || strings.Contains(a.Val, ":") || a.Key == "class" && !className.MatchString(a.Val) {
					t.Fatalf("an attribute %s=%q", a.Key, a.Val)
				}
				policy = policy || a.Key == "http-equiv" && a.Val == "Content-Security-Policy"
			}
			if tok.Data != "meta" {
				open = append(open, tok.Data)
			}
		case html.EndTagToken:
			tok := z.Token()
			if n := len(open) - 1; n < 0 || open[n] != tok.Data {
				t.Fatalf("</%s> within %q", tok.Data, open)
			}
			open = open[:len(open)-1]
		case html.TextToken:
			raw := string(z.Raw())
			if len(open) > 0 && open[len(open)-1] == "style" {
				if address.MatchString(raw) {
					t.Fatalf("the style has an address: %s", address.FindString(raw))
				}
				continue
			}
			text := html.UnescapeString(raw)
			checkVisible(t, strings.ReplaceAll(text, "\n", " "))
		case html.CommentToken:
			t.Fatalf("a comment: %s", z.Raw())
		}
	}
}

// checkVisible fails for a text with a character that is not seen as itself.
func checkVisible(t testing.TB, text string) {
	t.Helper()
	for _, r := range text {
		if r != ' ' && (unicode.IsControl(r) || unicode.IsSpace(r) || !unicode.IsGraphic(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) || r >= 0xfe00 && r <= 0xfe0f {
			t.Fatalf("%U in %.200q", r, text)
		}
	}
}

// TestLimits checks that a patch of any size gives a file that a phone opens, in
// time, and that it says what is left out.
func TestLimits(t *testing.T) {
	var long, many strings.Builder
	long.WriteString("diff --git a/long.go b/long.go\n@@ -1,0 +1,90000 @@\n")
	for n := range 90000 {
		fmt.Fprintf(&long, "+	if x[%d] != \"a string\" { return fmt.Errorf(\"line %d\") }\n", n, n)
	}
	for n := range 5000 {
		fmt.Fprintf(&many, "diff --git a/pkg/f%d.go b/pkg/f%d.go\n@@ -1 +1 @@\n-a\n+b\n", n, n)
	}
	for name, c := range map[string]struct{ text, says string }{
		"5 MB":                           {long.String(), "changed lines are left out"},
		"5,000 files":                    {many.String(), "2000 more files are left out"},
		"a line of 1 MB":                 {"diff --git a/x.js b/x.js\n@@ -1 +1 @@\n-" + strings.Repeat("a,", 1<<19) + "\n+" + strings.Repeat("'\"`/*", 1<<18) + "\n", "more characters"},
		"a line of 1 MB without letters": {"diff --git a/x.js b/x.js\n@@ -1 +1 @@\n+" + strings.Repeat("\u202e", 1<<18) + "\n", "more characters"},
		"5 MB before a short file":       {long.String() + "diff --git a/till.go b/till.go\n@@ -1 +1 @@\n+theShortOne\n", "theShortOne"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			got := render(c.text)
			t.Logf("%d kB from %d kB in %s", len(got)>>10, len(c.text)>>10, time.Since(began))
			if len(got) > 4<<20 {
				t.Errorf("%d bytes", len(got))
			}
			checkHTML(t, got)
			if !bytes.Contains(got, []byte(c.says)) {
				t.Errorf("the file does not say %q", c.says)
			}
			all := pages(patch.TextLayout, c.text)
			if name == "5,000 files" && len(all) > patch.MaxPages+2 {
				t.Errorf("%d pages are laid out", len(all))
			}
			for _, p := range all[:1] {
				if n := len(strings.Join(p.Lines(), "\n")); n > 3500 {
					t.Errorf("a page of a message has %d bytes", n)
				}
			}
		})
	}
	cut := patch.Parse(patch.Version{Files: []ledger.Change{{FileChange: ledger.FileChange{Path: "a.go", Added: 7}, Status: ledger.ChangeAdded}}})
	if got := patch.HTML(patch.Head{Title: "x", Left: "3 more files changed and left out"}, [][]patch.File{cut}, []string{""}); !bytes.Contains(got, []byte("7 changed lines are left out")) || !bytes.Contains(got, []byte("3 more files")) {
		t.Errorf("%s", got)
	}
}

// FuzzPatch gives every output a patch of a session that means ill.
func FuzzPatch(f *testing.F) {
	f.Add(sample, "a.go")
	f.Add("diff --git a/<script> b/<script>\n@@ -1 +1 @@ </style><script>\n-<img src=x onerror=1>\n+\u202e\x00\x1b]0;x\x07\n\\ No newline\n", "</title>.html")
	f.Add("@@ -9999999999999999999,1 +1 @@\n@@\n+\n-\n \n\\\n", "x.py")
	f.Add("diff --git a/a b/a\nnew file mode 160000\nBinary files\n@@ - + @@\n+'''\n+\"\"\"\n+/*\n+`", "a.js")
	f.Add("@@ -1 +1 @@\n+a\u0301\u0301\u0301\u0301\u0301\U000e0100\u200d\r\n-\xff\xfe\n", "a\nb\u202e")
	f.Fuzz(func(t *testing.T, text, name string) {
		c := ledger.Change{FileChange: ledger.FileChange{Path: name, Added: 3, Removed: 1}, From: name, Status: ledger.ChangeRenamed, Patch: text}
		all := append(files(text), patch.Parse(patch.Version{Files: []ledger.Change{c}})...)
		versions, about := [][]patch.File{all, all[:1]}, []string{name, name}
		checkHTML(t, patch.HTML(patch.Head{Title: name, About: []string{name}, Left: name}, versions, about))
		for _, line := range patch.Index(all, 32) {
			checkVisible(t, line)
		}
		for _, lay := range []patch.Layout{patch.TextLayout, patch.PictureLayout, patch.WideLayout} {
			for n, p := range patch.Pages(versions, about, lay) {
				lines := p.Lines()
				if len(lines) == 0 || len(lines) > lay.Rows {
					t.Fatalf("page %d has %d rows", n, len(lines))
				}
				for _, line := range lines {
					checkVisible(t, line)
					if lay.Columns > 0 && columns(line) > lay.Columns+max(lay.Lead, 2) {
						t.Fatalf("a row of %d columns: %q", columns(line), line)
					}
				}
			}
		}
	})
}

// TestHTMLInBrowser opens the file in Chromium, where there is one: it is shown
// whole, without a complaint and without a request.
func TestHTMLInBrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			browser = p
		}
	}
	if browser == "" {
		t.Skip("no Chromium on PATH: the file is checked by its elements and attributes alone")
	}
	file := filepath.Join(t.TempDir(), "diff.html")
	if err := os.WriteFile(file, render(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	var errors bytes.Buffer
	cmd := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=360,800",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file)
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errors.String())
	}
	if got, want := bytes.Count(out, []byte("</details>")), len(files(sample)); got != want || bytes.Contains(errors.Bytes(), []byte("CONSOLE")) {
		t.Errorf("%d files, want %d\n%s", got, want, errors.String())
	}
}
