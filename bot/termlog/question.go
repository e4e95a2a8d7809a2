package termlog

import (
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
	switch bot.TextOf(q) {
	case bot.TextSteps:
		c.printEntry(v, text+": "+bot.Clean(q.Title))
		c.quoted(q.Text)
	case bot.TextOutcome:
		c.printWhole(v, text, bot.OutcomeWhy(c.outcomes[ledger.FoldID(q.Task)], q.Text))
		c.excerpt(q.Text, q.Excerpt)
	default:
		c.printWhole(v, text, q.Text)
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

// printWhole prints the head of a question and below it all of what was said, or in the
// same lines if it is a single one.
func (c *Console) printWhole(v view, head, said string) {
	said = bot.WithoutMarks(said)
	many := isManyLines(said)
	if !many {
		head += reasonSuffix(said)
	}
	c.flush(v.at)
	c.rememberCause(v.e.Cause)
	for n, part := range bot.Wrap(head, c.restWidth()) {
		if n == 0 {
			c.uncut(v.at, part)
			continue
		}
		c.continuation(part)
	}
	if many {
		c.quoted(said)
	}
}

func isManyLines(text string) bool { return strings.ContainsAny(strings.TrimSpace(text), "\r\n") }

// quoted prints a text whole, with its line breaks, below the previous line.
func (c *Console) quoted(text string) { c.verbatim(bot.WithoutMarks(text)) }

// verbatim is quoted for what a program printed.
func (c *Console) verbatim(text string) {
	for _, line := range bot.CleanLines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		for _, part := range bot.Wrap(line, c.restWidth()-2) {
			c.continuation("  " + part)
		}
	}
}

// excerpt prints what programs said in the attempt that ended for the given reason,
// below the line that says it.
func (c *Console) excerpt(reason string, x *ledger.FailureExcerpt) {
	for _, p := range bot.ExcerptParts(reason, x) {
		c.wrapped(p.Head + ":")
		c.verbatim(p.Text)
	}
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
	if why := bot.WhyCommand(q); why != "" {
		typed = append(typed, why)
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
	q.Text = bot.WithoutMarks(q.Text)
	head := bot.SignAsk + " " + c.id(q.Task) + " asks: " + bot.Clean(q.Text) + " (" + q.ID + ")"
	many := isManyLines(q.Text)
	if many {
		head = bot.SignAsk + " " + c.id(q.Task) + " asks (" + q.ID + "):"
	}
	var options, letters []string
	for n, o := range q.Options {
		options = append(options, ledger.Letter(n)+"  "+bot.Clean(bot.WithoutMarks(o))+bot.ChoiceNote(q, n))
		letters = append(letters, q.ID+" "+ledger.Letter(n))
	}
	line := head + "   " + strings.Join(options, "   ")
	c.flush(v.at)
	c.rememberCause(v.e.Cause)
	if !many && (bot.Width(line) <= c.restWidth() || (c.opt.Demo && len(options) > 0)) {
		c.uncut(v.at, line)
	} else {
		for n, part := range bot.Wrap(head, c.restWidth()) {
			if n == 0 {
				c.uncut(v.at, part)
			} else {
				c.continuation(part)
			}
		}
		if many {
			c.quoted(q.Text)
		}
		for n, o := range options {
			if isManyLines(q.Options[n]) {
				c.continuation("  " + ledger.Letter(n) + bot.ChoiceNote(q, n) + ":")
				c.quoted(q.Options[n])
				continue
			}
			for i, part := range bot.Wrap(o, c.restWidth()-5) {
				c.continuation(strings.Repeat(" ", 2+3*min(i, 1)) + part)
			}
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
