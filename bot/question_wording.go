package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// verbWording holds the texts that people read about one answer to a kind of
// question.
type verbWording struct {
	label    string                                      // label of its button; ends with "…" if words have to be typed after it
	labelFor func(q ledger.Question) string              // labelFor returns the label if it depends on the question; nil: label
	words    string                                      // placeholder for the words to type after the verb: "WHY"; "" = no words needed
	means    string                                      // explanation of the verb, "" if the label is enough
	settled  string                                      // text in the question's message after this answer; "" = the verb's name
	after    func(q ledger.Question, item string) string // returns the consequence; item is the id of the guidance that the answer's words became
	// overrule returns the command that still achieves this answer after another
	// answer settled the question, "" if no command does; nil: never any.
	overrule func(s loop.Answered, words string, now time.Time) string
}

// wording holds the texts that people read about one kind of question.
type wording struct {
	sign     string
	headline func(s loop.State, q ledger.Question) string            // headline of the question in one line, without its sign
	first    func(s loop.State, q ledger.Question, width int) string // first line of the question's message
	body     func(m *Message, s loop.State, q ledger.Question, now time.Time)
	facts    func(m *Message, s loop.State, q ledger.Question)        // adds lines below the question's text; nil: none
	waits    func(s loop.State, q ledger.Question) string             // what happens without an answer, for a question that never expires
	then     func(s loop.State, q ledger.Question) string             // what happens without an answer, for a question that expires
	past     func(m *Message, s loop.State, q ledger.Question)        // adds the question's subject to its message after it is settled
	expired  func(q ledger.Question, b ledger.QuestionExpired) string // the consequence of the question's expiry, "" = none
	untimed  bool                                                     // the message about the question's expiry shows no time
	verbs    map[string]verbWording
	own      *verbWording // wording of an option or a free-text answer; nil: the kind takes neither
	// closed maps a command that settled the question without being one of its verbs
	// to the consequence.
	closed map[string]func(q ledger.Question, item string) string

	terse     func(s loop.State, q ledger.Question) string    // text for a terminal about the wait for a question that never expires; nil: none
	withdrawn bool                                            // people are not told that it ended without an answer
	task      string                                          // state of the waiting task, in a list of tasks
	need      string                                          // text after the task in a digest; "" = the question's text, or its headline if it has no task of its own
	text      TextForm                                        // layout of its text
	reads     bool                                            // the question has a plan that /plan shows
	buttons   buttonForm                                      // in a digest
	runEnd    func(q ledger.Question) (label, command string) // button in the message about the run's end; nil: none
}

// TextForm is the layout of a question's text.
type TextForm int

const (
	TextQuoted  TextForm = iota // a quotation of an agent or a person
	TextSteps                   // steps of a manual verification, one per line
	TextOutcome                 // the reason why an attempt failed
	TextOffer                   // facts of the offer, which the headline repeats
)

// buttonForm selects a question's buttons in messages that list many questions.
type buttonForm int

const (
	buttonAnswer buttonForm = iota // one button that shows the question
	buttonVerbs                    // a button for each verb, with the task's id
	buttonRead                     // one button that shows its plan
	buttonFirst                    // one button for its likely verb
)

// wordingOf returns the row of a question's kind. A question of an unknown kind,
// from a ledger of a later release, has the texts of an agent's question.
func wordingOf(q ledger.Question) wording {
	if w, ok := wordings[q.Kind]; ok {
		return w
	}
	return wordings[ledger.AskAgent]
}

// TextOf returns the layout of a question's text.
func TextOf(q ledger.Question) TextForm { return wordingOf(q).text }

// ReadCommand returns the command that shows the plan a question is about, "" for
// questions whose message contains everything.
func ReadCommand(q ledger.Question) string {
	if wordingOf(q).reads {
		return PlanCommand(q)
	}
	return ""
}

