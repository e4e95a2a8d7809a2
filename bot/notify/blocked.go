package notify

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxGap is the longest time between blocked tasks that share one message.
// minShared is the smallest number of blocked tasks that share one message.
const (
	maxGap    = time.Hour
	minShared = 3
)

// blockedTasks returns the questions about blocked tasks in the order in which they
// were asked, also the settled ones that the state still has.
func blockedTasks(s loop.State) []bot.BlockedTask {
	var all []bot.BlockedTask
	for _, q := range s.Project.Questions {
		if q.Kind == ledger.AskBlocked {
			all = append(all, bot.BlockedTask{Question: q})
		}
	}
	for n, x := range s.Project.Answered {
		if x.Subject.Kind == ledger.AskBlocked && !x.Asked.IsZero() {
			q := ledger.Question{ID: x.ID, Kind: ledger.AskBlocked, Task: x.Subject.Task, Asked: x.Asked}
			all = append(all, bot.BlockedTask{Question: q, Settled: &s.Project.Answered[n]})
		}
	}
	slices.SortStableFunc(all, func(a, b bot.BlockedTask) int { return cmp.Compare(number(a.Question), number(b.Question)) })
	return all
}

func number(q ledger.Question) int {
	n, _ := strconv.Atoi(strings.TrimLeft(q.ID, "q"))
	return n
}

// blockedWith returns the blocked tasks that the message of a question shows: those
// whose questions were asked in the hour before and open then, and its own as the last.
// It returns nil for a question about something else.
func blockedWith(s loop.State, id string) []bot.BlockedTask {
	all := blockedTasks(s)
	at := slices.IndexFunc(all, func(b bot.BlockedTask) bool { return b.Question.ID == id })
	if at < 0 {
		return nil
	}
	asked := all[at].Question.Asked
	return slices.DeleteFunc(slices.Clone(all[:at+1]), func(b bot.BlockedTask) bool {
		return asked.Sub(b.Question.Asked) >= maxGap || b.Settled != nil && b.Settled.At.Before(asked)
	})
}

// regroup edits the messages of several blocked tasks that show a question, after it
// was settled or opened again: each says what became of every task.
func (c *composer) regroup(q ledger.Question) {
	if q.Kind != ledger.AskBlocked {
		return
	}
	for _, b := range blockedTasks(c.after) {
		group := blockedWith(c.after, b.Question.ID)
		shows := slices.ContainsFunc(group, func(g bot.BlockedTask) bool { return g.Question.ID == q.ID })
		if len(group) < minShared || !shows {
			continue
		}
		class := ledger.ClassChatter
		if slices.ContainsFunc(group, func(g bot.BlockedTask) bool { return g.Settled == nil }) {
			class = ledger.ClassAsk
		}
		c.edit(b.Question.ID, class, bot.BlockedTogether(c.last, group, c.now))
	}
}
