package telegram_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/loop/ledger"

	far "github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
)

const joiner = "\u2060"

// TestRenderGolden compares rendered messages with golden files.
func TestRenderGolden(t *testing.T) {
	quote := func(s string) bot.Line { return bot.Line{Kind: bot.Quote, Text: s} }
	pre := func(s string) bot.Line { return bot.Line{Kind: bot.Pre, Text: s} }
	line := func(s string) bot.Line { return bot.Line{Text: s} }
	patch := bot.Message{Key: "diff", Lines: []bot.Line{line("shop #11: 3 files +30 −1"), line("Admin list")}}
	for n := range 30 {
		patch.Lines = append(patch.Lines, pre(fmt.Sprintf("+	a < b && c[%d]", n)))
	}
	plan := bot.Message{Key: "plan", Lines: []bot.Line{line("shop #6 plan: 3 parts, round 3"), line("Payment adapter · asks you (q1)"), pre("An adapter, then /stop of the old one.")}}
	for n := range 30 {
		plan.Lines = append(plan.Lines, pre(fmt.Sprintf("✓ %d Move <callers>", n)))
	}
	asked := time.Date(2026, 11, 20, 12, 36, 0, 0, time.UTC)
	reminder := bot.Reminder(loop.State{Project: loop.Project{Name: "shop"}}, ledger.Question{
		ID: "q3", Kind: ledger.AskAgent, Task: "Task 4", Title: "Address form", Hat: "planner", Text: "PO boxes? <b>The</b> carriers differ, see /stop & a/b.",
		Options: []string{"Yes, letters only", "No"}, Choice: "No", Asked: asked, Expires: asked.Add(30 * time.Minute),
	}, asked.Add(20*time.Minute))
	for name, m := range map[string]bot.Message{
		"blocked": {Key: "ask.blocked", Lines: []bot.Line{
			line("■ shop #8 blocked, 2 attempts (q5)"), line("Refund flow · 03:06"),
			quote("TestRefundPartial: want 1200, got 1000. The plan says \"refund the order\" & <refund the line>; can't tell which."),
			line("Tried: by line → order/adapter.go fails, see README.md"), line("Stays blocked; #10 waits for it, /queue shows the rest."),
		}},
		"reminder":    reminder,
		"short-quote": {Key: "guidance.queued", Lines: []bot.Line{line("○ g17 queued · 01:47"), quote("Ask @mira, see https://evil.example/x or /stop"), line("To the next session, #7 builder as it looks.")}},
		"paths":       {Key: "run.started", Lines: []bot.Line{line("● shop r14 started, see a/b/c"), line("Branch nightporter/shop/r14 (/etc/passwd, 9/12, /frob, /status, @builder, /task_8.)")}},
		"log":         {Key: "log", Lines: []bot.Line{line("shop #7: 2 sessions, 12 min"), pre("01:50 builder  build.complete"), pre("02:10 reviewer no <issues>")}},
		"diff":        patch,
		"diff-short": {Key: "diff", Lines: []bot.Line{line("shop #5: 1 file +1 −1"), line("Move orders to the new API"),
			pre("order/service.go           +1 −1"), pre("@ line 9  func (s *Service) …"), pre("- return legacy.Place(o.ID, &o)"), pre("+ return adapter.Place(o.ID,"), pre("+›&o) // ‹U+202E› <b>")}},
		"diff-html": {Key: "diff.html", Lines: []bot.Line{line("shop #5: 2 files +902 −61"), line("Move orders to the new API"), pre("order/service.go        +900 −61"), pre("go.sum                        +2")},
			Document: &bot.Document{Name: "shop-5.html", Data: []byte("<!doctype html>\n")}},
		"plan":  plan,
		"empty": {},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			p := telegram.Render(m)
			b.WriteString(p.HTML + "\n--- plain\n" + p.Text + "\n")
			if p.File != nil {
				b.WriteString("--- file " + p.File.Name + "\n" + string(p.File.Data))
			}
			b.WriteString("===\n")
			got := strings.ReplaceAll(b.String(), joiner, "{2060}")
			golden.Compare(t, name+".txt", got)
		})
	}
}

// visible returns the visible text of HTML, or an error for incomplete tags. It
// uses an XML decoder, which shares no code with the renderer.
func visible(html string) (string, error) {
	d := xml.NewDecoder(strings.NewReader("<all>" + strings.ReplaceAll(html, "<blockquote expandable>", `<blockquote expandable="">`) + "</all>"))
	var b strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch x := token.(type) {
		case xml.CharData:
			b.Write(x)
		case xml.StartElement:
			switch x.Name.Local {
			case "all", "b", "code", "pre", "blockquote":
			default:
				return "", fmt.Errorf("tag %s", x.Name.Local)
			}
		}
	}
}

func utf16Units(s string) int { return len(utf16.Encode([]rune(s))) }

func withoutJoiners(s string) string { return strings.ReplaceAll(s, joiner, "") }

