package report

import "time"

// axis maps times between from and to onto x coordinates between x0 and x1.
type axis struct {
	from, to time.Time
	x0, x1   float64
}

// minSpan is the shortest time that an axis covers. A shorter one would have no
// full second to label.
const minSpan = time.Second

func newAxis(from, to time.Time, x0, x1 float64) axis {
	if to.Sub(from) < minSpan {
		to = from.Add(minSpan)
	}
	return axis{from: from, to: to, x0: x0, x1: x1}
}

func (a axis) x(t time.Time) float64 {
	part := float64(t.Sub(a.from)) / float64(a.to.Sub(a.from))
	return a.x0 + min(max(part, 0), 1)*(a.x1-a.x0)
}

// tick is a labelled time.
type tick struct {
	at   time.Time
	text string
}

// maxTicks limits the labels to as many as are legible side by side on a phone.
const maxTicks = 7

// tickSteps lists the possible distances between ticks.
var tickSteps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// ticks returns at most maxTicks round times of the wall clock. They stay round
// across a change between summer and winter time.
func (a axis) ticks() []tick {
	span := a.to.Sub(a.from)
	step := 24 * time.Hour
	for _, s := range tickSteps {
		if span/s < maxTicks {
			step = s
			break
		}
	}
	days := 1
	for step == 24*time.Hour && span/(step*time.Duration(days)) >= maxTicks {
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
	if hour.After(a.from) { // the clock shows this hour twice
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

// gridLevels returns at most five round numbers from 0 up to most, for the grid
// lines of a chart.
func gridLevels(most int) []int {
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
