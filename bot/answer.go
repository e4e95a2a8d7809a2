package bot

import (
	"context"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// answerQuestion answers a question: "q5 retry", "/answer 8 retry", "/approve",
// "/reject q4 the button is hidden". Without words it shows the question.
func answerQuestion(ctx context.Context, d dispatch) (Message, error) {
	target, words := strings.ToLower(d.c.Target), d.c.Words
	q, open, alone := d.meant()
	switch {
	case alone: // target is the first of the words, not an id
		words = strings.TrimSpace(d.c.Target + " " + words)
	case open:
	case questionID.MatchString(target):
		// The question is not open. The core's reply says how it was settled.
		choice, rest := cutWord(words)
		if s, settled := d.s.Project.SettledQuestion(target); settled && rest != "" && (ledger.Question{Kind: s.Subject.Kind}).OwnWords() {
			choice, rest = "", words // see Choose
		}
		return d.do(ctx, loop.AnswerQuestion{Question: target, Choice: choice, Words: rest})
	case len(d.s.Project.Questions) == 0:
		m := refusal("cmd.noquestion", SignLater+" "+d.project+" asks nothing")
		m.button("Status", "/status")
		return m, nil
	default:
		return d.which(), nil
	}
	switch d.c.Verb {
	case VerbApprove:
		return d.settle(ctx, q, q.Yes(), words)
	case VerbReject:
		return d.settle(ctx, q, q.No(), words)
	}
	if words == "" {
		return Ask(d.s, q, d.r.Time), nil
	}
	choice, rest := Choose(q, words)
	if choice == "" && q.SentenceVerb() != "" && sentence(q, words) {
		// A sentence is not a mistyped verb: it is guidance for the next
		// attempt.
		choice, rest = q.SentenceVerb(), words
	}
	if choice == "" && !q.OwnWords() {
		// Only an agent's question takes any words. A mistyped verb must not
		// settle a question of another kind.
		m := unsettled("cmd.notverb", q.ID+" does not take "+Cut(Clean(words), 16), q)
		if v := q.SentenceVerb(); v != "" && strings.Contains(words, " ") && len(words) < maxTwin { // "retry failed payments" may be a sentence
			m.exact("Send as words", q.ID+" "+v+" "+words)
		}
		return m, nil
	}
	return d.do(ctx, loop.AnswerQuestion{Question: q.ID, Choice: choice, Words: rest})
}

// meant returns the open question that an answer is for: the question that the
// target names, otherwise the only open question. In the second case alone is
// true, and the target belongs to the words.
func (d dispatch) meant() (q ledger.Question, open, alone bool) {
	target := strings.ToLower(d.c.Target)
	if q, open = d.question(target); open {
		return q, true, false
	}
	all := d.s.Project.Questions
	// In "/reject 3 tests fail" the 3 is one of the words, unless task 3 asks a
	// question.
	if len(all) == 1 && !questionID.MatchString(target) && (target == "" || d.c.Verb != VerbApprove) {
		return all[0], true, true
	}
	return ledger.Question{}, false, false
}

// sentence reports whether words are a sentence rather than a mistyped verb:
// more than two words, the first of which begins no verb.
func sentence(q ledger.Question, words string) bool {
	fields := strings.Fields(strings.ToLower(words))
	return len(fields) > 2 && !slices.ContainsFunc(q.Verbs(), func(v string) bool { return strings.HasPrefix(v, fields[0]) })
}

// settle answers yes or no. choice is "" for a question that takes neither.
func (d dispatch) settle(ctx context.Context, q ledger.Question, choice, words string) (Message, error) {
	if choice == "" {
		return unsettled("cmd.notyesno", q.ID+" is not a yes or no", q), nil
	}
	return d.do(ctx, loop.AnswerQuestion{Question: q.ID, Choice: choice, Words: words})
}

// unsettled returns the refusal of an answer: the reason, and the buttons of the
// answers that the question takes. A letter alone says nothing: its option stands there,
// or of many the question is offered.
func unsettled(key, why string, q ledger.Question) Message {
	const few = 4
	m := refusal(key, SignAsk+" "+why)
	if len(q.Options) > few || slices.ContainsFunc(q.Options, func(o string) bool { return !isShort(o, quoteWidth) }) {
		m.pending("Nothing was changed.")
		m.button("Show "+q.ID, q.ID)
		return m
	}
	m.options(q)
	m.pending("Nothing was changed.")
	addVerbButtons(&m, q)
	return m
}

// question returns the open question with the id target, or about the task
// target.
func (d dispatch) question(target string) (ledger.Question, bool) {
	if target == "" {
		return ledger.Question{}, false
	}
	t, isTask := FindTask(d.s, target)
	for _, q := range d.s.Project.Questions {
		if strings.EqualFold(q.ID, target) || (isTask && ledger.SameID(q.Task, t.Task.ID)) {
			return q, true
		}
	}
	return ledger.Question{}, false
}

// which asks which open question the answer is for. Each button repeats the
// answer for one of them, without its words if they exceed maxTwin.
func (d dispatch) which() Message {
	var ids []string
	for _, q := range d.s.Project.Questions {
		ids = append(ids, q.ID)
	}
	m := refusal("cmd.whichquestion", SignAsk+" Which: "+strings.Join(ids, " or "))
	if len(ids) > 3 {
		m = refusal("cmd.whichquestion", SignAsk+" Which of "+Plural(len(ids), "question")+"?")
	}
	m.add("Nothing was changed.")
	for _, id := range ids[:min(len(ids), 6)] {
		c := d.c
		c.Words = strings.TrimSpace(c.Target + " " + c.Words)
		c.Project, c.Target = "", id
		if len(c.Words) > maxTwin {
			c.Words = ""
		}
		m.button(id, c.String())
	}
	return m
}

// Choose splits the text of an answer into one of the question's verbs and the
// words after it. A verb may be shortened to a unique prefix; the full text of
// an option stands for the option's letter. If text names no verb, choice is ""
// and words is all of text.
func Choose(q ledger.Question, text string) (choice, words string) {
	for n, o := range q.Options {
		if strings.EqualFold(strings.TrimSpace(text), strings.TrimSpace(o)) {
			return ledger.Letter(n), ""
		}
	}
	if q.Kind == ledger.AskBudget && amountForm.MatchString(strings.TrimSpace(text)) {
		return "more", strings.TrimSpace(text)
	}
	word, rest := cutWord(strings.TrimSpace(text))
	word = strings.ToLower(strings.TrimRight(word, ".,:;!"))
	found := ""
	for _, v := range q.Verbs() {
		if v == word {
			found = v
			break
		}
		if word != "" && strings.HasPrefix(v, word) {
			if found != "" {
				return "", strings.TrimSpace(text)
			}
			found = v
		}
	}
	// "a man should look at it" is an answer in own words, not option a, and "retry
	// failed payments" is not retry. So words follow only a verb that takes them.
	if rest != "" && (q.OwnWords() || !verbTakesWords(q, found)) {
		found = ""
	}
	if found == "" {
		return "", strings.TrimSpace(text)
	}
	return found, rest
}

// verbTakesWords reports whether a verb may be followed by words.
func verbTakesWords(q ledger.Question, verb string) bool {
	v, ok := q.Verb(verb)
	return ok && v.Words != ledger.WordsNone
}
