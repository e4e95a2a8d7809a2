package outlook

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/history"
)

var (
	kind  = history.Kind{Pattern: "single", Size: history.Medium}
	begin = time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
)

func ids(n int) (list []Task) {
	for i := range n {
		list = append(list, Task{ID: string(rune('a' + i)), Kind: kind})
	}
	return list
}

func known(list ...history.Task) history.Lookup {
	var h history.History
	for _, t := range list {
		h = h.WithTask(kind, t)
	}
	return history.Lookup{Own: h}
}

func always(n int, t history.Task) (list []history.Task) {
	for range n {
		list = append(list, t)
	}
	return list
}

var hour = history.Task{Outcome: history.OutcomeDone, Sessions: 1, Attempts: 1, Ms: 3_600_000, USD: 2}

func TestOf(t *testing.T) {
	failed, free := hour, hour
	failed.Outcome, free.USD = history.OutcomeFailed, history.Unknown
	// One of six draws is of a task that none of the five is like: it fails after twice as long.
	sure := Outlook{Total: 3, Done: 3, Low: 1, High: 3, By: begin.Add(3 * time.Hour), USDLow: 6, USDHigh: 10, Unsure: "a", Chance: 0.837, Basis: history.FromProject}
	for _, tc := range []struct {
		name string
		q    Question
		want func(*Outlook)
	}{
		{"sure", Question{Tasks: ids(3), Lookup: known(always(5, hour)...)}, func(*Outlook) {}},
		{"the night ends", Question{Tasks: ids(3), Until: begin.Add(90 * time.Minute), Lookup: known(always(5, hour)...)}, func(o *Outlook) {
			o.Done, o.Low, o.High, o.By, o.USDLow, o.USDHigh, o.Unsure = 1, 0, 1, begin.Add(90*time.Minute), 4, 4, "b"
			o.Chance = 0 // the session in hand completes, and its task does not
		}},
		{"a cost is unknown", Question{Tasks: ids(3), Lookup: known(always(5, free)...)}, func(o *Outlook) { o.USDLow, o.USDHigh = -1, -1 }},
		{"three in a row", Question{Tasks: ids(4), Lookup: known(always(5, failed)...)}, func(o *Outlook) {
			o.Total, o.Done, o.Low, o.High, o.Unsure, o.Chance = 4, 0, 0, 0, "a", 0
		}},
		{"stops at the first", Question{Tasks: ids(3), Stops: true, Lookup: known(always(5, failed)...)}, func(o *Outlook) {
			o.Done, o.Low, o.High, o.By, o.USDLow, o.USDHigh, o.Unsure = 0, 0, 0, begin.Add(time.Hour), 2, 4, "a"
			o.Chance = 0
		}},
		{"pauses after two", Question{Tasks: ids(3), Most: 2, Lookup: known(always(5, hour)...)}, func(o *Outlook) {
			o.Done, o.Low, o.High, o.By, o.USDLow, o.USDHigh, o.Unsure = 2, 1, 2, begin.Add(2*time.Hour), 4, 10, "c"
			o.Chance = 0.195
		}},
		{"an end in the past", Question{Tasks: ids(3), Until: begin.Add(-time.Hour), Lookup: known(always(5, hour)...)}, func(o *Outlook) {
			o.Done, o.Low, o.High, o.By, o.USDLow, o.USDHigh, o.Unsure = 0, 0, 0, begin, 0, 0, "a"
			o.Chance = 0
		}},
		{"no tasks", Question{Lookup: known(always(5, hour)...)}, func(o *Outlook) {
			*o = Outlook{USDLow: -1, USDHigh: -1, Basis: history.FromProject}
		}},
	} {
		want := sure
		tc.want(&want)
		tc.q.Begin = begin
		if got := Of(tc.q); got != want {
			t.Errorf("%s:\n%+v, not\n%+v", tc.name, got, want)
		}
	}
}

// TestDepends: what depends on a task that cannot be done is not done either.
func TestDepends(t *testing.T) {
	q := Question{Tasks: ids(3), Begin: begin, Lookup: known(always(5, hour)...)}
	q.Tasks[0].Never, q.Tasks[1].After = true, []int{0}
	if got := Of(q); got.Done != 1 || got.High != 1 || got.Unsure != "b" {
		t.Errorf("%+v", got)
	}
}

