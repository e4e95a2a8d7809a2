package bot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// reporter is a service that knows the last action of one session.
type reporter struct {
	*service
	session, action string
	asked           int
}

func (r *reporter) LastAction(session string) string {
	r.asked++
	if session != r.session {
		return ""
	}
	return r.action
}

// TestStatusAction: the live status and a typed /status have the last action of the
// session at work, below the task's title. What is unknown is no line.
func TestStatusAction(t *testing.T) {
	d := atWork()
	at := slices.IndexFunc(d.Night.State.Project.Sessions, func(x loop.Session) bool { return x.Planned.Kind == ledger.KindAgent })
	if at < 0 {
		t.Fatal("no session is at work")
	}
	session := d.Night.State.Project.Sessions[at].ID
	texts := func(action string) map[string]bot.Message {
		r := &reporter{service: d, session: session, action: action}
		live, ok := bot.Live(r, bot.LiveKey("shop"), d.Now)
		if !ok {
			t.Fatal("no live status")
		}
		typed, err := bot.Handle(t.Context(), r, bot.Request{Key: "k", Actor: "telegram:1", Name: "Mira", Text: "/status", Time: d.Now})
		if err != nil {
			t.Fatal(err)
		}
		return map[string]bot.Message{"live": live, "typed": typed, "terminal": bot.StatusNow(r, d.Night.State, d.Now)}
	}
	without := texts("")
	for action, want := range map[string]string{
		"npm test":                  "› npm test",
		"edits cart/total.go":       "› edits cart/total.go",
		" a\x1b[2J\n\u202e/stop\n":  "› a /stop",
		strings.Repeat("long ", 50): "› " + strings.TrimSpace(strings.Repeat("long ", 14)) + "…",
	} {
		for name, m := range texts(action) {
			n := slices.IndexFunc(m.Lines, func(l bot.Line) bool { return bot.AsWritten(l.Text) == want })
			if n < 0 {
				t.Errorf("%s, %q: %s", name, action, m.Text(80))
				continue
			}
			if !strings.Contains(m.Lines[n+1].Text, "so far, last event") {
				t.Errorf("%s, %q: before %q", name, action, m.Lines[n+1].Text)
			}
			if rest := slices.Delete(slices.Clone(m.Lines), n, n+1); !slices.Equal(rest, without[name].Lines) {
				t.Errorf("%s, %q changes other lines:\n%s", name, action, m.Text(80))
			}
		}
	}
	for name, m := range without {
		if strings.Contains(m.Text(80), "›") {
			t.Errorf("%s, unknown: %s", name, m.Text(80))
		}
	}
	// A check is at work, and no session: nobody is asked.
	d.Until(func() bool { return bot.Doing(d.Night.State) == "#4 verify" })
	r := &reporter{service: d, session: session, action: "npm test"}
	if m := bot.StatusNow(r, d.Night.State, d.Now); r.asked > 0 || strings.Contains(m.Text(80), "›") {
		t.Errorf("while a check runs, asked %d times: %s", r.asked, m.Text(80))
	}
}