// WhileWaiting returns what the run does while a question without an expiry is open,
// "" if it has no text for that.
func WhileWaiting(s loop.State, q ledger.Question) string {
	if terse := wordingOf(q).terse; terse != nil {
		return terse(s, q)
	}
	return ""
}

// EndIsNews reports whether people are told about the expiry b of a question.
// Some kinds are settled by another event, which has a message of its own.
func EndIsNews(q ledger.Question, b ledger.QuestionExpired) bool {
	return b.Choice != "" || !wordingOf(q).withdrawn
}

// verb returns the wording of a recorded answer: a verb, or an option or own
// words where the kind takes them.
func (w wording) verb(choice string) (verbWording, bool) {
	if v, ok := w.verbs[choice]; ok {
		return v, true
	}
	if w.own != nil {
		return *w.own, true
	}
	return verbWording{}, false
}

// wordings has a row for each kind of question that package loop knows. It is
// filled by init because some cells look up others.
var wordings map[ledger.QuestionKind]wording

func init() {
	wordings = map[ledger.QuestionKind]wording{
		ledger.AskBlocked: {
			sign: SignBlocked,
			headline: func(s loop.State, q ledger.Question) string {
				text := short(q.Task) + " blocked"
				if t, ok := FindTask(s, q.Task); ok && t.Failed > 0 {
					text += ", " + Plural(t.Failed, "attempt")
				}
				return text
			},
			first: firstWithProject, body: (*Message).described, past: (*Message).pastQuoted,
			waits:   func(s loop.State, q ledger.Question) string { return join("Stays blocked", others(s, q)) },
			then:    says("it stays as it is."),
			expired: onlyOver, terse: others,
			verbs: map[string]verbWording{
				"retry": {label: "Retry", after: triedAgain, overrule: retryAgain},
				"skip":  {label: "Skip", after: putAway, overrule: skipAgain},
				"guide": {label: "Guide…", words: "WORDS", settled: "guided",
					after: func(q ledger.Question, item string) string {
						return orElse(item, "Your words") + " → " + short(q.Task) + ", next attempt."
					},
					overrule: func(s loop.Answered, words string, _ time.Time) string { return guideAgain(s, words) }},
			},
			task: asks, text: TextOutcome, buttons: buttonVerbs,
			runEnd: func(q ledger.Question) (string, string) { return "Retry " + short(q.Task), q.ID + " retry" },
		},
		ledger.AskManual: {
			sign:     SignAsk,
			headline: func(_ loop.State, q ledger.Question) string { return short(q.Task) + " manual verify" },
			first:    firstWithProject, body: (*Message).described, past: (*Message).pastTitled,
			waits: func(s loop.State, q ledger.Question) string {
				if Doing(s) == "" && NextReady(s, q.Task) == "" {
					return waitsLong
				}
				return "Waits as long as it takes; others go on."
			},
			then:    says("it stays as it is."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"pass": {label: "Pass", after: func(q ledger.Question, _ string) string { return short(q.Task) + " is done and ticked." },
					overrule: func(s loop.Answered, _ string, now time.Time) string {
						if s.Before != nil && !now.After(s.At.Add(loop.UndoTime)) {
							return Undoing(s.ID)
						}
						return ""
					}},
				"fail": {label: "Fail…", words: "WHAT YOU SAW",
					after:    func(q ledger.Question, _ string) string { return short(q.Task) + " is done again, with these words." },
					overrule: retryAgain}, // a passed task is done: only a retry runs it again
			},
			task: asks, need: "manual verify", text: TextSteps, buttons: buttonVerbs,
			runEnd: func(q ledger.Question) (string, string) { return "Pass " + short(q.Task), q.ID + " pass" },
		},
		ledger.AskAgent: {
			sign: SignAsk,
			headline: func(_ loop.State, q ledger.Question) string {
				switch {
				case q.Task != "":
					return short(q.Task) + " asks"
				case q.Title != "":
					return Cut(Clean(q.Title), 30)
				}
				return "A question"
			},
			first: asking, body: (*Message).described, past: (*Message).pastQuoted,
			waits: says(waitsLong), then: unchosen,
			expired: func(q ledger.Question, b ledger.QuestionExpired) string {
				if n := OptionOf(q, b.Choice); n >= 0 {
					return strings.ToUpper(ledger.Letter(n))
				}
				return Cut(Clean(b.Choice), 10)
			},
			verbs: map[string]verbWording{"skip": {label: "Skip task", after: putAway, overrule: skipAgain}},
			own: &verbWording{
				after: func(q ledger.Question, _ string) string { return short(q.Task) + " goes on with it." },
			},
			task: asks, buttons: buttonAnswer,
			runEnd: answerButton,
		},
		ledger.AskBaseline: {
			sign:     SignAsk,
			headline: func(loop.State, ledger.Question) string { return "Tests fail before any work" },
			first:    firstWithProject, body: (*Message).described, past: (*Message).pastQuoted,
			waits: says(waitsLong),
			then: func(s loop.State, _ ledger.Question) string {
				if s.Project.Run != nil && s.Project.Run.Settings.Profile == "review" {
					return "not started."
				}
				return "goes on, shown on every task."
			},
			expired: func(_ ledger.Question, b ledger.QuestionExpired) string { return Clean(b.Choice) },
			verbs: map[string]verbWording{
				"fix":  {label: "Fix", means: "a task that mends them comes first", after: comes("The run mends it first.")},
				"go":   {label: "Go", means: "goes on; it is shown on every task", after: comes("The run goes on; it is shown on every task.")},
				"stop": {label: "Stop", after: comes("Nothing was started."), overrule: command("/stop")},
			},
			withdrawn: true, task: asks, buttons: buttonAnswer,
		},
		ledger.AskReview: {
			sign:     SignPaused,
			headline: func(s loop.State, _ ledger.Question) string { return Count(s).String() + " done, paused" },
			first:    firstWithProject, body: (*Message).described, past: (*Message).pastQuoted,
			waits: says("Stays paused until you resume."), then: says("it stays as it is."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"resume": {label: "Resume", after: comes("The run goes on."), overrule: command("/resume")},
				"stop":   {label: "Stop", after: comes("The run ends."), overrule: command("/stop")},
			},
			withdrawn: true, task: asks, buttons: buttonFirst,
		},
		ledger.AskUnticked: {
			sign:     SignAsk,
			headline: func(_ loop.State, q ledger.Question) string { return Plural(len(q.Tasks), "done task") + " open again" },
			first:    firstWithProject, body: (*Message).described, past: (*Message).pastQuoted,
			waits: says(waitsLong), then: says("they stay done."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"keep": {label: "Keep", means: "they stay done", after: comes("They stay done.")},
				"redo": {label: "Redo", means: "they are done again", after: comes("They are done again."), overrule: several("/retry ")},
			},
			withdrawn: true, task: asks, buttons: buttonAnswer,
		},
		ledger.AskSkip: {
			sign:     SignAsk,
			headline: func(_ loop.State, q ledger.Question) string { return short(q.Task) + " skipped; what needs it?" },
			first:    firstWithProject, body: (*Message).described, past: (*Message).pastQuoted,
			waits: says(waitsLong), then: says("what needs it waits."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"wait": {label: "Wait", means: "what needs it waits", after: comes("What needs it waits."), overrule: several("/retry ")},
				"skip": {label: "Skip", means: "what needs it is skipped too", after: comes("What needs it is skipped too."), overrule: several("/skip ")},
			},
			task: asks, buttons: buttonAnswer,
		},
		ledger.AskNow: {
			sign: SignAsk,
			headline: func(s loop.State, _ ledger.Question) string {
				if doing := Doing(s); doing != "" {
					return "Stop " + doing + ", rerun?"
				}
				return "Stop and rerun?"
			},
			first: firstAlone, past: (*Message).pastQuoted,
			body: func(m *Message, s loop.State, q ledger.Question, now time.Time) {
				m.described(s, q, now)
				m.add("Its work so far is done again; what it wrote is kept" + kept(q.Task) + ".")
			},
			waits: says(waitsLong), then: says("queued, nothing is stopped."),
			expired: then("queued"),
			verbs: map[string]verbWording{
				"queue": {label: "Queue it", after: func(_ ledger.Question, item string) string {
					return orElse(item, "It") + " waits for the next session; nothing is stopped."
				}},
				"rerun": {label: "Rerun now", after: func(_ ledger.Question, item string) string {
					return orElse(item, "It") + " goes into the session that starts now."
				}},
			},
			task: asks, buttons: buttonAnswer,
		},
		ledger.AskStart: {
			sign: SignAsk,
			headline: func(s loop.State, q ledger.Question) string {
				text, _, _ := strings.Cut(Clean(q.Text), ", ")
				return strings.TrimSpace("Start " + Cut(s.Project.Name, 12) + "? " + text)
			},
			first: firstAlone, past: (*Message).pastHead,
			body: func(m *Message, s loop.State, q ledger.Question, _ time.Time) {
				for _, line := range offered(s, q) {
					m.add(line)
				}
			},
			waits: says(waitsLong), then: says("not started."),
			expired: then("not started"), untimed: true,
			verbs: map[string]verbWording{
				"start":  {label: "Start", after: comes(looksFirst)},
				"review": {label: asReview, settled: asReview, after: comes(looksFirst)},
				"cancel": {label: "Cancel", after: comes("Nothing was started.")},
			},
			task: asks, text: TextOffer, buttons: buttonAnswer,
		},
		ledger.AskLate: {
			sign: SignAsk,
			headline: func(_ loop.State, q ledger.Question) string {
				text := Cut(Clean(q.Text), 11) + " from " + sentAt(q).Format("15:04")
				if Width(text) > 17 { // the id has to fit in behind a long label such as "/pause now"
					return text + ": still?"
				}
				return text + ": still do it?"
			},
			first: firstAlone, past: (*Message).pastHead,
			body: func(m *Message, _ loop.State, q ledger.Question, now time.Time) {
				m.add("Sent " + Clock(sentAt(q), now) + " by " + Cut(Clean(q.By), 20) + ", read " + Clock(q.Asked, now) + ".")
			},
			waits: says(waitsLong), then: says("not done."),
			expired: then("not done"), untimed: true,
			verbs: map[string]verbWording{
				"no":  {label: "Keep going", after: comes("Nothing was done.")},
				"yes": {label: "Do it", labelFor: deferredLabel, after: comes("Done.")},
			},
			task: asks, text: TextOffer, buttons: buttonAnswer,
		},
		ledger.AskPlan: {
			sign: SignAsk, headline: planHead,
			first: firstWithProject, past: (*Message).pastQuoted,
			body: (*Message).described, facts: (*Message).verdicts,
			waits: says("No answer: nothing starts."), terse: says("No answer: nothing starts."), then: says("nothing starts."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"approve": {label: "Approve", after: func(q ledger.Question, _ string) string { return short(q.Task) + " is built as planned." }},
				"reject": {label: "Reject…", words: "WHY",
					after: func(q ledger.Question, _ string) string { return short(q.Task) + " is planned anew, with these words." },
					// Only admins are asked this question, so its reader may use /plan redo.
					overrule: func(s loop.Answered, _ string, _ time.Time) string {
						return "/plan redo " + arg(s.Subject.Task) + wordsWanted
					}},
			},
			closed: map[string]func(ledger.Question, string) string{"retry": triedAgain, "skip": putAway},
			task:   "asks about its plan", need: "plan ready", reads: true, buttons: buttonRead,
			runEnd: func(q ledger.Question) (string, string) { return "Read " + short(q.Task), PlanCommand(q) },
		},
		ledger.AskAllow: {
			sign:     SignAsk,
			headline: func(_ loop.State, q ledger.Question) string { return outsideHead(q, quoteWidth) },
			first: func(s loop.State, q ledger.Question, width int) string {
				project := SignAsk + " " + Cut(s.Project.Name, 12) + " "
				return project + outsideHead(q, width-Width(project))
			},
			body: (*Message).described, facts: func(m *Message, _ loop.State, q ledger.Question) { m.paths(q) },
			past:  func(m *Message, s loop.State, q ledger.Question) { m.pastQuoted(s, q); m.paths(q) },
			waits: says(waitsLong), then: says("stays out."),
			expired: then("stays out"),
			verbs: map[string]verbWording{
				"deny":  {label: "Deny", after: func(q ledger.Question, _ string) string { return "It stays out of " + short(q.Task) + "." }},
				"allow": {label: "Allow", after: func(q ledger.Question, _ string) string { return short(q.Task) + " may write it from now on." }},
			},
			task: "asks to write outside", buttons: buttonAnswer,
			runEnd: answerButton,
		},
	}
}

