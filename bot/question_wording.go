package bot

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

func init() {
	wordings = map[ledger.QuestionKind]wording{
		ledger.AskBlocked: {
			sign: SignBlocked,
			headline: func(s loop.State, q ledger.Question) string {
				text := shortID(q.Task) + " blocked"
				if t, ok := FindTask(s, q.Task); ok && t.Failed > 0 {
					text += ", " + Plural(t.Failed, "attempt")
				}
				return text
			},
			first: firstWithProject, body: (*Message).described, past: (*Message).pastQuoted,
			waits: func(s loop.State, q ledger.Question) string {
				return joinClauses("Stays blocked", blockedEffects(s, q))
			},
			then:    fixedText("it stays as it is."),
			expired: onlyOver, terse: blockedEffects,
			verbs: map[string]verbWording{
				"retry": {label: "Retry", after: triedAgain, overrule: retryAgain},
				"skip":  {label: "Skip", after: putAway, overrule: skipAgain},
				"guide": {label: "Guide", words: "WORDS", settled: "guided",
					after: func(q ledger.Question, item string) string {
						return orElse(item, "Your words") + " → " + shortID(q.Task) + ", next attempt."
					},
					overrule: func(s loop.Answered, words string, _ time.Time) Button { return guideAgain(s, words) }},
			},
			task: waitsForAnswer, text: TextOutcome, failed: true, buttons: buttonVerbs,
			runEnd: func(q ledger.Question) (string, string) { return "Retry " + shortID(q.Task), q.ID + " retry" },
		},
		ledger.AskManual: {
			sign:     SignAsk,
			headline: func(_ loop.State, q ledger.Question) string { return shortID(q.Task) + " manual verify" },
			first:    firstWithProject, body: (*Message).described, past: (*Message).pastTitled, facts: (*Message).pictured,
			waits: func(s loop.State, q ledger.Question) string {
				if Doing(s) == "" && NextReady(s, q.Task) == "" {
					return waitsLong
				}
				return "Waits as long as it takes; others go on."
			},
			then:    fixedText("it stays as it is."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"pass": {label: "Pass", after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " is done and ticked." },
					overrule: func(s loop.Answered, _ string, now time.Time) Button {
						if s.Before != nil && !now.After(s.At.Add(loop.UndoTime)) {
							return Button{Command: Undoing(s.ID)}
						}
						return Button{}
					}},
				"fail": {label: "Fail", words: "WHAT YOU SAW",
					after:    func(q ledger.Question, _ string) string { return shortID(q.Task) + " is done again, with these words." },
					overrule: retryAgain}, // a passed task is done: only a retry runs it again
			},
			task: waitsForAnswer, need: fixedNeed("manual verify"), text: TextSteps, buttons: buttonVerbs,
			runEnd: func(q ledger.Question) (string, string) { return "Pass " + shortID(q.Task), q.ID + " pass" },
		},
		ledger.AskAgent: {
			sign: SignAsk,
			headline: func(_ loop.State, q ledger.Question) string {
				switch {
				case q.Task != "":
					return shortID(q.Task) + " asks"
				case q.Title != "":
					return Cut(Foreign(q.Title), 30)
				}
				return "A question"
			},
			first: asking, body: (*Message).described, past: (*Message).pastQuoted,
			waits: fixedText(waitsLong), then: unchosen,
			expired: func(q ledger.Question, b ledger.QuestionExpired) string {
				if n := OptionOf(q, b.Choice); n >= 0 {
					return strings.ToUpper(ledger.Letter(n))
				}
				return Cut(Foreign(b.Choice), 10)
			},
			verbs: map[string]verbWording{"skip": {label: "Skip task", after: putAway, overrule: skipAgain}},
			own: &verbWording{
				after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " goes on with it." },
			},
			task: waitsForAnswer, buttons: buttonAnswer,
			runEnd: answerButton,
		},
		ledger.AskBaseline: {
			sign:     SignAsk,
			headline: func(loop.State, ledger.Question) string { return "Tests fail before any work" },
			first:    firstWithProject, body: (*Message).described, past: (*Message).pastQuoted,
			waits: fixedText(waitsLong),
			then: func(s loop.State, _ ledger.Question) string {
				if s.Project.Run != nil && s.Project.Run.Settings.Profile == "review" {
					return "not started."
				}
				return "goes on, shown on every task."
			},
			expired: func(_ ledger.Question, b ledger.QuestionExpired) string { return Foreign(b.Choice) },
			verbs: map[string]verbWording{
				"fix":  {label: "Fix", means: "a task that mends them comes first", after: fixedAfter("The run mends it first.")},
				"go":   {label: "Go", means: "goes on; it is shown on every task", after: fixedAfter("The run goes on; it is shown on every task.")},
				"stop": {label: "Stop", after: fixedAfter("Nothing was started."), overrule: fixedCommand("/stop")},
			},
			withdrawn: true, task: waitsForAnswer, buttons: buttonAnswer,
		},
		ledger.AskReview: {
			sign:     SignPaused,
			headline: func(s loop.State, _ ledger.Question) string { return Count(s).String() + " done, paused" },
			first:    firstWithProject, body: (*Message).described, past: (*Message).pastQuoted,
			waits: fixedText("Stays paused until you resume."), then: fixedText("it stays as it is."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"resume": {label: "Resume", after: fixedAfter("The run goes on."), overrule: fixedCommand("/resume")},
				"stop":   {label: "Stop", after: fixedAfter("The run ends."), overrule: fixedCommand("/stop")},
			},
			withdrawn: true, task: waitsForAnswer, buttons: buttonFirst,
		},
		ledger.AskUnticked: {
			sign:     SignAsk,
			headline: func(_ loop.State, q ledger.Question) string { return Plural(len(q.Tasks), "done task") + " open again" },
			first:    firstWithProject, body: (*Message).described, past: (*Message).pastQuoted,
			waits: fixedText(waitsLong), then: fixedText("they stay done."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"keep": {label: "Keep", means: "they stay done", after: fixedAfter("They stay done.")},
				"redo": {label: "Redo", means: "they are done again", after: fixedAfter("They are done again."), overrule: commandForAll("/retry ")},
			},
			withdrawn: true, task: waitsForAnswer, buttons: buttonAnswer,
		},
		ledger.AskSkip: {
			sign:     SignAsk,
			headline: func(_ loop.State, q ledger.Question) string { return shortID(q.Task) + " skipped; what needs it?" },
			first:    firstWithProject, body: (*Message).described, past: (*Message).pastQuoted,
			waits: fixedText(waitsLong), then: fixedText("what needs it waits."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"wait": {label: "Wait", means: "what needs it waits", after: fixedAfter("What needs it waits."), overrule: commandForAll("/retry ")},
				"skip": {label: "Skip", means: "what needs it is skipped too", after: fixedAfter("What needs it is skipped too."), overrule: commandForAll("/skip ")},
			},
			task: waitsForAnswer, buttons: buttonAnswer,
		},
		ledger.AskRemake: {
			sign: SignAsk,
			headline: func(_ loop.State, q ledger.Question) string {
				return Cut("Take "+Ranges(q.Tasks), 24) + " out of " + Foreign(q.Title) + "?"
			},
			first: firstAlone, past: (*Message).pastHead,
			body: func(m *Message, s loop.State, q ledger.Question, _ time.Time) {
				m.add(remakeStays(s, q))
				if q.Remake != nil && len(q.Remake.Back) > 0 {
					m.add("Back again: " + Ranges(q.Remake.Back))
				}
				m.needs(q)
			},
			waits: fixedText(waitsLong), then: fixedText("nothing is changed."),
			expired: fixedExpiry("nothing changed"), untimed: true,
			verbs: map[string]verbWording{
				"drop":   {label: "Take out", settled: "taken out", after: fixedAfter("The branch is made again; what it is worth is told.")},
				"cancel": {harmless: true, label: "Cancel", after: fixedAfter("Nothing was changed.")},
			},
			task: waitsForAnswer, text: TextOffer, buttons: buttonAnswer,
		},
		ledger.AskIdea: {
			sign: SignAsk, headline: ideaHead,
			first: firstWithProject, body: (*Message).drafted, past: (*Message).pastQuoted,
			waits: fixedText(waitsLong), then: fixedText("dropped, nothing is written."),
			expired: fixedExpiry("dropped"),
			verbs: map[string]verbWording{
				"start":  {label: "Start tonight", after: fixedAfter("The tasks are written, then the run starts.")},
				"change": {label: "Change", words: "WORDS", after: fixedAfter("Planned again, with these words.")},
				"drop":   {label: "Drop", after: fixedAfter("Nothing was written.")},
			},
			task: waitsForAnswer, buttons: buttonAnswer,
		},
		ledger.AskThreshold: {
			sign: SignAsk, headline: thresholdHead,
			first: firstWithProject, past: func(m *Message, s loop.State, q ledger.Question) { m.pastHead(s, q); m.evidenceFor(q) },
			body:  func(m *Message, _ loop.State, q ledger.Question, _ time.Time) { m.evidenceFor(q) },
			waits: fixedText("Stays as it is until you say so."), then: fixedText("it stays as it is."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"use":  {label: "Use it", settled: "used", after: thresholdUsed, overrule: fixedCommand("/threshold")},
				"keep": {label: "Keep as it is", settled: "kept", after: fixedAfter("Stays as it is; not asked again."), overrule: fixedCommand("/threshold")},
			},
			task: waitsForAnswer, text: TextOffer, buttons: buttonAnswer,
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
				m.add("Its work so far is done again; what it wrote is kept" + keptNote(q.Task) + ".")
			},
			waits: fixedText(waitsLong), then: fixedText("queued, nothing is stopped."),
			expired: fixedExpiry("queued"),
			verbs: map[string]verbWording{
				"queue": {harmless: true, label: "Queue it", after: func(_ ledger.Question, item string) string {
					return orElse(item, "It") + " waits for the next session; nothing is stopped."
				}},
				"rerun": {label: "Rerun now", after: func(_ ledger.Question, item string) string {
					return orElse(item, "It") + " goes into the session that starts now."
				}},
			},
			task: waitsForAnswer, buttons: buttonAnswer,
		},
		ledger.AskHost: {
			sign:     SignAsk,
			headline: func(_ loop.State, q ledger.Question) string { return hostHead(q, quoteWidth) },
			first:    hostFirst, body: (*Message).askHost, past: (*Message).pastHost,
			waits: fixedText("Closed until you answer; the session goes on."), then: fixedText("it stays closed."),
			terse: fixedText("closed until answered"), expired: fixedExpiry("it stayed closed"), untimed: true,
			verbs: map[string]verbWording{
				"once":   {label: "Once", means: "until this session ends", settled: "open once", after: fixedAfter("It is open until the session ends.")},
				"run":    {label: "This run", means: "until the run ends", settled: "open for the run", after: fixedAfter("It is open until the run ends.")},
				"always": {label: "Always", means: "until taken back with /net", settled: "open for good", after: fixedAfter("It is open from now on. /net takes it back.")},
				"no":     {harmless: true, label: "No", means: "this run does not ask again", settled: "stays closed", after: fixedAfter("It stays closed; this run does not ask again.")},
			},
			task: waitsForAnswer, need: fixedNeed("a host?"), text: TextOffer, buttons: buttonAnswer,
		},
		ledger.AskMerge: {
			sign: SignAsk, headline: mergeHead,
			first: firstAlone, past: (*Message).pastHead, body: (*Message).confirmMerge,
			waits: fixedText(waitsLong), then: fixedText("not merged."),
			expired: fixedExpiry("not merged"), untimed: true,
			verbs: map[string]verbWording{
				"merge":  {label: "Merge", after: fixedAfter("It is being merged; you are told what came of it.")},
				"cancel": {harmless: true, label: "Cancel", after: fixedAfter("Nothing was merged.")},
			},
			task: waitsForAnswer, text: TextOffer, buttons: buttonAnswer,
		},
		ledger.AskStart: {
			sign: SignAsk,
			headline: func(s loop.State, q ledger.Question) string {
				tasks, _ := offeredTasks(q)
				return strings.TrimSpace("Start " + Cut(s.Project.Name, 12) + "? " + tasks)
			},
			first: firstAlone, past: (*Message).pastHead,
			body: func(m *Message, s loop.State, q ledger.Question, _ time.Time) {
				for _, line := range offered(s, q) {
					m.add(line)
				}
			},
			waits: fixedText(waitsLong), then: fixedText("not started."),
			expired: fixedExpiry("not started"), untimed: true,
			verbs: map[string]verbWording{
				"start":    {label: "Start", labelFor: startLabel, after: fixedAfter(looksFirst)},
				"parallel": {label: "Several", labelFor: lanesLabel, settled: "Several at a time", after: fixedAfter(looksFirst)},
				"review":   {label: asReview, settled: asReview, after: fixedAfter(looksFirst)},
				"cancel":   {harmless: true, label: "Cancel", after: fixedAfter("Nothing was started.")},
			},
			task: waitsForAnswer, text: TextOffer, buttons: buttonAnswer,
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
				m.add("Sent " + Clock(sentAt(q), now) + " by " + Cut(Foreign(q.By), 20) + ", read " + Clock(q.Asked, now) + ".")
			},
			waits: fixedText(waitsLong), then: fixedText("not done."),
			expired: fixedExpiry("not done"), untimed: true,
			verbs: map[string]verbWording{
				"no":  {harmless: true, label: "Keep going", after: fixedAfter("Nothing was done.")},
				"yes": {label: "Do it", labelFor: deferredLabel, after: fixedAfter("Done.")},
			},
			task: waitsForAnswer, text: TextOffer, buttons: buttonAnswer,
		},
		ledger.AskPlan: {
			sign: SignAsk, headline: planHead,
			first: firstWithProject, past: (*Message).pastQuoted,
			body: (*Message).described, facts: (*Message).verdicts,
			waits: fixedText("No answer: nothing starts."), terse: fixedText("No answer: nothing starts."), then: fixedText("nothing starts."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"approve": {label: "Approve", after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " is built as planned." }},
				"reject": {label: "Reject", words: "WHY",
					after: func(q ledger.Question, _ string) string {
						return shortID(q.Task) + " is planned anew, with these words."
					},
					// Only admins are asked this question, so its reader may use /plan redo.
					overrule: func(s loop.Answered, _ string, _ time.Time) Button {
						return redoPlan("", s.Subject.Task)
					}},
			},
			closed: map[string]func(ledger.Question, string) string{"retry": triedAgain, "skip": putAway},
			task:   "asks about its plan", need: fixedNeed("plan ready"), reads: true, buttons: buttonRead,
			runEnd: func(q ledger.Question) (string, string) { return "Read " + shortID(q.Task), PlanCommand(q) },
		},
		ledger.AskBudget: {
			sign: SignAsk, headline: budgetHead,
			first: firstWithProject, past: (*Message).pastHead,
			body:  func(m *Message, s loop.State, q ledger.Question, _ time.Time) { m.budget(s, q) },
			waits: fixedText("Other work that fits goes on."), then: fixedText("nothing more is spent."),
			expired: fixedExpiry("withdrawn"),
			verbs: map[string]verbWording{
				"more": {label: "More", labelFor: func(q ledger.Question) string { return "+" + budgetAmount(q.Shortage(), q.Shortage().Step) }, meansFor: budgetMore, after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " goes on." }},
				"task": {label: "This task only", means: "it has no limit in this run, but a day's unless that is asked about", after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " goes on" + liftedText(q) + "." }},
				"stop": {harmless: true, label: "Stop", means: "the run ends", after: fixedAfter("The run ends.")},
			},
			task: waitsForAnswer, need: fixedNeed("budget"), buttons: buttonAnswer,
			runEnd: answerButton,
		},
		ledger.AskSecret: {
			sign:     SignAsk,
			headline: func(_ loop.State, q ledger.Question) string { return shortID(q.Task) + " wrote a secret?" },
			first:    firstWithProject, body: (*Message).described, facts: func(m *Message, _ loop.State, q ledger.Question) { m.secrets(q) },
			past:  func(m *Message, s loop.State, q ledger.Question) { m.pastQuoted(s, q); m.secrets(q) },
			waits: fixedText("Waits as long as it takes; nothing of it is committed."), then: fixedText("nothing is committed."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"again":    {label: "Do it again", means: "its work is undone and done again", after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " is done again without it." }},
				"harmless": {label: "No secret", means: "the work goes on; it is not asked about again", after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " goes on with it." }},
			},
			task: waitsForAnswer, need: fixedNeed("a secret?"), buttons: buttonAnswer,
			runEnd: answerButton,
		},
		ledger.AskNewFiles: {
			sign: SignAsk,
			headline: func(_ loop.State, q ledger.Question) string {
				return shortID(q.Task) + " made " + newFilesCount(q) + " new files"
			},
			first: firstWithProject, body: (*Message).described, facts: func(m *Message, _ loop.State, q ledger.Question) { m.newFiles(q) },
			past:  func(m *Message, s loop.State, q ledger.Question) { m.pastQuoted(s, q); m.newFiles(q) },
			waits: fixedText(waitsLong), then: fixedText("left out."),
			expired: fixedExpiry("left out"),
			verbs: map[string]verbWording{
				"ignore": {harmless: true, label: "Leave out", means: "the rest of the work goes on", after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " goes on without them." }},
				"take":   {label: "Take over", means: "the work is done again, with them", after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " is done again, with all of them." }},
			},
			task: waitsForAnswer, need: fixedNeed("new files?"), buttons: buttonAnswer,
			runEnd: answerButton,
		},
		ledger.AskChecks: {
			sign:     SignAsk,
			headline: func(_ loop.State, q ledger.Question) string { return shortID(q.Task) + " " + checksNeed(q) },
			first:    firstWithProject, body: (*Message).described, facts: func(m *Message, _ loop.State, q ledger.Question) { m.checks(q) },
			past:  func(m *Message, s loop.State, q ledger.Question) { m.pastQuoted(s, q); m.checks(q) },
			waits: fixedText("Waits as long as it takes; look at it before you merge."), then: fixedText("look at it before you merge."),
			expired: onlyOver,
			verbs: map[string]verbWording{
				"allow": {label: "Allow", means: "it counts as it is", after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " counts as it is." }},
				"redo": {label: "Redo without", means: "done again, by the old checks", after: func(q ledger.Question, _ string) string {
					return shortID(q.Task) + " is done again, by the old checks."
				}},
			},
			task: "asks about its checks", need: checksNeed, buttons: buttonAnswer,
			runEnd: answerButton,
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
			waits: fixedText(waitsLong), then: fixedText("stays out."),
			expired: fixedExpiry("stays out"),
			verbs: map[string]verbWording{
				"deny":  {harmless: true, label: "Deny", after: func(q ledger.Question, _ string) string { return "It stays out of " + shortID(q.Task) + "." }},
				"allow": {label: "Allow", after: func(q ledger.Question, _ string) string { return shortID(q.Task) + " may write it from now on." }},
			},
			task: "asks to write outside", buttons: buttonAnswer,
			runEnd: answerButton,
		},
	}
}

