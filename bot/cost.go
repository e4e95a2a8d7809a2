package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
)

// cost is what the last run has spent.
func (d dispatch) cost(ctx context.Context) (Message, error) {
	records, err := d.desk.Records(ctx, d.project, "")
	if err != nil {
		return Message{}, err
	}
	return Spent(d.s, records)
}

// share is what one hat, or one task, had of a run's cost.
type share struct {
	name     string
	usd      float64
	tokens   int64
	unpriced int
}

// Spent is what a run has spent, by hat and task, from the run's records.
// Sessions whose cost nobody knows are counted, never taken for free.
func Spent(s loop.State, records []loop.Record) (Message, error) {
	r := s.Project.Run
	if r == nil {
		m := newMessage("cost", SignLater+" "+fit("", s.Project.Name, "has spent nothing", ""))
		m.add("No run yet, no cost.")
		return m, nil
	}
	hatOf := map[string]string{}
	var hats, tasks []share
	for _, rec := range records {
		e, err := rec.Entry()
		if err != nil {
			return Message{}, err
		}
		switch b := e.Body.(type) {
		case loop.SessionPlanned:
			hatOf[e.Session] = b.Hat
		case loop.SessionEnded:
			if b.Kind == loop.KindAgent {
				hats = counted(hats, orElse(Clean(hatOf[e.Session]), "unknown"), b.Exit)
				tasks = counted(tasks, short(e.Task), b.Exit)
			}
		}
	}
	m := newMessage("cost", CostSoFar(s)+" · "+Cut(Clean(s.Project.Name), 14)+" "+r.ID)
	m.add(written(hats, 4))
	if top := written(tasks, 2); top != "" {
		m.add("Most: " + top)
	}
	var tokens int64
	for _, h := range hats {
		tokens += h.tokens
	}
	if tokens > 0 {
		m.add(Tokens(tokens) + " tokens")
	}
	if len(hats) == 0 {
		m.add("No session has ended yet.")
	}
	return m, nil
}

func counted(all []share, name string, x loop.Exit) []share {
	n := slices.IndexFunc(all, func(s share) bool { return s.name == name })
	if n < 0 {
		n, all = len(all), append(all, share{name: name})
	}
	if x.CostUSD < 0 {
		all[n].unpriced++
	} else {
		all[n].usd += x.CostUSD
	}
	all[n].tokens += max(x.Tokens, 0)
	return all
}

// written lists the largest shares: "builder $7.30 · reviewer $3.02".
func written(all []share, most int) string {
	slices.SortStableFunc(all, func(a, b share) int { return cmp.Compare(b.usd, a.usd) })
	var parts []string
	for _, s := range all[:min(len(all), most)] {
		text := s.name + " " + Money(s.usd)
		switch {
		case s.unpriced > 0 && s.usd == 0:
			text = s.name + " unknown"
		case s.unpriced > 0:
			text += " + unknown"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// Tokens writes a count of tokens: "9.8 M", "310 k", "950".
func Tokens(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%d k", n/1000)
	}
	return fmt.Sprint(n)
}