// TestBegun: a task that already took longer than those that were done is one of the others,
// or like none of them.
func TestBegun(t *testing.T) {
	long := hour
	long.Outcome, long.Ms = history.OutcomeFailed, 5*hour.Ms
	q := Question{Tasks: ids(1), Begin: begin, Lookup: known(append(always(9, hour), long)...)}
	if got := Of(q); got.Done != 1 {
		t.Errorf("a new task: %+v", got)
	}
	for spent, left := range map[int64]time.Duration{2: 3 * time.Hour, 6: 4 * time.Hour} {
		q.Tasks[0].Spent.Ms = spent * hour.Ms
		if got := Of(q); got.High != 0 || !got.By.Equal(begin.Add(left)) {
			t.Errorf("after %d hours: %+v", spent, got)
		}
	}
}

// TestPriors: without a ledger there is an outlook, and it says what it is made of.
func TestPriors(t *testing.T) {
	got := Of(Question{Tasks: ids(12), Agent: "claude", Begin: begin, Until: begin.Add(9 * time.Hour)})
	if got.Basis != history.FromPrior || !got.Known() || got.Low >= got.High || got.Done < got.Low || got.Done > got.High {
		t.Errorf("%+v", got)
	}
	if got := Of(Question{Tasks: ids(12), Agent: "codex", Begin: begin}); got.Known() {
		t.Errorf("codex costs $%v to $%v", got.USDLow, got.USDHigh)
	}
}

// drawn is a task of a project in which one of ten fails and the others take from 10 to
// 90 minutes, or so.
func drawn(r *rand.Rand, scale float64) history.Task {
	t := history.Task{Outcome: history.OutcomeDone, Sessions: 3, Attempts: 1}
	minutes := 30 * scale * (0.3 + r.ExpFloat64())
	if r.IntN(10) == 0 {
		t.Outcome = history.OutcomeFailed
		minutes *= 2
	}
	t.Ms, t.USD = int64(minutes*60_000), minutes*0.03
	return t
}

// TestHolds: of 100 drawn projects, each with 32 tasks done before, the interval holds in
// four nights of five or so, for tasks and for dollars.
func TestHolds(t *testing.T) {
	tasks, dollars := 0, 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		scale := 0.5 + 1.5*r.Float64()
		var before []history.Task
		for range 32 {
			before = append(before, drawn(r, scale))
		}
		q := Question{Tasks: ids(25), Begin: begin, Until: begin.Add(8 * time.Hour), Lookup: known(before...)}
		o := Of(q)
		var came pool
		for range 1000 {
			came.finished = append(came.finished, drawn(r, scale))
		}
		var d draw = draw(seed + 99)
		p := q.play(&d, map[history.Kind]pool{kind: came}, 0, make([]int, len(q.Tasks)), make([]int, len(q.Tasks)))
		if o.Holds(p.done) {
			tasks++
		}
		if o.USDLow <= p.usd && p.usd <= o.USDHigh {
			dollars++
		}
	}
	t.Logf("of 100 nights: tasks %d, dollars %d", tasks, dollars)
	if tasks < 70 || tasks > 90 || dollars < 70 || dollars > 90 {
		t.Errorf("of 100 nights: tasks %d, dollars %d", tasks, dollars)
	}
}

func BenchmarkOf(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var before []history.Task
	for range 32 {
		before = append(before, drawn(r, 1))
	}
	q := Question{Tasks: ids(30), Begin: begin, Until: begin.Add(8 * time.Hour), Lookup: known(before...)}
	limited := q
	limited.Hats = []Hats{{Share: 1, Agents: []int{0}}}
	limited.Agents = []Agent{{Name: "claude", Windows: []Window{
		{Left: 0.6, Whole: 1, Resets: begin.Add(time.Hour), Length: 5 * time.Hour, Parts: []float64{0.02, 0.05, 0.03, 0.02, 0.04}},
		{Left: 0.9, Whole: 1, Resets: begin.Add(90 * time.Hour), Length: 168 * time.Hour, Parts: []float64{0.002, 0.005, 0.003, 0.002, 0.004}},
	}}}
	long := q
	long.Tasks, long.Until = ids(2000), time.Time{}
	for name, q := range map[string]Question{"without a limit": q, "with two windows": limited, "of 2,000 tasks": long} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Of(q)
			}
		})
	}
}