const (
	waitsLong  = "Waits as long as it takes."
	looksFirst = "It looks first at what would fail at night, then starts."
)

// fixedText returns a table cell that is the same text for every question.
func fixedText(text string) func(loop.State, ledger.Question) string {
	return func(loop.State, ledger.Question) string { return text }
}

// fixedNeed returns a "need" cell that is the same text for every question.
func fixedNeed(text string) func(ledger.Question) string {
	return func(ledger.Question) string { return text }
}

// fixedAfter returns an "after" cell with the same text for every question.
func fixedAfter(text string) func(ledger.Question, string) string {
	return func(ledger.Question, string) string { return text }
}

// fixedExpiry returns an "expired" cell with the same text for every expiry.
func fixedExpiry(text string) func(ledger.Question, ledger.QuestionExpired) string {
	return func(ledger.Question, ledger.QuestionExpired) string { return text }
}

func onlyOver(ledger.Question, ledger.QuestionExpired) string { return "" }

func triedAgain(q ledger.Question, _ string) string { return shortID(q.Task) + " is tried again." }
func putAway(q ledger.Question, _ string) string    { return shortID(q.Task) + " is put away." }

func retryAgain(s loop.Answered, _ string, _ time.Time) Button {
	return Button{Command: "/retry " + idArg(s.Subject.Task)}
}

func skipAgain(s loop.Answered, _ string, _ time.Time) Button {
	return Button{Command: "/skip " + idArg(s.Subject.Task)}
}

func fixedCommand(line string) func(loop.Answered, string, time.Time) Button {
	return func(loop.Answered, string, time.Time) Button { return Button{Command: line} }
}

// commandForAll returns an "overrule" cell: a command about all tasks of a
// settled question.
func commandForAll(command string) func(loop.Answered, string, time.Time) Button {
	return func(s loop.Answered, _ string, _ time.Time) Button {
		if all := taskArgs(s.Subject.Tasks); all != "" {
			return Button{Command: command + all}
		}
		return Button{}
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
