package loop

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/outlook"
)

// What the state keeps of an agent's usage windows, and when it believes it.
const (
	windowsKept  = 16               // of one agent
	partsKept    = 32               // of one window
	enoughParts  = 3                // with fewer, nobody knows how fast a window is used up
	sameReset    = 10 * time.Minute // ends that are closer are those of one window
	sameWork     = 2 * time.Hour    // between later reports, people may have used the account
	windowsKnown = 14 * 24 * time.Hour
)

// UsedWindow is a usage window of an agent's account, as the agent's sessions in all
// projects reported it.
type UsedWindow struct {
	ledger.UsageWindow           // as reported last
	At                 time.Time `json:"at"`               // of that report
	Parts              []float64 `json:"parts,omitempty"`  // of the window that sessions used, one each, the newest last
	Untold             int       `json:"untold,omitempty"` // sessions since At that reported nothing of it
}

// applyWindows folds the end of a session of the agent into what is known of its windows.
func (s Shared) applyWindows(agent string, told []ledger.UsageWindow, at time.Time) Shared {
	was := s.Windows[agent]
	if agent == "" || len(was)+len(told) == 0 {
		return s
	}
	var list []UsedWindow
	for _, w := range was {
		if !slices.ContainsFunc(told, func(o ledger.UsageWindow) bool { return o.Name == w.Name }) {
			w.Untold++
			list = append(list, w)
		}
	}
	for _, w := range told {
		next := UsedWindow{UsageWindow: w, At: at}
		if n := slices.IndexFunc(was, func(o UsedWindow) bool { return o.Name == w.Name }); n >= 0 {
			next.Parts = was[n].Parts
			if part, ok := was[n].part(w, at); ok {
				next.Parts = append(slices.Clip(next.Parts[max(len(next.Parts)+1-partsKept, 0):]), part)
			}
		}
		list = append(list, next)
	}
	s.Windows = with(s.Windows, agent, list[max(len(list)-windowsKept, 0):])
	return s
}

// part returns what each session since the last report used of the window, by the next
// report of it. It is unknown if the window began anew in the meantime, or if the time in
// between was too long to be that of sessions.
func (w UsedWindow) part(next ledger.UsageWindow, at time.Time) (part float64, ok bool) {
	if next.Resets.Sub(w.Resets).Abs() > sameReset || next.Used < w.Used || at.Sub(w.At) > sameWork {
		return 0, false
	}
	return (next.Used - w.Used) / float64(1+w.Untold), true
}

// windowLength returns how long a window lasts that the agent calls so; 0 = unknown.
func windowLength(name string) time.Duration {
	switch {
	case strings.HasPrefix(name, "five_hour"):
		return 5 * time.Hour
	case strings.HasPrefix(name, "seven_day"):
		return 7 * 24 * time.Hour
	}
	return 0
}

// outlookWindows returns the agent's windows for an outlook on work that goes on at begin.
// Windows of which too little is known are left out: nothing is said of them.
// So is one that is used up while its agent works on: it is no limit of that account.
func (s Shared) outlookWindows(agent string, reserve float64, begin time.Time) (list []outlook.Window) {
	hold, held := s.Agents[agent]
	for _, w := range s.Windows[agent] {
		if len(w.Parts) < enoughParts || w.Resets.IsZero() || begin.Sub(w.At) > windowsKnown || reserve >= 1 {
			continue
		}
		o := outlook.Window{Whole: 1 - reserve, Resets: w.Resets, Length: windowLength(w.Name), Parts: w.Parts}
		o.Left = o.Whole - w.Used
		switch {
		case !begin.Before(o.Resets) && o.Length > 0:
			o.Left, o.Resets = o.Whole, begin.Add(o.Length) // its first session begins the next one
		case !begin.Before(o.Resets), o.Left <= 0 && (!held || hold.Trial):
			continue
		}
		list = append(list, o)
	}
	return list
}

// outlookHats returns the question with who runs the hats of the run, where it is known how
// fast a window of one of these agents is used up.
func (d *decision) outlookHats(q outlook.Question) outlook.Question {
	set := d.run().upcoming()
	hats := hatsOf(set.Pattern)
	known := false
	agent := func(name string) int {
		n := slices.IndexFunc(q.Agents, func(a outlook.Agent) bool { return a.Name == name })
		if n < 0 {
			n = len(q.Agents)
			a := outlook.Agent{Name: name, From: d.Shared.Agents[name].Until, Windows: d.Shared.outlookWindows(name, set.Reserve[name], q.Begin)}
			known = known || len(a.Windows) > 0
			q.Agents = append(q.Agents, a)
		}
		return n
	}
	for _, name := range hats {
		hat := set.Hats[name]
		group := outlook.Hats{Share: 1 / float64(len(hats))}
		own := cmp.Or(hat.Agent, set.Agent)
		for _, name := range append([]string{own}, set.FallbacksOf(hat, own)...) {
			if name != "" && !d.Shared.Agents[name].Unusable {
				group.Agents = append(group.Agents, agent(name))
			}
		}
		if n := slices.IndexFunc(q.Hats, func(o outlook.Hats) bool { return slices.Equal(o.Agents, group.Agents) }); n >= 0 {
			q.Hats[n].Share += group.Share
		} else if len(group.Agents) > 0 {
			q.Hats = append(q.Hats, group)
		}
	}
	if !known {
		q.Agents, q.Hats = nil, nil
	}
	return q
}

// hatsOf returns the hats of a pattern, each once.
func hatsOf(p ledger.Pattern) (hats []string) {
	for _, r := range append([]ledger.Route{{From: p.Start}}, p.Routes...) {
		if r.From != "" && !slices.Contains(hats, r.From) {
			hats = append(hats, r.From)
		}
	}
	return hats
}
