package bot

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/width"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// planHead returns the headline of a question about a plan: "#6 plan ready, 3
// rounds", or "#6 plan: 3 rounds, no OKAY" if the critic's last verdict is no.
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

// maxRounds limits the critic's verdicts that a question shows; the plan's own
// message shows all of them.
const maxRounds = 3

// PlanFacts returns what a question tells about its plan. about is the plan's
// size and whether the critic accepted it; rounds are the rejections among the
// last maxRounds verdicts, one a line. Both are empty for an unknown task.
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

// verdicts adds PlanFacts to a message. It quotes the rounds, which repeat a
// critic's words.
func (m *Message) verdicts(s loop.State, q ledger.Question) {
	about, rounds := PlanFacts(s, q)
	m.add(about)
	for _, r := range rounds {
		m.quote(r)
	}
}

// objections returns the first objection of a verdict, behind the section that
// it is about, and the number of further objections.
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

// outsideHead returns the headline of a question about paths out of scope, in
// width columns. A path that is too long loses its beginning: its end says more.
func outsideHead(q ledger.Question, width int) string {
	text := short(q.Task) + " writes outside"
	if len(q.Paths) == 0 {
		return text
	}
	more := ""
	if n := len(q.Paths) - 1; n > 0 {
		more = fmt.Sprintf(" +%d", n)
	}
	const least = 6 // columns: a shorter excerpt does not identify a path
	room := width - Width(text+": "+more)
	if room < least { // drop the count: the message lists the other paths
		room, more = room+Width(more), ""
	}
	if room < least {
		return text
	}
	// The part of a name behind a space could look like a command.
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

// maxPaths limits the paths that a question names.
const maxPaths = 5

// paths lists the paths that were written out of scope. It adds them as Pre
// lines, in which a platform makes nothing tappable: an agent chose the names.
func (m *Message) paths(q ledger.Question) {
	if len(q.Paths) == 0 {
		return
	}
	m.add("Undone, and out of its scope:")
	for _, p := range q.Paths[:min(len(q.Paths), maxPaths)] {
		m.pre(orElse(cutPath(Clean(p), quoteWidth), "…")) // Clean leaves nothing of a name of control characters
	}
	if more := len(q.Paths) - maxPaths; more > 0 {
		m.add(fmt.Sprintf("and %d more", more))
	}
}
