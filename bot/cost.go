package bot

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Spent renders the cost of a project's last run, by hat and task, and by agent and day
// where there are several. It names unknown costs and never counts them as free; "≈"
// stands before what is estimated or computed.
func Spent(s loop.State, now time.Time) Message {
	r := s.Project.Run
	if r == nil {
		m := newMessage("cost", SignLater+" "+firstLine("", s.Project.Name, "has spent nothing", ""))
		if len(s.Project.Ideas) > 0 {
			m = newMessage("cost", SignLater+" "+firstLine("", s.Project.Name, "has had no run", ""))
			m.add("What its ideas cost: /runs")
			return m
		}
		m.add("No run yet, no cost.")
		return m
	}
	m := newMessage("cost", CostSoFar(s)+" · "+Cut(Clean(s.Project.Name), 14)+" "+r.ID)
	if of := costOf(s); of != "" {
		first := CostSoFar(s) + of + " · " + Cut(Clean(s.Project.Name), 14) + " " + r.ID
		if Width(first) <= FirstWidth {
			m = newMessage("cost", first)
		} else {
			m.add(strings.TrimLeft(of, " ,"))
		}
	}
	m.add(largestShares(r.Spent.Hats, 4, func(hat string) string { return orElse(Clean(hat), "unknown") }))
	if len(r.Spent.Agents) > 1 {
		m.add(largestShares(r.Spent.Agents, 4, func(agent string) string { return orElse(Clean(agent), "unknown") }))
	}
	if days := r.Spent.Days; len(days) > 1 {
		m.add(largestShares(days[max(len(days)-3, 0):], 3, shortDay))
	}
	if top := largestShares(r.Spent.Tasks.Slice(), 2, shortID); top != "" {
		m.add("Most: " + top)
	}
	var tokens int64
	for _, h := range r.Spent.Hats {
		tokens += h.Tokens
	}
	if of := s.Project.Run.Settings.Budget.TokensRun; tokens > 0 && of == 0 {
		m.add(Tokens(tokens) + " tokens")
	}
	for _, line := range BudgetLines(s, now) {
		m.add(line)
	}
	if len(r.Spent.Hats) == 0 {
		m.add("No session has ended yet.")
	}
	return m
}

// largestShares lists at most most cost shares, the largest first: "builder
// $7.30 · reviewer $3.02". name turns a share's key into text for people.
func largestShares(all []loop.Share, most int, name func(string) string) string {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b loop.Share) int { return cmp.Compare(b.USD, a.USD) })
	var parts []string
	for _, s := range all[:min(len(all), most)] {
		text := name(s.Name) + " " + about(s.USD, s.About)
		switch {
		case s.Unpriced > 0 && s.USD == 0:
			text = name(s.Name) + " unknown"
		case s.Unpriced > 0:
			text += " + unknown"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// shortDay writes a date as people say it: "27 Nov".
func shortDay(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return Clean(date)
	}
	return day.Format("2 Jan")
}

// about writes a sum of costs, with "≈" if some of them are not an agent's own figure.
func about(usd float64, estimated int) string {
	if estimated > 0 && usd >= 0 {
		return "≈" + Money(usd)
	}
	return Money(usd)
}

// SessionCost writes what a session cost: "$0.31", "≈$0.31", "unknown".
func SessionCost(x ledger.Exit) string {
	if x.Estimated {
		return about(x.CostUSD, 1)
	}
	return about(x.CostUSD, 0)
}

// Tokens writes a count of tokens: "9.8 M", "310 k", "950".
func Tokens(n int64) string { return ledger.TokenCount(n) }
