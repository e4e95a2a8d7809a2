package outlook

import (
	"testing"
	"time"
)

// TestWindows: a window that sessions use up before its reset is named, with who goes on
// then; where nobody does, the night waits.
func TestWindows(t *testing.T) {
	const h = time.Hour
	// Of the window a session of an hour uses 0.4.
	window := func(left float64, resets, length time.Duration) Window {
		return Window{Left: left, Whole: 1, Resets: begin.Add(resets), Length: length, Parts: []float64{0.4, 0.4, 0.4}}
	}
	claude := func(list ...Window) Agent { return Agent{Name: "claude", Windows: list} }
	codex, gemini := Agent{Name: "codex"}, Agent{Name: "gemini"}
	alone := []Hats{{Share: 1, Agents: []int{0}}}
	either := []Hats{{Share: 1, Agents: []int{0, 1}}}
	waits := Limit{Agent: "claude", At: begin.Add(2*h + h/2), Until: begin.Add(4 * h)}
	with := func(change func(*Limit)) Limit {
		l := waits
		change(&l)
		return l
	}
	for _, c := range []struct {
		name   string
		q      Question
		tasks  int
		done   int
		by     time.Duration
		expect Limit
	}{
		{"waits for the reset", Question{Hats: alone, Agents: []Agent{claude(window(1, 4*h, 5*h))}}, 3, 3, 4*h + h/2, waits},
		{"a fallback goes on", Question{Hats: either, Agents: []Agent{claude(window(1, 4*h, 5*h)), codex}}, 3, 3, 3 * h, with(func(l *Limit) { l.Then = "codex" })},
		{"the first fallback that is not held", Question{Hats: []Hats{{Share: 1, Agents: []int{0, 1, 2}}}, Agents: []Agent{claude(window(1, 4*h, 5*h)), {Name: "codex", From: begin.Add(9 * h)}, gemini}}, 3, 3, 3 * h, with(func(l *Limit) { l.Then = "gemini" })},
		{"a fallback that comes back before the reset", Question{Hats: either, Agents: []Agent{claude(window(1, 4*h, 5*h)), {Name: "codex", From: begin.Add(3 * h)}}}, 3, 3, 3*h + h/2, with(func(l *Limit) { l.Until = begin.Add(3 * h) })},
		{"the reset comes first", Question{Hats: alone, Agents: []Agent{claude(window(1, 2*h, 5*h))}}, 3, 3, 3 * h, Limit{}},
		{"the one after the reset", Question{Hats: alone, Agents: []Agent{claude(window(1, 2*h, 5*h))}}, 6, 6, 8*h + h/2, Limit{Agent: "claude", At: begin.Add(4*h + h/2), Until: begin.Add(7 * h)}},
		{"of the one after the reset nothing is known", Question{Hats: alone, Agents: []Agent{claude(window(1, 2*h, 0))}}, 5, 5, 5 * h, Limit{}},
		{"the work is done before", Question{Hats: alone, Agents: []Agent{claude(window(1, 4*h, 5*h))}}, 2, 2, 2 * h, Limit{}},
		{"the night ends before", Question{Hats: alone, Until: begin.Add(2 * h), Agents: []Agent{claude(window(1, 4*h, 5*h))}}, 5, 2, 2 * h, Limit{}},
		{"the night ends while it waits", Question{Hats: alone, Until: begin.Add(3 * h), Agents: []Agent{claude(window(1, 4*h, 5*h))}}, 5, 2, 3 * h, waits},
		{"two lanes use it twice as fast", Question{Lanes: 2, Hats: alone, Agents: []Agent{claude(window(1, 4*h, 5*h))}}, 4, 4, 4*h + 3*h/4, with(func(l *Limit) { l.At = begin.Add(h + h/4) })},
		{"every other session is another agent's", Question{Hats: []Hats{{Share: 0.5, Agents: []int{0}}, {Share: 0.5, Agents: []int{1}}}, Agents: []Agent{claude(window(0.5, 4*h, 5*h)), codex}}, 3, 3, 4*h + h/2, waits},
		{"one of its hats has no fallback", Question{Hats: []Hats{{Share: 0.5, Agents: []int{0, 1}}, {Share: 0.5, Agents: []int{0}}}, Agents: []Agent{claude(window(1, 4*h, 5*h)), codex}}, 3, 3, 4*h + h/2, waits},
		{"of two windows the one that ends first", Question{Hats: alone, Agents: []Agent{claude(window(0.9, 3*h, 0), window(0.4, 2*h, 5*h))}}, 3, 3, 4 * h, with(func(l *Limit) { l.At, l.Until = begin.Add(h), begin.Add(2*h) })},
		{"held at the beginning", Question{Hats: alone, Agents: []Agent{{Name: "claude", From: begin.Add(2 * h), Windows: []Window{window(0, 2*h, 5*h)}}}}, 2, 2, 4 * h, Limit{}},
		{"sessions use nothing of it", Question{Hats: alone, Agents: []Agent{{Name: "claude", Windows: []Window{{Left: 0.1, Whole: 1, Resets: begin.Add(h), Length: 5 * h, Parts: []float64{0, 0, 0}}}}}}, 3, 3, 3 * h, Limit{}},
		{"nobody knows who runs the hats", Question{}, 3, 3, 3 * h, Limit{}},
	} {
		c.q.Begin, c.q.Tasks, c.q.Lookup = begin, ids(c.tasks), known(always(31, hour)...)
		got := Of(c.q)
		// The end comes within a nanosecond of the sum of the parts.
		got.Limit.At, got.By = got.Limit.At.Round(time.Second), got.By.Round(time.Second)
		if got.Done != c.done || !got.By.Equal(begin.Add(c.by)) || got.Limit != c.expect {
			t.Errorf("%s: %d by %s, %+v\nwant %d by %s, %+v", c.name, got.Done, got.By.Sub(begin), got.Limit, c.done, c.by, c.expect)
		}
	}
}
