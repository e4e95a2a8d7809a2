package loop

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/outlook"
)

// TestWindows: the state knows what sessions of all projects used of their agent's windows,
// and takes nothing for a session's that may be something else's.
func TestWindows(t *testing.T) {
	at := time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)
	resets := at.Add(3 * time.Hour)
	five := func(used float64, resets time.Time) ledger.UsageWindow {
		return ledger.UsageWindow{Name: "five_hour", Used: used, Resets: resets}
	}
	week := ledger.UsageWindow{Name: "seven_day", Used: 0.5, Resets: at.Add(50 * time.Hour)}
	type end struct {
		after time.Duration
		told  []ledger.UsageWindow
	}
	told := func(after time.Duration, list ...ledger.UsageWindow) end { return end{after, list} }
	m := time.Minute
	for _, c := range []struct {
		name string
		ends []end
		want []float64 // parts of the first window
	}{
		{"one report", []end{told(0, five(0.2, resets))}, nil},
		{"each session's", []end{told(0, five(0.2, resets)), told(9*m, five(0.25, resets)), told(20*m, five(0.25, resets)), told(31*m, five(0.4, resets))}, []float64{0.05, 0, 0.15}},
		{"an end that moves a little", []end{told(0, five(0.2, resets)), told(9*m, five(0.25, resets.Add(m)))}, []float64{0.05}},
		{"two that told nothing in between", []end{told(0, five(0.2, resets)), told(9 * m), told(20*m, week), told(31*m, five(0.5, resets))}, []float64{0.1}},
		{"a new window", []end{told(0, five(0.2, resets)), told(9*m, five(0.25, resets.Add(5*time.Hour)))}, nil},
		{"less than before", []end{told(0, five(0.2, resets)), told(9*m, five(0.1, resets))}, nil},
		{"hours later", []end{told(0, five(0.2, resets)), told(121*m, five(0.9, resets))}, nil},
		{"without an end", []end{told(0, five(0.2, time.Time{})), told(9*m, five(0.25, time.Time{}))}, []float64{0.05}},
		{"the clock was set back", []end{told(0, five(0.2, resets)), told(-time.Hour, five(0.25, resets))}, []float64{0.05}},
	} {
		var s Shared
		for n, e := range c.ends {
			id := fmt.Sprint("r1-", n)
			s = applyShared(s, ledger.Entry{Stream: ledger.SharedStream, Time: at, Body: ledger.LeaseGranted{Session: id, Project: fmt.Sprint("p", n%2), Agent: "claude"}})
			s = applyShared(s, ledger.Entry{Stream: ledger.SharedStream, Time: at.Add(e.after), Body: ledger.LeaseReleased{Session: id, Windows: e.told}})
			s = applyShared(s, ledger.Entry{Stream: ledger.SharedStream, Time: at.Add(e.after), Body: ledger.LeaseReleased{Session: id, Windows: e.told}}) // freed before
		}
		var got []float64
		for _, w := range s.Windows["claude"] {
			if w.Name == "five_hour" {
				got = w.Parts
			}
		}
		if d := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	var s Shared
	for n := range 100 {
		w := ledger.UsageWindow{Name: fmt.Sprint("w", n), Used: 0.1, Resets: resets}
		for m := range 40 {
			w.Used += 0.001
			s = s.applyWindows("claude", []ledger.UsageWindow{w}, at.Add(time.Duration(m)*time.Minute))
		}
	}
	if all := s.Windows["claude"]; len(all) != windowsKept || len(all[0].Parts) != partsKept {
		t.Errorf("%d windows, of the first %d parts", len(all), len(all[0].Parts))
	}
	if got := (Shared{}).applyWindows("", []ledger.UsageWindow{week}, at); got.Windows != nil {
		t.Errorf("of a session without an agent: %+v", got.Windows)
	}
}

