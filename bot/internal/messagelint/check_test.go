package messagelint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// heard is a testing.TB that records failures instead of failing.
type heard struct {
	testing.TB
	errors []string
}

func (h *heard) Helper() {}
func (h *heard) Errorf(format string, args ...any) {
	h.errors = append(h.errors, fmt.Sprintf(format, args...))
}

// TestCheckFails breaks each rule with a message and expects a failure.
func TestCheckFails(t *testing.T) {
	good := func() bot.Message {
		return bot.Message{
			Key: "ask.blocked",
			Lines: []bot.Line{
				{Text: "■ shop #8 blocked, 2 attempts (q5)"}, {Text: "Refund flow · 03:06"},
				{Kind: bot.Quote, Text: "<b> & *x* /stop @all :smile: the job is stuck"}, {Text: "Stays blocked; #9 goes on."},
			},
			Buttons: []bot.Button{{Label: "Retry", Command: "q5 retry"}, {Label: "Guide…", Command: "q5 guide WORDS"}},
		}
	}
	var h heard
	if Pushed(&h, "good", good()); len(h.errors) > 0 {
		t.Errorf("a good one: %q", h.errors)
	}
	for want, spoil := range map[string]func(*bot.Message){
		"is not in messagelint.Keys":  func(m *bot.Message) { m.Key = "brand.new" },
		"has no last line for it":     func(m *bot.Message) { m.Key = "cost" },
		"characters":                  func(m *bot.Message) { m.Lines[0].Text = "■ " + strings.Repeat("x", 37) },
		"neither a known sign":        func(m *bot.Message) { m.Lines[0].Text = "➤ shop #8 blocked" },
		"is not clean":                func(m *bot.Message) { m.Lines[1].Text = "two\nlines" },
		"an emoji":                    func(m *bot.Message) { m.Lines[1].Text = "❓ what" },
		"says \"stuck\"":              func(m *bot.Message) { m.Lines[1].Text = "Refund flow is stuck" },
		"what comes next":             func(m *bot.Message) { m.Lines[3].Text = "Good luck." },
		"is pushed and ends with \"<": func(m *bot.Message) { m.Lines = m.Lines[:3] },
		"the label":                   func(m *bot.Message) { m.Buttons[0].Label = "Try it once more" },
		"is no command":               func(m *bot.Message) { m.Buttons[0].Command = "again please" },
		"three rows": func(m *bot.Message) {
			for range 9 {
				m.Buttons = append(m.Buttons, m.Buttons[0])
			}
		},
	} {
		m := good()
		spoil(&m)
		var h heard
		Pushed(&h, "spoilt", m)
		if !strings.Contains(strings.Join(h.errors, "\n"), want) {
			t.Errorf("nothing says %q: %q", want, h.errors)
		}
	}
}

// TestTitles: a long title is cut at a word and marked as cut (docs/spec 27).
func TestTitles(t *testing.T) {
	for _, title := range []string{
		"Move orders to the new API and keep the old one for the mobile app", "Check the pay page on a phone, with and without a card",
		"Überweisung für Kunden im Ausland mit Gebühren nach Land", strings.Repeat("a bb ccc dddd ", 900),
	} {
		for width := 16; width <= 50; width++ {
			short := bot.Cut(title, width)
			head, cut := strings.CutSuffix(short, "…")
			if !cut || bot.Width(short) > width || !strings.HasPrefix(title, head) {
				t.Fatalf("%d columns of %q: %q", width, title, short)
			}
			if rest := strings.TrimPrefix(title, head); !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, ",") && !strings.HasSuffix(head, " ") && longest(title) < width/4 {
				t.Errorf("%d columns of %q: cut within a word: %q", width, title, short)
			}
		}
	}
}

func longest(s string) int {
	n := 0
	for _, w := range strings.Fields(s) {
		n = max(n, bot.Width(w))
	}
	return n
}

// TestSlashes checks what counts as a command that Slack does not take.
func TestSlashes(t *testing.T) {
	for text, want := range map[string]string{
		"Type /why 7": "/why", "(/resume)": "/resume", "→ /task_8": "/task_8", "/porter why 7": "", "No /guidence": "",
		"docs/plan.md": "", "https://example.org/stop": "", "/usr/stop/x": "", "and/or /log": "/log",
	} {
		if got := strings.Join(slashes(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
