package termlog

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// question prints a question: its subject, how to answer, and the default.
func (c *Console) question(v view, q ledger.Question) {
	if c.asked[q.ID] {
		return // reopened without an expiry: printed when it expired
	}
	c.asked[q.ID] = true
	if q.Task != "" {
		c.printHeld(v, q.Task)
	}
	if q.OwnWords() {
		c.askAgent(v, q)
		return
	}
	tail := " (" + q.ID + ")"
	text := bot.SignOf(q) + " " + bot.Headline(v.after, q) + tail
	said := bot.CleanLines(q.Text)
	switch bot.TextOf(q) {
	case bot.TextSteps:
		c.printEntry(v, text+": "+bot.Clean(q.Title))
		const most = 12
		for n, line := range said {
			if n == most {
				c.continuation(fmt.Sprintf("  and %d more lines: /task %s", len(said)-most, strings.TrimPrefix(c.id(q.Task), "#")))
				break
			}
			c.continuation("  " + bot.Cut(line, c.restWidth()-2))
		}
	case bot.TextOutcome:
		c.printWrapped(v, text+reasonSuffix(bot.OutcomeWhy(c.outcomes[ledger.FoldID(q.Task)], q.Text)))
	default:
		c.printWrapped(v, text+reasonSuffix(q.Text))
	}
	if bot.ReadCommand(q) != "" {
		about, rounds := bot.PlanFacts(v.after, q)
		c.wrapped(about)
		for _, r := range rounds {
			c.wrapped(r)
		}
	}
	if q.Proof != nil && q.Proof.Reason != "" {
		c.wrapped("its reason: " + q.Proof.Reason)
	}
	if q.Needs != "" {
		c.wrapped("needs: " + q.Needs)
	}
	c.verbs(v, q)
}

// verbs prints how to answer a question, and the default.
func (c *Console) verbs(v view, q ledger.Question) {
	var typed []string
	for _, verb := range q.Verbs() {
		t := bot.Typed(q, verb)
		if means := bot.Meaning(q, verb); means != "" {
			t += " (" + means + ")"
		}
		typed = append(typed, t)
	}
	if read := bot.ReadCommand(q); read != "" {
		typed = append(typed, read)
	}
	line := strings.Join(typed, " · ")
	then := c.unanswered(v, q)
	if then != "" && bot.Width(line)+bot.Width(then)+6 <= c.restWidth() {
		line, then = line+"      "+then, ""
	}
	c.wrappedPre(line)
	if then != "" {
		c.wrapped(then)
	}
}

// wrappedPre is wrapped for text whose spaces must be kept.
func (c *Console) wrappedPre(text string) {
	for _, part := range bot.Wrap(bot.CleanPre(text), c.restWidth()) {
		c.continuation(part)
	}
}

// unanswered returns what happens without an answer, or "" if nothing happens.
func (c *Console) unanswered(v view, q ledger.Question) string {
	if q.Expires.IsZero() {
		return bot.WhileWaiting(v.after, q)
	}
	return bot.Unanswered(v.after, q, c.deadline(q, v.at))
}

func (c *Console) deadline(q ledger.Question, now time.Time) string {
	if d := q.Expires.Sub(q.Asked); d < time.Minute {
		return "in " + bot.Took(d)
	}
	return "by " + bot.Clock(q.Expires, now.In(c.opt.Zone))
}

// askAgent prints an agent's question with its options, on one line if they fit.
func (c *Console) askAgent(v view, q ledger.Question) {
	head := bot.SignAsk + " " + c.id(q.Task) + " asks: " + bot.Clean(q.Text) + " (" + q.ID + ")"
	var options, letters []string
	for n, o := range q.Options {
		options = append(options, ledger.Letter(n)+"  "+bot.Cut(bot.Clean(o), c.restWidth()-24)+bot.ChoiceNote(q, n))
		letters = append(letters, q.ID+" "+ledger.Letter(n))
	}
	line := head + "   " + strings.Join(options, "   ")
	c.flush(v.at)
	c.rememberCause(v.e.Cause)
	if bot.Width(line) <= c.restWidth() || (c.opt.Demo && len(options) > 0) {
		c.uncut(v.at, line)
	} else {
		for n, part := range bot.Wrap(head, c.restWidth()) {
			if n == 0 {
				c.uncut(v.at, part)
			} else {
				c.continuation(part)
			}
		}
		for _, o := range options {
			c.continuation("  " + o)
		}
	}
	how := "Type " + q.ID + " and your answer."
	if len(letters) > 0 {
		how = "Type " + strings.Join(letters, " or ") + "."
		if !c.opt.Demo {
			how = "Type " + strings.Join(letters, " or ") + ", or " + q.ID + " and your own words."
		}
	}
	by := ""
	if !q.Expires.IsZero() {
		by = c.deadline(q, v.at)
	}
	c.wrapped(how + " " + bot.Unanswered(v.after, q, by))
}

// findQuestion returns a question that was open before an entry.
func findQuestion(s loop.State, id string) (ledger.Question, bool) {
	for _, q := range s.Project.Questions {
		if q.ID == id {
			return q, true
		}
	}
	return ledger.Question{}, false
}

func (c *Console) answered(v view, b ledger.QuestionAnswered) {
	text := bot.SignDone + " " + bot.Clean(b.ID)
	if b.Choice != "" {
		text += " " + bot.Clean(b.Choice)
	}
	if b.By != "" && b.By != "console" {
		text += ", by " + bot.Cut(bot.Clean(b.By), 24)
	}
	c.printWrapped(v, text+reasonSuffix(b.Words))
}

// expired prints the default taken for a question. It prints nothing for
// questions about a pause or a baseline that end with their run.
func (c *Console) expired(v view, b ledger.QuestionExpired) {
	q, ok := findQuestion(v.before, b.ID)
	if ok && !bot.EndIsNews(q, b) {
		return
	}
	then := bot.Clean(b.Then)
	if n := bot.OptionOf(q, b.Choice); ok && n >= 0 {
		then = ledger.Letter(n)
	} else if then == "" {
		then = bot.Clean(b.Choice)
	}
	c.printWrapped(v, bot.SignAway+" "+bot.Clean(b.ID)+" unanswered: "+then)
}