const (
	asks       = "asks"
	waitsLong  = "Waits as long as it takes."
	looksFirst = "It looks first at what would fail at night, then starts."
)

// says returns a table cell that is the same text for every question.
func says(text string) func(loop.State, ledger.Question) string {
	return func(loop.State, ledger.Question) string { return text }
}

// comes returns an "after" cell with the same text for every question.
func comes(text string) func(ledger.Question, string) string {
	return func(ledger.Question, string) string { return text }
}

// then returns an "expired" cell with the same text for every expiry.
func then(text string) func(ledger.Question, ledger.QuestionExpired) string {
	return func(ledger.Question, ledger.QuestionExpired) string { return text }
}

func onlyOver(ledger.Question, ledger.QuestionExpired) string { return "" }

func triedAgain(q ledger.Question, _ string) string { return short(q.Task) + " is tried again." }
func putAway(q ledger.Question, _ string) string    { return short(q.Task) + " is put away." }

func retryAgain(s loop.Answered, _ string, _ time.Time) string {
	return "/retry " + arg(s.Subject.Task)
}
func skipAgain(s loop.Answered, _ string, _ time.Time) string { return "/skip " + arg(s.Subject.Task) }

// guideAgain returns the command that gives the late answer's words as guidance
// to the task of the settled question. It leaves out words longer than maxTwin,
// which have to be typed again.
func guideAgain(s loop.Answered, words string) string {
	if words == "" || len(words) > maxTwin {
		return "/guidance #" + arg(s.Subject.Task) + wordsWanted
	}
	return "/guidance #" + arg(s.Subject.Task) + " " + words
}