// checkRender checks the properties of every rendered message.
func checkRender(t interface{ Fatalf(string, ...any) }, m bot.Message) {
	var want []string
	p := telegram.Render(m)
	text, err := visible(p.HTML)
	if err != nil {
		t.Fatalf("broken HTML: %v\n%s", err, p.HTML)
	}
	theirs, entities, err := far.ParseHTML(p.HTML)
	if err != nil || theirs != text {
		t.Fatalf("the platform reads %q, %v; want %q", theirs, err, text)
	}
	limit := 4096
	if p.File != nil {
		limit = 1024
	}
	if utf16Units(text) > limit || utf16Units(p.Text) > limit || strings.TrimSpace(text) == "" || strings.TrimSpace(p.Text) == "" {
		t.Fatalf("%d and %d units of %d", utf16Units(text), utf16Units(p.Text), limit)
	}
	for _, tap := range far.Taps(theirs, entities) {
		if _, err := bot.Parse(tap); err != nil || tap[0] != '/' {
			t.Fatalf("%q can be tapped in %q (%v)", tap, text, err)
		}
	}
	for _, tap := range far.Taps(p.Text, nil) {
		if _, err := bot.Parse(tap); err != nil || tap[0] != '/' {
			t.Fatalf("%q can be tapped in the plain %q", tap, p.Text)
		}
	}
	whole := []string{withoutJoiners(text)}
	if f := p.File; f != nil {
		whole = strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(f.Data), "┃ ", ""), "\n"), "\n")
		if f.Name == "" || strings.ContainsAny(f.Name, "/\\ ") {
			t.Fatalf("file name %q", f.Name)
		}
	}
	for _, l := range m.Lines {
		if l.Kind == bot.Pre {
			want = append(want, bot.CleanPre(l.Text))
		} else {
			want = append(want, bot.Clean(l.Text))
		}
	}
	flat := func(s []string) string {
		return strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(strings.Join(s, "\n"), "\n", ""), " ", ""), "┃", "")
	}
	if w := flat(want); w != "" && w != flat(whole) {
		t.Fatalf("lost: %s", cmp.Diff(w, flat(whole)))
	}
}

var hostile = []string{
	"", "<b>", "</b>", "&amp;", "&", "<script>", "*x*", "`", "\u202e", "é", "👩‍👩‍👧", "x\ny", "\x00", "/stop", "@mira", "/etc/passwd",
	"https://evil.example/a?b=c#d", "evil.com", "tg://resolve?domain=x", "a.b.cc.dd", "mailto:a@b.co", "1.2.3.4", "README.md", "x@y.zz", "(/frob)", "/a/b/c",
	"www.example.org:80/x", "пример.рф", ".com", "a..bb", "-.aa", "//x", "@@a", "/x@bot", "→/stop", "see:/queue,evil.io", "\xff\xfe", "&lt;", "</blockquote>", strings.Repeat("x", 2000),
	strings.Repeat("/", 2000), strings.Repeat("&", 1900), strings.Repeat("word ", 800), strings.Repeat("𝕏", 1800),
}

func TestRenderHostile(t *testing.T) {
	for _, kind := range []bot.LineKind{bot.Plain, bot.Quote, bot.Pre} {
		for _, s := range hostile {
			checkRender(t, bot.Message{Key: "k", Lines: []bot.Line{{Kind: kind, Text: s}}})
			checkRender(t, bot.Message{Key: "k", Lines: []bot.Line{{}, {Kind: kind, Text: s}}}) // a message whose first line is the long one
			checkRender(t, bot.Message{Key: "k", Lines: []bot.Line{{Text: s}, {Kind: kind, Text: "a " + s + " b" + s}, {Kind: kind, Text: s}}})
		}
	}
}

func TestRenderProperties(t *testing.T) {
	text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(), rapid.StringMatching(`([a-z/@.:<>&# ]{1,8}){0,60}`))
	lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) bot.Line {
		return bot.Line{Kind: rapid.SampledFrom([]bot.LineKind{bot.Plain, bot.Quote, bot.Pre}).Draw(t, "kind"), Text: text.Draw(t, "text")}
	}), 0, 40)
	rapid.Check(t, func(t *rapid.T) {
		checkRender(t, bot.Message{Key: rapid.String().Draw(t, "key"), Lines: lines.Draw(t, "lines")})
	})
}

func FuzzRender(f *testing.F) {
	for _, s := range hostile {
		if len(s) < 100 {
			f.Add("diff", s, s, uint8(1))
		}
	}
	f.Fuzz(func(t *testing.T, key, a, b string, kinds uint8) {
		kind := []bot.LineKind{bot.Plain, bot.Quote, bot.Pre}
		checkRender(t, bot.Message{Key: key, Lines: []bot.Line{
			{Kind: kind[kinds%3], Text: a}, {Kind: kind[kinds/3%3], Text: b}, {Kind: kind[kinds/9%3], Text: a + b},
		}})
	})
}

// TestRenderLong checks that a long text becomes a file below whose beginning the
// buttons are, and that folded quotes do not count as lines.
func TestRenderLong(t *testing.T) {
	m := bot.Message{Key: "tasks", Lines: []bot.Line{{Text: "shop: 400 tasks"}}}
	for n := range 400 {
		m.Lines = append(m.Lines, bot.Line{Text: fmt.Sprintf("○ #%d Extract the rules of prices", n)})
	}
	m.Lines = append(m.Lines, bot.Line{Text: "Nothing runs."})
	p := telegram.Render(m)
	if p.File == nil || p.File.Name != "shop-tasks.txt" || !strings.HasSuffix(p.Text, "\nAll of it is in the file.\nNothing runs.") || utf16Units(p.Text) < 800 {
		t.Errorf("%+v", p)
	}
	checkRender(t, m)
	m.Lines = []bot.Line{{Text: "? shop #4 asks"}, {Kind: bot.Pre, Text: "a.go"}}
	for n := range 60 {
		m.Lines = append(m.Lines, bot.Line{Kind: bot.Quote, Text: fmt.Sprintf("    line %d of it", n)})
	}
	if p := telegram.Render(m); p.File != nil || !strings.Contains(p.HTML, "<blockquote expandable>    line 0 of it\n    line 1 of it\n") {
		t.Errorf("%+v", p)
	}
	checkRender(t, m)
}
