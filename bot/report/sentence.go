package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// sentences returns the two sentences that a digest begins with: what is done, and what
// that leaves to a person, or why the work ended. They are composed of facts of the
// ledger alone, so that the same night always reads the same. The one is left out that
// has nothing to say.
func (f Facts) sentences() []string {
	standing := f.standing()
	if e, ok := f.lastEnding(); ok && f.tellsEnd() {
		standing += e.clause()
	}
	var out []string
	for _, text := range []string{standing, f.matter()} {
		if text != "" {
			out = append(out, text+".")
		}
	}
	return out
}

// standing says what is done: "Nine of twelve tasks are done and on the branch, three of
// them new".
func (f Facts) standing() string {
	if f.Scripted {
		return "The scripted agent worked, so nothing was really done"
	}
	text := f.doneOfAll()
	switch {
	case f.Done == 0 && f.Live:
		return text + " yet"
	case f.Done == 0:
		return text
	}
	text += f.whereDone()
	switch n := len(f.Completed); {
	case f.TipRed && f.whereDone() != "":
		return text + ", but its checks fail"
	case f.TipRed:
		return text + ", but the checks of the branch fail"
	case n == 0 && len(f.Sessions) > 0:
		text += ", none of them new"
	case n > 0 && n < f.Done:
		text += ", " + numberWord(n) + " of them new"
	}
	if len(f.Runs) > 1 && len(f.Completed) > 0 {
		text += ", after " + numberWord(len(f.Runs)) + " runs"
	}
	return text
}

// doneOfAll counts the done tasks in words: "Nine of twelve tasks are done".
func (f Facts) doneOfAll() string {
	switch {
	case f.Total == 0:
		return "No task is known"
	case f.Total == 1 && f.Done == 1:
		return "The only task is done"
	case f.Total == 1:
		return "The only task is not done"
	case f.Total == 2 && f.Done == 2:
		return "Both tasks are done"
	case f.Done == f.Total:
		return "All " + numberWord(f.Total) + " tasks are done"
	case f.Done == 0:
		return "None of " + numberWord(f.Total) + " tasks is done"
	case f.Done == 1:
		return "One of " + numberWord(f.Total) + " tasks is done"
	}
	return capital(numberWord(f.Done)) + " of " + numberWord(f.Total) + " tasks are done"
}

// whereDone says where the commits of all done tasks are, "" if some have none.
func (f Facts) whereDone() string {
	switch {
	case f.Branch == "" || f.kept < f.Done:
		return ""
	case f.remote.Request != nil && bot.RemoteText(f.tip, f.remote) == bot.RequestText(*f.remote.Request):
		return " and in " + bot.RequestText(*f.remote.Request)
	}
	return " and on the branch"
}

// asking returns the needs that a person settles one by one.
func (f Facts) asking() []Need {
	return slices.DeleteFunc(slices.Clone(f.Needs), func(n Need) bool { return n.Holds != "" || n.Task == "" && n.Question.ID == "" })
}

// matter says what the night leaves to a person, or else how the work goes on or why it
// ended.
func (f Facts) matter() string {
	holds, needs := "", f.asking()
	if n := slices.IndexFunc(f.Needs, func(n Need) bool { return n.Holds != "" }); n >= 0 {
		holds = f.Needs[n].Holds
	}
	switch {
	case holds != "" && len(needs) > 0:
		return holds + ", and " + countNeeds(needs)
	case holds != "":
		return holds
	case len(needs) == 1:
		return needs[0].alone()
	case len(needs) > 1:
		return capital(countNeeds(needs)) + ": " + needs[0].name() + needs[0].which() + ", comes first"
	case f.limited != "":
		return "A limit holds up the rest " + f.limited + ", and nothing needs you"
	case f.Live && f.Done == 0:
		return "The work has begun, and nothing needs you"
	case f.Live && f.Left > 0:
		return capital(numberWord(f.Left)) + " " + isAre(f.Left) + " left, and nothing needs you"
	case f.Live:
		return "Nothing is left but the end of the run, and nothing needs you"
	}
	if len(f.Completed) > 0 && f.Left == 0 {
		return f.whatToDo()
	}
	if e, ok := f.lastEnding(); ok {
		return "The last run " + e.How
	}
	if f.Left > 0 && f.canStart {
		return "No run is under way"
	}
	return ""
}

