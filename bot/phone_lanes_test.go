package bot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// inLanes is a night with five lanes, at a time after its start. Task N takes three
// minutes a session more than the one before.
func inLanes(after time.Duration) *service {
	d := newService("shop")
	set := d.Settings()
	set.Parallel = 5
	d.Cost = 0.25
	var tasks []ledger.Task
	for n, title := range []string{
		"Move the orders to the new API of the warehouse", "Refund flow for cards and vouchers", "Order emails in plain text",
		"Retry failed payments overnight", "Admin order list with filters", "Price list of the shop",
	} {
		t := scenario.Task(n+1, title)
		t.Scope = fmt.Sprintf("`src/%d`", n+1)
		tasks = append(tasks, t)
		for k, hat := range []string{"planner", "builder", "reviewer"} {
			d.Acts[t.ID+" "+hat] = []scenario.Act{scenario.Success(hat, time.Duration(7+n*3+k*5)*time.Minute, 0.25)}
		}
	}
	d.Start(set, d.Base("r1"), tasks...)
	d.until(after)
	return d
}

// until plays on until so long after the start.
func (d *service) until(after time.Duration) {
	d.Until(func() bool { return d.Now.Sub(evening) >= after })
}

// says fails unless the message to a line is the given text, with each line narrow
// enough for a phone.
func (d *service) says(t *testing.T, line, want string) {
	t.Helper()
	m := d.say(t, line)
	messagelint.Check(t, line, m)
	if diff := cmp.Diff(strings.TrimSpace(want), m.Text(0)); diff != "" {
		t.Errorf("%s (-want +got)\n%s", line, diff)
	}
}

// TestPhoneInLanes checks what a person reads and says while five tasks are at work: a
// line a lane, and for whom words are.
func TestPhoneInLanes(t *testing.T) {
	d := inLanes(25 * time.Minute)
	d.says(t, "/status", `
● shop 0/6 · #1–#5 · 23:35
#1 reviewer 5 min · Move the orders to…
#2 verify · Refund flow for cards and…
#3 builder 12 min · Order emails in…
#4 builder 9 min · Retry failed…
#5 builder 6 min · Admin order list…
last event 23:35
left 6 · blocked 0 · needs you 0
r1 25 min · $1.75
/log · /pause · /stop`)
	d.says(t, "/now Keep the names", `
? /now: which of #1 #3 #4 #5?
Several are at work. Say for example: /now #1 TEXT
/now #1 Keep the names · /now #3 Keep the names · /now #4 Keep the names · /now #5 Keep the names`)
	for line, want := range map[string]string{
		"/guidance Wrap it":           "next session that writes",
		"/guidance #5 No paging":      "next session of #5 that writes",
		"/guidance @reviewer Shorter": "next reviewer session",
		"/guidance !sticky No cents":  "every writing session, until you drop it",
	} {
		if _, to, _ := strings.Cut(d.say(t, line).Text(0), "queued → "); to != want {
			t.Errorf("%s goes to %q, want %q", line, to, want)
		}
	}
	d.says(t, "/log", `
shop r1: 7 sessions, 25 min
1 h 32 of sessions, several at a time
23:10 verify   ✓ go test 38 s
23:17 #1  planner  plan.complete
23:20 #2  planner  plan.complete
23:23 #3  planner  plan.complete
23:26 #4  planner  plan.complete
23:29 #5  planner  plan.complete
23:29 #1  builder  build.complete
23:30 #1  verify   ✓ go test 38 s
23:35 #2  builder  build.complete
/log tail · /log file`)
	d.says(t, "/pause", "‖ shop pauses after #1 #2 #3 #4 #5")
	d.says(t, "/resume", "● shop goes on")
	d.says(t, "/pause now", "‖ shop pauses\n#1 #2 #3 #4 #5 rerun on /resume")
	d.says(t, "/stop now", "○ stopped\n#1 #2 #3 #4 #5 rerun next time")
}

// TestReceiptsInLanes checks that the receipt of guidance says for whom the words are,
// and what they do not interrupt.
func TestReceiptsInLanes(t *testing.T) {
	d := inLanes(25 * time.Minute)
	for task, want := range map[string]string{
		"":       "To the next session that writes, whichever task has it first. #1–#5 are not interrupted.",
		"task 5": "To the next session of #5 that writes. #5 builder is not interrupted.",
	} {
		i := guidance.Item{ID: "g7", Text: "Wrap it", State: guidance.Queued, Task: task}
		m := bot.Queued(d.Night.State, i, loop.Forecast(d.Night.State, i), d.Now, time.Time{})
		if got := m.Lines[2].Text; got != want {
			t.Errorf("%q: %s\nwant %s", task, got, want)
		}
		messagelint.Check(t, "receipt", m)
	}
}
