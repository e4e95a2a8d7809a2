package request

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

var begun = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// open returns the state with an open request of r1.
func open() State {
	var s State
	for _, b := range []ledger.Body{
		ledger.PushBegun{Run: "r1", Branch: "b", Commit: "c1"}, ledger.BranchPushed{Run: "r1", Branch: "b", Commit: "c1", Forge: ledger.ForgeGitHub},
		ledger.RequestBegun{Run: "r1", N: 1, Print: "t"}, ledger.RequestOpened{Run: "r1", Request: ledger.Request{Number: 48, State: ledger.RequestOpen}, Print: "t"},
	} {
		s = Apply(s, ledger.Entry{Time: begun, Body: b})
	}
	return s
}

func from(author string) ledger.RequestComment {
	return ledger.RequestComment{ID: "comment:1", Kind: ledger.CommentPlain, Author: author, Writer: true, Body: "Use cents", Time: begun.Add(time.Minute)}
}

// TestIsNew takes words of people who may write, and nothing else.
func TestIsNew(t *testing.T) {
	b := open().Branch("r1")
	for name, c := range map[string]struct {
		change func(*ledger.RequestComment)
		want   bool
	}{
		"a comment":                     {func(*ledger.RequestComment) {}, true},
		"a line":                        {func(c *ledger.RequestComment) { c.Kind = ledger.CommentLine }, true},
		"a request for changes":         {func(c *ledger.RequestComment) { c.Kind = ledger.CommentChanges }, true},
		"one without words":             {func(c *ledger.RequestComment) { c.Kind, c.Body = ledger.CommentChanges, " \u200b\n" }, false},
		"an approval":                   {func(c *ledger.RequestComment) { c.Kind = ledger.CommentApprove }, false},
		"an unknown kind":               {func(c *ledger.RequestComment) { c.Kind = "emoji" }, false},
		"a stranger":                    {func(c *ledger.RequestComment) { c.Writer = false }, false},
		"nightporter itself":            {func(c *ledger.RequestComment) { c.Ours = true }, false},
		"an app":                        {func(c *ledger.RequestComment) { c.Author = "renovate[BOT]" }, false},
		"an account that is deleted":    {func(c *ledger.RequestComment) { c.Author = "" }, false},
		"one from before the request":   {func(c *ledger.RequestComment) { c.Time = begun.Add(-time.Hour) }, false},
		"one without a time":            {func(c *ledger.RequestComment) { c.Time = time.Time{} }, false},
		"one without an id":             {func(c *ledger.RequestComment) { c.ID = "" }, false},
		"a forge whose clock is behind": {func(c *ledger.RequestComment) { c.Time = begun.Add(-time.Minute) }, true},
	} {
		of := from("ann")
		c.change(&of)
		if got := b.IsNew(of); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (Branch{Run: "r1"}).IsNew(from("ann")) {
		t.Error("a branch without a request has comments")
	}
}

// TestTakenOnce remembers comments one by one, and very many of them by their time.
func TestTakenOnce(t *testing.T) {
	s := open()
	at := func(n int) ledger.RequestComment {
		c := from("ann")
		c.ID, c.Time = fmt.Sprint("comment:", n), begun.Add(time.Duration(n)*time.Second)
		return c
	}
	const many = keptTaken + 50
	for n := range many {
		i := s.Branch("r1").ItemOf(at(n))
		i.ID = fmt.Sprint("g", n)
		s = Apply(s, ledger.Entry{Time: begun, Body: ledger.GuidanceQueued{Item: i}})
	}
	b := s.Branch("r1")
	if len(b.Taken) != keptTaken || len(b.Comments) != keptComments {
		t.Errorf("%d and %d are kept", len(b.Taken), len(b.Comments))
	}
	for n := range many {
		c := at(n)
		if c.Body = "edited"; b.IsNew(c) {
			t.Fatalf("comment %d is taken again", n)
		}
	}
	if !b.IsNew(at(many)) {
		t.Error("the next comment is not new")
	}
}

// TestWaitingComments: what waits for a run on the branch is what no session has.
func TestWaitingComments(t *testing.T) {
	s := open()
	apply := func(body ledger.Body) { s = Apply(s, ledger.Entry{Time: begun, Task: "Task 1", Body: body}) }
	want := func(when string, items ...string) {
		t.Helper()
		var got []string
		for _, c := range s.Branch("r1").WaitingComments() {
			got = append(got, c.Item)
		}
		if fmt.Sprint(got) != fmt.Sprint(items) {
			t.Errorf("%s: %v waits, not %v", when, got, items)
		}
	}
	for _, id := range []string{"g1", "g2", "g3"} {
		c := from("ann")
		c.ID = "comment:" + id
		i := s.Branch("r1").ItemOf(c)
		i.ID = id
		apply(ledger.GuidanceQueued{Item: i})
	}
	want("at first", "g1", "g2", "g3")
	apply(ledger.GuidanceBound{Binding: guidance.Binding{Shown: []string{"g3"}, Bound: []string{"g1", "g9"}}})
	want("a session has g1", "g2", "g3")
	apply(ledger.GuidanceDropped{ID: "g2"})
	apply(ledger.GuidanceExpired{ID: "g3"})
	want("g2 and g3 are over")
	apply(ledger.GuidanceKept{ID: "g3"})
	want("g3 is kept", "g3")
	apply(ledger.GuidanceReported{ID: "g1", State: guidance.Addressed})
	apply(ledger.TaskCommitted{Commit: "c5"})
	if c := s.Branch("r1").Comments[0]; c.Task != "Task 1" || c.Commit != "c5" {
		t.Errorf("after the commit: %+v", c)
	}
	apply(ledger.ReplyBegun{Run: "r1", Number: 48, Comment: "comment:g1", ID: "g1", Key: "k", Final: true})
	if b := s.Branch("r1"); len(b.Comments) != 2 || b.Replying != "k" {
		t.Errorf("after the last reply: %+v", b)
	}
	apply(ledger.EffectFailed{Kind: "reply", Key: "k"})
	if b := s.Branch("r1"); b.Replying != "" {
		t.Errorf("after a reply that broke: %+v", b)
	}
}

// TestWasTold: who was told that comments wait knows it of all that they wrote, and
// after one of them is settled.
func TestWasTold(t *testing.T) {
	s := open()
	apply := func(body ledger.Body) { s = Apply(s, ledger.Entry{Time: begun, Body: body}) }
	take := func(id, author string) {
		c := from(author)
		c.ID = id
		i := s.Branch("r1").ItemOf(c)
		i.ID = "g " + id
		apply(ledger.GuidanceQueued{Item: i})
	}
	take("1", "ann")
	take("2", "ann")
	take("3", "bob")
	apply(ledger.ReplyBegun{Run: "r1", Number: 48, Comment: "1", ID: "g 1", Key: "k"})
	if b := s.Branch("r1"); !b.WasTold("ann") || b.WasTold("bob") {
		t.Errorf("after ann was told: %+v", b.Comments)
	}
	apply(ledger.ReplyBegun{Run: "r1", Number: 48, Comment: "1", ID: "g 1", Key: "k", Final: true})
	if b := s.Branch("r1"); !b.WasTold("ann") {
		t.Errorf("after the first is settled: %+v", b.Comments)
	}
}

// TestAnswers compares what authors are told.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		answer Answer
		want   string
	}{
		{Answer{Author: "ann", InLine: true, Verdict: VerdictDone, Commit: "1a2b3c4d5e6f7a", Why: "amounts are cents."}, "Done in 1a2b3c4d5e: amounts are cents."},
		{Answer{Author: "ann", InLine: true, Verdict: VerdictDone}, "Done."},
		{Answer{Author: "ann", Words: "Use cents\nor not", Verdict: VerdictNot, Why: "@ben says #5"}, "> Use cents\n\n@ann Not done: `@ben says #5`."},
		{Answer{Author: "evil @all", Words: "@all", Verdict: VerdictNot}, "> `@all`\n\nNot done."},
		{Answer{InLine: true, Verdict: VerdictWaits, Why: "the run is paused"}, "Not begun yet: the run is paused."},
		{Answer{InLine: true, Verdict: VerdictUnspoken, Commit: "c3"}, "The session that had it did not say what it did; its change is in c3."},
		{Answer{InLine: true, Verdict: VerdictUnspoken}, "The session that had it did not say what it did."},
		{Answer{InLine: true, Verdict: VerdictDoubted, Commit: "c3", Why: "still floats"}, "Said to be done in c3, and a reviewer disagrees: still floats."},
		{Answer{InLine: true, Verdict: VerdictDone, Cut: 5300}, "Done. The comment was too long: its last 5300 characters were left out."},
	} {
		if got := c.answer.Body(); got != c.want {
			t.Errorf("%+v:\n%q\n%q", c.answer, got, c.want)
		}
	}
}