// TestLanes: tasks that are worked on at the same time end sooner, but for one that is
// alone, and for what depends on another.
func TestLanes(t *testing.T) {
	with := func(n, lanes int, change func([]Task), until time.Duration) Question {
		q := Question{Tasks: ids(n), Lanes: lanes, Lookup: known(always(5, hour)...)}
		if change != nil {
			change(q.Tasks)
		}
		if until > 0 {
			q.Until = begin.Add(until)
		}
		q.Begin = begin
		return q
	}
	checked := func(n, lanes int, minutes int64, change func(*Question)) Question {
		q, slow := with(n, lanes, nil, 0), hour
		slow.Times, slow.VerifyMs = 2, minutes*60_000
		q.Lookup = known(always(5, slow)...)
		if change != nil {
			change(&q)
		}
		return q
	}
	own := func(q *Question) { q.OwnRooms = true }
	batched := func(q *Question) { q.Batched = true }
	for _, c := range []struct {
		name string
		q    Question
		done int
		by   time.Duration
		usd  float64
	}{
		{"one lane", with(6, 1, nil, 0), 6, 6 * time.Hour, 12},
		{"three lanes", with(6, 3, nil, 0), 6, 2 * time.Hour, 12},
		{"more lanes than tasks", with(2, 5, nil, 0), 2, time.Hour, 4},
		{"one is alone", with(3, 3, func(l []Task) { l[1].Alone = true }, 0), 3, 3 * time.Hour, 6},
		{"a chain", with(3, 3, func(l []Task) { l[1].After, l[2].After = []int{0}, []int{1} }, 0), 3, 3 * time.Hour, 4},
		{"all in the same files", with(3, 3, func(l []Task) { l[1].Meets, l[2].Meets = []int{0}, []int{0, 1} }, 0), 3, 3 * time.Hour, 6},
		{"two in the same files, others go first", with(4, 2, func(l []Task) { l[1].Meets = []int{0} }, 0), 4, 2 * time.Hour, 8},
		{"sections in two lanes", with(1, 2, func(l []Task) { l[0].Wide = 3 }, 0), 1, 30 * time.Minute, 2},
		{"sections in one lane", with(1, 1, func(l []Task) { l[0].Wide = 3 }, 0), 1, time.Hour, 2},
		{"checks in one lane", checked(6, 1, 30, nil), 6, 6 * time.Hour, 12},
		{"checks wait for the room, and all but the first are verified twice", checked(6, 3, 30, nil), 6, 30*time.Minute + 6*30*time.Minute + 5*15*time.Minute, 12},
		{"all is checks", checked(6, 3, 60, nil), 6, 6*time.Hour + 5*30*time.Minute, 12},
		{"checks in rooms of their own", checked(6, 3, 30, own), 6, 2*time.Hour + 45*time.Minute, 12},
		{"batches", checked(6, 3, 30, batched), 6, 30*time.Minute + 6*30*time.Minute, 12},
		{"a check that is short", checked(6, 3, 3, nil), 6, 2*time.Hour + 10*time.Minute + 30*time.Second, 12},
		{"the night ends", with(6, 3, nil, 90*time.Minute), 3, 90 * time.Minute, 12},
	} {
		if o := Of(c.q); o.Done != c.done || !o.By.Equal(begin.Add(c.by)) || o.USDLow != c.usd {
			t.Errorf("%s: %d done by %s for $%g; want %d by %s for $%g", c.name, o.Done, o.By, o.USDLow, c.done, begin.Add(c.by), c.usd)
		}
	}
}

// TestRoom: what is free of a room is used, and nothing twice.
func TestRoom(t *testing.T) {
	var r room
	var got []time.Duration
	for _, u := range [][2]time.Duration{{10, 5}, {0, 3}, {2, 6}, {12, 0}, {0, 8}, {40, 2}, {30, 10}} {
		got = append(got, r.use(u[0], u[1]))
	}
	if want := []time.Duration{15, 3, 9, 15, 22, 42, 40}; !slices.Equal(got, want) {
		t.Errorf("through at %v, want %v", got, want)
	}
	if want := []span{{0, 22}, {30, 42}}; !slices.Equal(r.used, want) {
		t.Errorf("used %v, want %v", r.used, want)
	}
}