// TestOutlookWindows: an outlook has the windows of which enough is known, without what is
// kept in reserve.
func TestOutlookWindows(t *testing.T) {
	begin := time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)
	parts := []float64{0.1, 0.1, 0.1}
	used := func(change func(*UsedWindow)) UsedWindow {
		w := UsedWindow{UsageWindow: ledger.UsageWindow{Name: "five_hour", Used: 0.3, Resets: begin.Add(2 * time.Hour)}, At: begin, Parts: parts}
		change(&w)
		return w
	}
	is := outlook.Window{Left: 0.7, Whole: 1, Resets: begin.Add(2 * time.Hour), Length: 5 * time.Hour, Parts: parts}
	fresh := outlook.Window{Left: 1, Whole: 1, Resets: begin.Add(5 * time.Hour), Length: 5 * time.Hour, Parts: parts}
	reserved := outlook.Window{Left: 0.5, Whole: 0.8, Resets: begin.Add(2 * time.Hour), Length: 5 * time.Hour, Parts: parts}
	held := outlook.Window{Left: 0, Whole: 1, Resets: begin.Add(2 * time.Hour), Length: 5 * time.Hour, Parts: parts}
	limit := map[string]AgentHold{"claude": {Until: begin.Add(2 * time.Hour), Why: ledger.FailureLimit}}
	for _, c := range []struct {
		name    string
		w       UsedWindow
		reserve float64
		held    map[string]AgentHold
		want    *outlook.Window
	}{
		{"known", used(func(*UsedWindow) {}), 0, nil, &is},
		{"with a reserve", used(func(*UsedWindow) {}), 0.2, nil, &reserved},
		{"all in reserve", used(func(*UsedWindow) {}), 1, nil, nil},
		{"too few sessions", used(func(w *UsedWindow) { w.Parts = parts[:2] }), 0, nil, nil},
		{"no end", used(func(w *UsedWindow) { w.Resets = time.Time{} }), 0, nil, nil},
		{"its end came", used(func(w *UsedWindow) { w.Resets = begin.Add(-time.Hour) }), 0, nil, &fresh},
		{"its end came, and nobody knows its length", used(func(w *UsedWindow) { w.Name, w.Resets = "monthly", begin.Add(-time.Hour) }), 0, nil, nil},
		{"of another month", used(func(w *UsedWindow) { w.At, w.Resets = begin.AddDate(0, 0, -15), begin.AddDate(0, 0, -15) }), 0, nil, nil},
		{"used up, and held for it", used(func(w *UsedWindow) { w.Used = 1 }), 0, limit, &held},
		{"used up, and goes on", used(func(w *UsedWindow) { w.Used = 1.2 }), 0, nil, nil},
	} {
		s := Shared{Windows: map[string][]UsedWindow{"claude": {c.w}}, Agents: c.held}
		var want []outlook.Window
		if c.want != nil {
			want = append(want, *c.want)
		}
		if d := cmp.Diff(want, s.outlookWindows("claude", c.reserve, begin), cmpopts.EquateApprox(0, 1e-9)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// TestOutlookHats: hats with the same agents are one group, with the agents that are not
// out of use.
func TestOutlookHats(t *testing.T) {
	d := playing(t, "tasks 1", "set pattern=plan-build-review verify=", "set fallbacks=claude:codex,pi", "set hat_fallbacks=reviewer:gemini", "go quiet")
	if q := outlookQuestion(d.s, d.now, nil); q.Hats != nil || q.Agents != nil {
		t.Errorf("no window is known: %+v of %+v", q.Hats, q.Agents)
	}
	d.s.Shared.Windows = map[string][]UsedWindow{"pi": {{UsageWindow: ledger.UsageWindow{Name: "five_hour", Resets: d.now.Add(time.Hour)}, At: d.now, Parts: []float64{1, 1, 1}}}}
	until := d.now.Add(time.Hour)
	d.s.Shared.Agents = map[string]AgentHold{"codex": {Unusable: true, Until: until}, "gemini": {Until: until}}
	q := outlookQuestion(d.s, d.now, nil)
	var names []string
	for _, a := range q.Agents {
		names = append(names, a.Name)
	}
	if d := cmp.Diff([]string{"claude", "pi", "gemini"}, names); d != "" {
		t.Errorf("agents (-want +got):\n%s", d)
	}
	want := []outlook.Hats{{Share: 0.75, Agents: []int{0, 1}}, {Share: 0.25, Agents: []int{0, 2}}}
	if d := cmp.Diff(want, q.Hats, cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Errorf("hats (-want +got):\n%s", d)
	}
	if !q.Agents[2].From.Equal(until) || len(q.Agents[1].Windows) != 1 {
		t.Errorf("%+v", q.Agents)
	}
}

// account is an agent's account whose window sessions use up.
type account struct {
	used, minute float64 // part of the window; that a minute uses
	resets       time.Time
	met          time.Time // when it was used up first; zero = never
}

// use lets a session work for some minutes. It returns what the session tells of the window,
// and after how many minutes the window was used up; less than 0 = it was not.
func (a *account) use(now time.Time, minutes float64) (told ledger.UsageWindow, cut float64) {
	if !now.Before(a.resets) {
		a.used, a.resets = 0, now.Add(5*time.Hour)
	}
	cut = -1
	if left := (1 - a.used) / a.minute; minutes > left {
		minutes, cut = left, left
		if a.met.IsZero() {
			a.met = now.Add(time.Duration(cut * float64(time.Minute)))
		}
	}
	a.used += minutes * a.minute
	return ledger.UsageWindow{Name: "five_hour", Used: math.Round(100*a.used) / 100, Resets: a.resets}, cut
}

// TestOutlookLimit: of 60 projects whose agent has an account with a window, the outlook
// before the third night names the end of the window in most nights that meet it and in few
// that do not, mostly within half an hour; and its bounds of the tasks hold as ever, with
// the waits for the reset.
func TestOutlookLimit(t *testing.T) {
	var met, said, right, held int
	var off []time.Duration
	for seed := range uint64(60) {
		c := newCrew(t, seed)
		c.account = &account{minute: 1 / (100 + 400*c.rnd.Float64())} // some are not used up in five hours
		if seed%2 == 0 {
			c.account.minute = 1 / (60 + 60*c.rnd.Float64()) // small accounts wait for most of the night
		}
		for night := range 2 {
			c.begin(night+1, 16)
			c.night()
			c.now = c.now.Add(16 * time.Hour)
		}
		c.begin(3, 16)
		c.account.met = time.Time{}
		o := OutlookOf(c.s, c.now)
		if came := c.night(); o.Holds(came) {
			held++
		}
		if o.Limit.Agent != "" {
			said++
		}
		if came := c.account.met; !came.IsZero() {
			met++
			if o.Limit.Agent != "" {
				right++
				off = append(off, o.Limit.At.Sub(came))
			}
		}
	}
	near := 0
	for _, d := range off {
		if d.Abs() <= 30*time.Minute {
			near++
		}
	}
	t.Logf("%d nights met a limit; it was said in %d, rightly in %d, within half an hour in %d, of the middle off by %s; tasks held in %d", met, said, right, near, history.Quantile(off, 0.5).Round(time.Minute), held)
	if met < 35 || met > 55 || right*10 < met*9 || (said-right)*10 > said || near*3 < right*2 || held < 45 || held > 54 {
		t.Errorf("%d nights met a limit; it was said in %d, rightly in %d, within half an hour in %d; tasks held in %d", met, said, right, near, held)
	}
}
