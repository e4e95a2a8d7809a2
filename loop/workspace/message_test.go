package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/nightporter/nightporter/loop/ledger"
)

const (
	goodHead   = "project/shop@41:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	forgedHead = "project/shop@1:0000000000000000000000000000000000000000000000000000000000000000"
	ourFooters = "Nightporter-Head: " + goodHead + "\nNightporter-Session: r1-1\nCo-authored-by: Agent <agent@example.org>"
)

// hostileBodies are summaries by which an agent could try to have a footer of
// its own taken for ours, or to hide ours.
var hostileBodies = map[string]string{
	"footer":             "Nightporter-Head: " + forgedHead,
	"footers":            "Done.\n\nNightporter-Head: " + forgedHead + "\nSigned-off-by: Ada <ada@example.org>\nCo-authored-by: Mallory <m@example.org>",
	"divider":            "Done.\n\nNightporter-Head: " + forgedHead + "\n---\nmore",
	"divider and patch":  "Done.\n\nNightporter-Head: " + forgedHead + "\n--- a/x\n+++ b/x\ndiff --git a/x b/x",
	"scissors":           "Done.\n\nNightporter-Head: " + forgedHead + "\n# ------------------------ >8 ------------------------\nmore",
	"other scissors":     "Done.\n\nNightporter-Head: " + forgedHead + "\n; ------------------------ >8 ------------------------",
	"conflicts":          "Done.\n\nNightporter-Head: " + forgedHead + "\n\nConflicts:\n\tx.go",
	"comment":            "Done.\n\nNightporter-Head: " + forgedHead + "\n# a comment",
	"carriage return":    "Done.\r\rNightporter-Head: " + forgedHead + "\r---\r",
	"line separator":     "Done.\u2028\u2028Nightporter-Head: " + forgedHead,
	"form feed":          "Done.\f\fNightporter-Head: " + forgedHead + "\v---",
	"next line":          "Done.\u0085Nightporter-Head: " + forgedHead,
	"space before colon": "Done.\n\nNightporter-Head : " + forgedHead + "\nSigned-off-by\t: x",
	"other separator":    "Done.\n\nNightporter-Head= " + forgedHead + "\nCloses #12",
	"zero width":         "Done.\n\nNightporter\u200b-Head: " + forgedHead + "\n\ufeffSigned-off-by: x",
	"colours":            "Done.\n\n\x1b[31mNightporter-Head:\x1b[0m " + forgedHead + "\n\x1b]0;title\x07Signed-off-by: x",
	"bidi":               "Done.\n\n\u202eNightporter-Head: " + forgedHead + "\u202c",
	"NUL":                "Done.\n\x00\nNightporter-Head: " + forgedHead + "\x00\n",
	"cherry-pick":        "Done.\n\n(cherry picked from commit 0000000000000000000000000000000000000000)\nSigned-off-by: x",
	"blank end":          "Done.\n\nNightporter-Head: " + forgedHead + "\n \n\t\n\n",
	"no UTF-8":           "Done \xff\xfe.\n\nNightporter-Head: " + forgedHead,
	"nothing":            " \n\x00\n",
}

// TestMessageWithoutPasswords: what hides an address from the search for secrets is
// gone before it.
func TestMessageWithoutPasswords(t *testing.T) {
	for _, address := range []string{"https://bob:" + "hunter2@host", "https:/\u200b/bob:" + "hunter2@host", "https://bob\x1b[0m:" + "hunter2@host"} {
		text := message(ledger.CommitTask{Subject: "feat: Task 1 - Fetch " + address, Body: "Fetches " + address + " now.", Footers: ourFooters})
		if strings.Contains(text, "hunter2") || strings.Count(text, "[secret removed: url-password]@host") != 2 {
			t.Errorf("%q becomes\n%s", address, text)
		}
	}
}

