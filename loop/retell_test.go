package loop

import (
	"fmt"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestOutdated: what people were told is wrong once it and the later outlook are out of each
// other's bounds.
func TestOutdated(t *testing.T) {
	told := ledger.Outlook{Done: 9, Low: 7, High: 11, USDLow: 10, USDHigh: 20}
	with := func(done, low, high int, usdLow, usdHigh float64) ledger.Outlook {
		return ledger.Outlook{Done: done, Low: low, High: high, USDLow: usdLow, USDHigh: usdHigh}
	}
	for _, c := range []struct {
		name string
		now  ledger.Outlook
		want bool
	}{
		{"the same", told, false},
		{"fewer, and it may still come true", with(6, 4, 9, 10, 20), false},
		{"fewer, within what was said", with(7, 6, 8, 10, 20), false},
		{"fewer", with(6, 5, 8, 10, 20), true},
		{"more, within what was said", with(11, 10, 12, 10, 20), false},
		{"more", with(12, 11, 12, 10, 20), true},
		{"dearer, within what was said", with(9, 8, 10, 18, 21), false},
		{"dearer", with(9, 8, 10, 19, 23), true},
		{"cheaper", with(9, 8, 10, 5, 9), true},
		{"cheaper, and it may still come true", with(9, 8, 10, 3, 16), false},
		{"a cost that is unknown now", with(9, 8, 10, -1, -1), false},
	} {
		if got := outdatedBy(told, c.now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	told.USDLow, told.USDHigh = 10, 10
	if outdatedBy(told, with(9, 8, 10, 11.9, 11.9)) || !outdatedBy(told, with(9, 8, 10, 12, 12)) {
		t.Error("a cost that differs by less than a fifth is told, or one that differs by that is not")
	}
	told.USDLow, told.USDHigh = -1, -1
	if outdatedBy(told, with(9, 8, 10, 19, 23)) {
		t.Error("a cost that was unknown is wrong")
	}
}

// TestRetell: once a task ended, people are told another outlook if the one before is
// wrong, at most once in two hours, and the one of the run's start stays with it.
func TestRetell(t *testing.T) {
	hard := history.Task{Outcome: history.OutcomeFailed, Sessions: 1, Ms: 3_600_000, USD: 1}
	d := playing(t, "tasks 1 2 3 4 5 6 7 8 9", "set pattern=single verify= max_tasks=0 on_blocked=continue")
	d.trusts = true // the histories come from no entry
	know := func(list ...history.Task) {
		d.s.Project.History = history.History{}
		for _, task := range list {
			d.s.Project.History = d.s.Project.History.WithTask(history.Kind{Pattern: "single", Size: history.Small}, task)
		}
	}
	easy := hard
	easy.Outcome = history.OutcomeDone
	know(repeat(easy, 31)...)
	d.play("go quiet")
	retold := func(after time.Duration) *RetoldOutlook {
		d.now = d.now.Add(after)
		d.emit("build.complete", fmt.Sprintf(built, ""))
		d.exit(nil)
		return d.s.Project.Run.Retold
	}
	said := d.s.Project.Run.Said
	if !WorthTelling(said) || said.Done != 9 {
		t.Fatalf("at the start: %+v", said)
	}
	if r := retold(time.Hour); r != nil {
		t.Errorf("all goes as it was said: %+v", r)
	}
	know(append(repeat(hard, 31), easy)...)
	r := retold(time.Hour)
	if r == nil || !r.At.Equal(d.now) || r.Outlook.Done != 2 || r.Outlook.Total != 9 {
		t.Fatalf("what is left mostly fails: %+v", r)
	}
	first := *r
	know(repeat(easy, 31)...)
	if r := retold(retellEvery - time.Second); r.At != first.At {
		t.Errorf("again within two hours: %+v", r)
	}
	if r := retold(time.Second); r.At == first.At || r.Outlook.Done != 9 {
		t.Errorf("after two hours: %+v", r)
	}
	if d.s.Project.Run.Said != said {
		t.Error("what was said at the start is another now")
	}
	last := d.s.Project.Run.Retold
	know(append(repeat(hard, 31), easy)...)
	d.input(Pause{})
	if r := retold(3 * time.Hour); r != last {
		t.Errorf("in a run that pauses: %+v", r)
	}
}

func repeat(task history.Task, n int) (list []history.Task) {
	for range n {
		list = append(list, task)
	}
	return list
}

// TestRetellNights: of 60 nights people are told another outlook in a third at most, and it is
// mostly nearer to what comes.
func TestRetellNights(t *testing.T) {
	nights, messages, nearer := 0, 0, 0
	for seed := range uint64(60) {
		c := newCrew(t, seed)
		for night := range 2 {
			c.begin(night+1, 16)
			c.night()
			c.now = c.now.Add(16 * time.Hour)
		}
		c.begin(3, 16)
		var retold []*RetoldOutlook
		c.watch = func() {
			if r := c.s.Project.Run.Retold; r != nil && (len(retold) == 0 || retold[len(retold)-1] != r) {
				retold = append(retold, r)
			}
		}
		came := float64(c.night())
		if len(retold) == 0 {
			continue
		}
		nights++
		messages += len(retold)
		said, now := c.s.Project.Run.Said, retold[0].Outlook
		off := func(o ledger.Outlook) float64 {
			return max(abs(float64(o.Done)-came)/came, abs(o.MiddleUSD()-c.spent)/c.spent)
		}
		if off(now) < off(*said) {
			nearer++
		}
	}
	t.Logf("told again in %d of 60 nights, %d times; nearer to what came in %d", nights, messages, nearer)
	if nights < 5 || nights > 20 || messages > 2*nights || nearer*3 < nights*2 {
		t.Errorf("told again in %d of 60 nights, %d times; nearer to what came in %d", nights, messages, nearer)
	}
}

func abs(x float64) float64 { return max(x, -x) }
