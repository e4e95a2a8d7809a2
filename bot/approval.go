package bot

import (
	"fmt"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// planHead returns the headline of a question about a plan: "#6 plan ready, 3
// rounds", or "#6 plan: 3 rounds, no OKAY" if the critic's last verdict is no.
func planHead(s loop.State, q ledger.Question) string {
	text := shortID(q.Task) + " plan ready"
	t, ok := FindTask(s, q.Task)
	if !ok {
		return text
	}
	rounds := consensusOf(t).Rounds
	switch n := len(rounds); {
	case n == 0:
		return text
	case !rounds[n-1].OK:
		return shortID(q.Task) + " plan: " + Plural(n, "round") + ", no OKAY"
	default:
		return text + ", " + Plural(n, "round")
	}
}

// PlanFacts returns what a question tells about its plan. about is the plan's
// size and whether the critic accepted it; rounds are the critic's objections, one a
// line, the first of a round behind its number. Both are empty for an unknown task.
func PlanFacts(s loop.State, q ledger.Question) (about string, rounds []string) {
	t, ok := FindTask(s, q.Task)
	if !ok {
		return "", nil
	}
	c := consensusOf(t)
	if p, is := planOf(t); is {
		about = planSize(t, p) + "."
		if n := len(c.Rounds); n > 0 && c.Rounds[n-1].OK {
			about += " Critic: OKAY"
		}
	}
	for n, v := range c.Rounds {
		if v.OK {
			continue
		}
		head := fmt.Sprintf("Round %d REJECT: ", n+1)
		for _, o := range objections(v) {
			rounds = append(rounds, head+o)
			head = "– "
		}
	}
	return about, rounds
}

// verdicts adds PlanFacts to a message. It quotes the rounds, which repeat a
// critic's words.
func (m *Message) verdicts(s loop.State, q ledger.Question) {
	about, rounds := PlanFacts(s, q)
	m.add(about)
	for _, r := range rounds {
		m.whole(r)
	}
}