func command(line string) func(loop.Answered, string, time.Time) string {
	return func(loop.Answered, string, time.Time) string { return line }
}

// several returns an "overrule" cell: a command about all tasks of a settled
// question.
func several(command string) func(loop.Answered, string, time.Time) string {
	return func(s loop.Answered, _ string, _ time.Time) string {
		if all := ids(s.Subject.Tasks); all != "" {
			return command + all
		}
		return ""
	}
}

// deferredLabel returns the first word of the late command that the answer yes
// carries out, as a label.
func deferredLabel(q ledger.Question) string {
	word, _, _ := strings.Cut(string(q.Do), " ")
	if word == "" {
		word = "do it"
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

func answerButton(q ledger.Question) (label, command string) { return "Answer " + q.ID, q.ID }

// firstWithProject begins a question's message with its project and headline.
func firstWithProject(s loop.State, q ledger.Question, width int) string {
	head, sign := Headline(s, q), SignOf(q)
	first := sign + " " + s.Project.Name + " " + head
	if Width(first) > width {
		first = sign + " " + Cut(s.Project.Name, max(6, width-Width(head)-3)) + " " + head
	}
	return first
}

// firstAlone begins a question's message with its headline alone: the headline
// names the project, or the chat makes clear which project is meant.
func firstAlone(s loop.State, q ledger.Question, _ int) string {
	return SignOf(q) + " " + Headline(s, q)
}
