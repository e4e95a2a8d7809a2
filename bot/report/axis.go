package report

import "time"

// axis puts times where they stand in the picture.
type axis struct {
	from, to time.Time
	x0, x1   float64
}

// leastSpan is how much time the axis shows at the least: what is shorter has
// no second to be marked in.
const leastSpan = time.Second

func newAxis(from, to time.Time, x0, x1 float64) axis {
	if to.Sub(from) < leastSpan {
		to = from.Add(leastSpan)
	}
	return axis{from: from, to: to, x0: x0, x1: x1}
}

func (a axis) x(t time.Time) float64 {
	part := float64(t.Sub(a.from)) / float64(a.to.Sub(a.from))
	return a.x0 + min(max(part, 0), 1)*(a.x1-a.x0)
}

// tick is a time with a word.
type tick struct {
	at   time.Time
	text string
}

// mostTicks is how many labels stand side by side on a phone.
const mostTicks = 7

// steps between ticks.
var steps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// ticks are round times of the wall clock. Where the clocks change the round
// hours stay round.
func (a axis) ticks() []tick {
	span := a.to.Sub(a.from)
	step := 24 * time.Hour
	for _, s := range steps {
		if span/s < mostTicks {
			step = s
			break
		}
	}
	days := 1
	for step == 24*time.Hour && span/(step*time.Duration(days)) >= mostTicks {
		days++
	}
	var out []tick
	add := func(t time.Time) {
		if t.Before(a.from) || t.After(a.to) {
			return
		}
		text := t.Format("15:04")
		if step < time.Minute {
			text = t.Format("15:04:05")
		}
		if span > 36*time.Hour && t.Hour() == 0 && t.Minute() == 0 || step == 24*time.Hour {
			text = t.Format("2 Jan")
		}
		out = append(out, tick{t, text})
	}
	y, m, d := a.from.Date()
	if step == 24*time.Hour {
		for n := 0; ; n += days {
			t := time.Date(y, m, d+n, 0, 0, 0, 0, a.from.Location())
			if t.After(a.to) {
				return out
			}
			add(t)
		}
	}
	hour := time.Date(y, m, d, a.from.Hour(), 0, 0, 0, a.from.Location())
	if hour.After(a.from) { // an hour that the clock shows twice
		hour = hour.Add(-time.Hour)
	}
	if step < time.Hour {
		for t := hour.Add(a.from.Sub(hour).Truncate(step)); !t.After(a.to); t = t.Add(step) {
			add(t)
		}
		return out
	}
	for t := hour; !t.After(a.to); t = t.Add(time.Hour) {
		if t.Hour()%int(step/time.Hour) == 0 {
			add(t)
		}
	}
	return out
}

// levels are round counts from 0 to at least most, at most five of them.
func levels(most int) []int {
	step := 1
	for _, s := range []int{1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000, 100000} {
		if step = s; most/s < 5 {
			break
		}
	}
	out := []int{0}
	for n := step; n <= most; n += step {
		out = append(out, n)
	}
	return out
}