// TestMessageBelongsToUs commits with hostile summaries and lets git read the
// footers: it has to find ours and nothing else.
func TestMessageBelongsToUs(t *testing.T) {
	repo, w, base, taken := oneTask(t)
	for name, body := range hostileBodies {
		t.Run(name, func(t *testing.T) {
			c := commitTask(base, base.Commit, taken.Tree)
			c.Subject = "feat: Task 1 - A\x1b[2J\u202e title\x00\nNightporter-Head: " + forgedHead
			c.Body, c.Footers = body, ourFooters
			text := message(c)
			for _, r := range strings.ReplaceAll(text, "\n", "") {
				if !unicode.IsGraphic(r) {
					t.Errorf("the message has %q:\n%q", r, text)
					break
				}
			}
			commit, err := w.commitTree(t.Context(), commit{tree: taken.Tree, parents: []string{base.Commit}, author: base.Author, date: "@1763600000 +0100", message: text})
			must(t, err)
			bare := filepath.Join(w.o.State, "repos", "shop.git")
			for what, got := range map[string]string{
				"git log":                              git(t, bare, "log", "-1", "--format=%(trailers)", commit),
				"git log only":                         git(t, bare, "log", "-1", "--format=%(trailers:only,unfold)", commit),
				"git interpret-trailers":               parseTrailers(t, text),
				"git interpret-trailers, no divider":   parseTrailers(t, text, "--no-divider"),
				"git interpret-trailers, more signs":   parseTrailers(t, text, "-c", "trailer.separators=:=#"),
				"git interpret-trailers, comment sign": parseTrailers(t, text, "-c", "core.commentChar=;"),
			} {
				if got = strings.ReplaceAll(got, "= ", ": "); got != ourFooters {
					t.Errorf("%s reads\n%s\nin\n%s", what, got, text)
				}
			}
			if got := headOf(text); got != goodHead {
				t.Errorf("the head is %q in\n%s", got, text)
			}
			if got := git(t, bare, "log", "-1", "--format=%s", commit); got != "feat: Task 1 - A title Nightporter-Head: "+forgedHead {
				t.Errorf("subject %q", got)
			}
		})
	}
	_ = repo
}

// parseTrailers returns what git's own parser reads. Options of git itself come
// first.
func parseTrailers(t *testing.T, text string, options ...string) string {
	t.Helper()
	args := slices.Concat(options, []string{"interpret-trailers", "--parse"})
	if len(options) == 1 {
		args = []string{"interpret-trailers", "--parse", options[0]}
	}
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestMessageKeepsProse checks that an ordinary summary stays as it was written.
func TestMessageKeepsProse(t *testing.T) {
	const body = "Rounds half cents up, as the tax office wants it.\n\n- cart.go: sums before it rounds\n- see https://example.org/#rounding\n\n* Größe: unchanged"
	c := ledger.CommitTask{Subject: "feat: Task 4 - Round", Body: body + "\n\nFixed: one test\n", Footers: ourFooters + "\n"}
	want := "feat: Task 4 - Round\n\n" + body + "\n\n    Fixed: one test\n\n" + ourFooters + "\n"
	if got := message(c); got != want {
		t.Errorf("message is\n%s\nwant\n%s", got, want)
	}
}

// TestFooterText checks that values with line ends bring in no second head and
// nothing that is no footer.
func TestFooterText(t *testing.T) {
	in := "Nightporter-Head: " + goodHead + "\nNightporter-Proof: changed checks (a\nNightporter-Head: " + forgedHead + "\n\nfree text\n---\r\nb\x1b[31m.sh)\nNightporter-Session: r1-1\n"
	want := "Nightporter-Head: " + goodHead + "\nNightporter-Proof: changed checks (a\nNightporter-Session: r1-1"
	if got := footerText(in); got != want {
		t.Errorf("footers are\n%s\nwant\n%s", got, want)
	}
}

func TestHeadOf(t *testing.T) {
	head := "Nightporter-Head: " + goodHead
	for name, c := range map[string]struct{ message, want string }{
		"ours":               {"feat: A\n\n" + ourFooters + "\n", goodHead},
		"signed off later":   {"feat: A\n\nBody.\n\n" + ourFooters + "\nSigned-off-by: Ada <ada@example.org>\n(cherry picked from commit 00)\n", goodHead},
		"in the body":        {"feat: A\n\n" + head + "\n\nSigned-off-by: Ada <ada@example.org>\n", ""},
		"in the subject":     {head, ""},
		"among prose":        {"feat: A\n\nSee below\n" + head + "\n", ""},
		"twice":              {"feat: A\n\n" + head + "\nNightporter-Head: " + forgedHead + "\n", ""},
		"no hash":            {"feat: A\n\nNightporter-Head: project/shop@41:abc\n", ""},
		"indented":           {"feat: A\n\n    " + head + "\n", ""},
		"squashed by a host": {"Work (#3)\n\n* feat: A\n\n" + head + "\n\n* feat: B\n\nfree\n", ""},
	} {
		if got := headOf(c.message); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
