package bot

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/width"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// planHead is the question about a plan in one line: "#6 plan ready, 3
// rounds", or that the critic never said OKAY.
func planHead(s loop.State, q ledger.Question) string {
	text := short(q.Task) + " plan ready"
	t, ok := FindTask(s, q.Task)
	if !ok {
		return text
	}
	rounds := consensusOf(t).Rounds
	switch n := len(rounds); {
	case n == 0:
		return text
	case !rounds[n-1].OK:
		return short(q.Task) + " plan: " + Plural(n, "round") + ", no OKAY"
	default:
		return text + ", " + Plural(n, "round")
	}
}

// maxRounds is how many of a critic's verdicts a question shows; the plan shows
// all of them.
const maxRounds = 3

// PlanFacts is what a person is told of a plan that is asked about: how large
// it is, and what the critic said, one of its verdicts a line.
func PlanFacts(s loop.State, q ledger.Question) (about string, rounds []string) {
	t, ok := FindTask(s, q.Task)
	if !ok {
		return "", nil
	}
	c := consensusOf(t)
	if p, is := planOf(t); is {
		about = size(t, p) + "."
		if n := len(c.Rounds); n > 0 && c.Rounds[n-1].OK {
			about += " Critic: OKAY"
		}
	}
	for n, v := range c.Rounds {
		if v.OK || n < len(c.Rounds)-maxRounds {
			continue
		}
		first, more := objections(v)
		tail := ""
		if more > 0 {
			tail = fmt.Sprintf(" (%d more)", more)
		}
		head := fmt.Sprintf("Round %d REJECT: ", n+1)
		rounds = append(rounds, head+Cut(first, quoteWidth-Width(head+tail))+tail)
	}
	return about, rounds
}

// verdicts adds them to a message. They are a critic's words.
func (m *Message) verdicts(s loop.State, q ledger.Question) {
	about, rounds := PlanFacts(s, q)
	m.add(about)
	for _, r := range rounds {
		m.quote(r)
	}
}

// objections is the first thing that a critic says is wrong, with the section
// it is about, and how many more there are.
func objections(v payload.Critique) (first string, more int) {
	var all []string
	for _, o := range v.Objections {
		all = append(all, Clean(o))
	}
	for _, j := range v.Sections {
		for _, o := range j.Objections {
			all = append(all, Cut(Clean(j.ID), 16)+": "+Clean(o))
		}
	}
	if len(all) == 0 {
		return "without a word", 0
	}
	return all[0], len(all) - 1
}

// outsideHead is the question about a path out of scope in one line, with so
// much of the path as has room: its end says more than its beginning.
func outsideHead(q ledger.Question, width int) string {
	text := short(q.Task) + " writes outside"
	if len(q.Paths) == 0 {
		return text
	}
	more := ""
	if n := len(q.Paths) - 1; n > 0 {
		more = fmt.Sprintf(" +%d", n)
	}
	const least = 6 // columns of a path that say anything
	room := width - Width(text+": "+more)
	if room < least { // the others are listed below
		room, more = room+Width(more), ""
	}
	if room < least {
		return text
	}
	// A name with a space could pass for a command of ours behind it.
	path := strings.ReplaceAll(Clean(q.Paths[0]), " ", "_")
	return text + ": " + cutPath(path, room) + more
}

// cutPath shortens a path to at most most columns and keeps its end.
func cutPath(p string, most int) string {
	if Width(p) <= most {
		return p
	}
	return "…" + width.Last(p, most-1)
}

// maxPaths is how many paths a question names.
const maxPaths = 5

// paths names what was written out of scope. Their lines are set as code: an
// agent chose the names, and nothing in them can be tapped.
func (m *Message) paths(q ledger.Question) {
	if len(q.Paths) == 0 {
		return
	}
	m.add("Undone, and out of its scope:")
	for _, p := range q.Paths[:min(len(q.Paths), maxPaths)] {
		m.pre(orElse(cutPath(Clean(p), quoteWidth), "…")) // of control characters alone nothing can be shown
	}
	if more := len(q.Paths) - maxPaths; more > 0 {
		m.add(fmt.Sprintf("and %d more", more))
	}
}