// whatToDo says what a night in which everything was done leaves to a person.
func (f Facts) whatToDo() string {
	switch unsure := len(f.unsure()); {
	case f.Scripted:
		return ""
	case f.TipRed:
		return "It needs a look of yours before it is pushed"
	case len(f.Red) > 0:
		return "Not all of it is green, so it needs a look of yours"
	case unsure == 1:
		return "One of them is yours to look at before a merge"
	case unsure > 1:
		return capital(numberWord(unsure)) + " of them are yours to look at before a merge"
	case f.Branch == "":
		return ""
	case f.verified:
		return "The branch passes its checks, and nothing waits for you"
	}
	return "No command has checked the branch as it is now"
}

// name returns a need's task for a sentence: "Refund flow (#8)"; its question, if it is
// about none: "a question (q9)".
func (n Need) name() string {
	if n.Task == "" {
		return "A question (" + n.Question.ID + ")"
	}
	title := bot.Cut(bot.Clean(n.Title), 32)
	if title == "" {
		return shortID(n.Task)
	}
	return title + " (" + shortID(n.Task) + ")"
}

// alone says what a need that is the only one waits for.
func (n Need) alone() string {
	switch n.Question.Kind {
	case ledger.AskReview:
		return "The run is paused until you have looked at what it did"
	case ledger.AskBaseline:
		return "Checks fail before any work, and the run waits for your answer"
	case ledger.AskBlocked, "":
		if n.Sign == bot.SignBlocked {
			return n.name() + " waits for you" + because(n.Cause)
		}
		return n.name() + " waits for a look of yours"
	case ledger.AskManual:
		return n.name() + " waits for a look of yours"
	case ledger.AskChecks:
		return n.name() + " changed its own checks, and waits for your yes or no"
	case ledger.AskPlan, ledger.AskIdea:
		return n.name() + " has a plan that waits for your yes or no"
	}
	return n.name() + " waits for your answer"
}

// because returns the cause of a blocked task as a clause, "" if it is unknown.
func because(c Cause) string {
	if text := causes[c]; text != "" {
		return ", because it" + text
	}
	return ""
}

// which returns the cause of a blocked task as a clause about it, "" if it is unknown.
func (n Need) which() string {
	if text := causes[n.Cause]; text != "" && n.Sign == bot.SignBlocked {
		return ", which" + text
	}
	return ""
}

// causes says of a blocked task what keeps it from being done.
var causes = map[Cause]string{
	CauseDecision: " needs a decision of yours",
	CauseRed:      " still fails its checks",
	CauseStalled:  " came no further",
	CauseLimit:    " took more sessions than it may",
	CauseSilent:   " had sessions that came to nothing",
}

// countNeeds counts needs in words: "three tasks wait for you", "one question waits for
// you".
func countNeeds(needs []Need) string {
	word := "task"
	if slices.ContainsFunc(needs, func(n Need) bool { return n.Task == "" }) {
		word = "question"
		if slices.ContainsFunc(needs, func(n Need) bool { return n.Task != "" }) {
			word = "thing"
		}
	}
	if len(needs) == 1 {
		return "one " + word + " waits for you"
	}
	return numberWord(len(needs)) + " " + word + "s wait for you"
}

var numberWords = strings.Fields("no one two three four five six seven eight nine ten eleven twelve")

// numberWord returns a number as a person writes it: in words up to twelve.
func numberWord(n int) string {
	if n >= 0 && n < len(numberWords) {
		return numberWords[n]
	}
	return fmt.Sprint(n)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// capital returns a text with its first letter in upper case, as a sentence begins.
func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