// FuzzComment: whatever a comment holds, its guidance is bounded text that can be seen,
// and its answer mentions nobody but its author.
func FuzzComment(f *testing.F) {
	for _, s := range []string{"Use cents", "/stop", "@ann @ben #5", "a\r\nb\x00\x1b[31m", "\u202egnitset\u200b", strings.Repeat("é", 5000), "```\n## How to end", "\xff\xfe", "> <!-- nightporter:x -->"} {
		f.Add(s, "ann", "a.go", 12, s)
	}
	f.Fuzz(func(t *testing.T, body, author, path string, line int, why string) {
		b := open().Branch("r1")
		c := from(author)
		c.Body, c.Path, c.Line = body, path, line
		b.NewsOf(ledger.RequestView{Comments: []ledger.RequestComment{c, {}}, More: line})
		if !b.IsNew(c) {
			return
		}
		i := b.ItemOf(c)
		if i.Text == "" || !utf8.ValidString(i.Text) || utf8.RuneCountInString(i.Text) > guidance.MaxText || i.Task != "" || i.Hat != "" || i.Sticky || i.Origin.Line < 0 {
			t.Errorf("%q becomes %+v", body, i)
		}
		if bad := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) }; strings.ContainsFunc(i.Text, bad) || strings.ContainsFunc(i.By, bad) || strings.ContainsAny(i.Said()[:strings.Index(i.Said(), " writes: ")], "\n") {
			t.Errorf("%q becomes %q", body, i.Said())
		}
		for _, v := range []Verdict{VerdictWaits, VerdictDone, VerdictDoubted, VerdictNot, VerdictUnspoken} {
			text := Answer{Author: i.By, Words: i.Text, Why: why, Verdict: v}.Body()
			for n, line := range strings.Split(text, "\n") {
				out := strings.TrimPrefix(outsideOfCode(line), "> ")
				if n == 2 {
					out = strings.TrimPrefix(out, "@"+i.By+" ")
				}
				if strings.ContainsAny(out, "@#<>[]!*_~") {
					t.Errorf("%q stands outside of code in %q", out, text)
				}
			}
		}
	})
}
