package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot/words"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// What plain words do (docs/spec 6.8). Package words says what a sentence means; here
// stands what follows from it. What stops, spends or merges is offered with a button
// and done by no sentence.

// plainCommand returns the command that a meaning stands for whatever the state of the
// project: a look, at the task that the words name, or one that a person confirms by
// its button. It returns "" for the other meanings.
func plainCommand(m words.Meaning) string {
	now := ""
	if m.Arg == "now" {
		now = " now"
	}
	switch m.Intent {
	case words.Look:
		return strings.TrimSpace("/" + m.Arg + " " + m.Task)
	case words.Stop:
		return "/" + string(VerbStop) + now
	case words.Pause:
		return "/" + string(VerbPause) + now
	case words.Resume:
		return "/" + string(VerbResume)
	case words.Start:
		return "/" + string(VerbRun)
	case words.Merge:
		return "/" + string(VerbMerge)
	}
	return ""
}

// namingProject returns plain words that name a project, and which are a phrase without
// the name, as that phrase about the project: "stop shop", "wie läuft's im shop?", "is
// shop done?". Everything else stays as it is.
func (c Command) namingProject(projects []string) Command {
	if c.Verb != VerbWords || c.Project != "" || words.Read(c.Words).Intent != words.Guidance {
		return c
	}
	all := strings.Fields(c.Words)
	for at, word := range all {
		name := strings.ToLower(strings.Trim(word, ".,:;!?"))
		if !slices.Contains(projects, name) {
			continue
		}
		before, after := all[:at], all[at+1:]
		texts := []string{}
		for _, it := range []string{"it", "es"} { // "is it done?"
			texts = append(texts, strings.Join(slices.Concat(before, []string{it}, after), " "))
		}
		if len(before) == 0 || len(after) == 0 {
			for len(before) > 1 && slices.Contains(beforeProject, strings.ToLower(before[len(before)-1])) {
				before = before[:len(before)-1]
			}
			texts = append(texts, strings.Join(slices.Concat(before, after), " "))
		}
		for _, text := range texts {
			switch words.Read(text).Intent {
			case words.Look, words.Stop, words.Pause, words.Resume, words.Start, words.Retry, words.Skip, words.Merge:
				c.Project, c.Words = name, text
				return c
			}
		}
	}
	return c
}

// beforeProject are words that may stand before a project's name.
var beforeProject = []string{"in", "im", "on", "of", "for", "at", "with", "the", "project", "bei", "beim", "für", "fuer", "mit", "von", "vom", "den", "das", "die", "der", "dem", "projekt"}

// wordsRole returns the role that plain words require: that of the command which they
// stand for. Words that nothing follows from require none but to be paired.
func wordsRole(c Command) ledger.Role {
	m := words.Read(c.Words)
	switch m.Intent {
	case words.Nothing, words.OK, words.Yes, words.No:
		return ledger.RoleView // an answer requires the role of its question: see assent
	}
	if line := plainCommand(m); line != "" {
		if of, err := Parse(line); err == nil {
			return RequiredRole(of)
		}
	}
	return ledger.RoleSteer
}

// plainShared handles plain words that need no project: looks, and words that nothing
// follows from.
func plainShared(ctx context.Context, h sharedRequest) (Message, bool, error) {
	m := words.Read(h.c.Words)
	switch {
	case h.c.Project != "" && !slices.Contains(projectNames(h.service), h.c.Project):
		return Message{}, false, nil // "note: …" begins a sentence
	case m.Intent == words.Look:
		r := h.r
		r.Text, r.Reply, r.About = plainCommand(m), "", ""
		if h.c.Project != "" {
			r.Text = h.c.Project + ": " + r.Text
		}
		out, err := Handle(ctx, h.service, r)
		return out, true, err
	case h.r.Reply == "" && m.Intent == words.Forget:
		return nothingToForget(), true, nil
	case h.r.Reply == "" && (agrees(m.Intent) || m.Intent == words.Nothing):
		return noAnswer(h.openQuestions()), true, nil
	case m.Intent == words.Nothing:
		return noAnswer(nil), true, nil
	}
	return Message{}, false, nil
}

// openQuestions returns the open questions of the project that the words are about, or
// of all projects.
func (h sharedRequest) openQuestions() []ledger.Question {
	var out []ledger.Question
	for _, name := range projectNames(h.service) {
		if in := cmp.Or(h.c.Project, h.r.Project, name); in == name {
			s, _ := stateOf(h.service, name)
			out = append(out, s.Project.Questions...)
		}
	}
	return out
}

// noAnswer is the reply to words that nothing follows from, and that reply to no
// message. Open questions are named: "ok" may have been meant as an answer.
func noAnswer(open []ledger.Question) Message {
	if len(open) == 0 {
		m := newMessage("plain.nothing", SignLater+" Nothing was queued or changed")
		m.add("There was nothing to do in it.")
		return m
	}
	m := refusal("plain.noanswer", SignAsk+" Nothing was answered")
	m.add("An answer is a reply to its question, or one of these:")
	for _, q := range open[:min(len(open), mostButtons)] {
		m.button("Show "+q.ID, q.ID)
	}
	return m
}

// nothingToForget is the reply to words that take something back and do not say what: they
// reply to no message.
func nothingToForget() Message {
	m := newMessage("plain.nothing", SignLater+" Nothing was queued or changed")
	m.add(howToTakeBack)
	return m
}

const howToTakeBack = "To take something back, reply with undo to that message, or see /queue."

// mostButtons limits the buttons of a message that has one for each of several
// things.
const mostButtons = 6

// plainWords carries out plain words within a project.
func plainWords(ctx context.Context, d dispatch) (Message, error) {
	m := words.Read(d.c.Words)
	if q, open := d.question(d.r.Reply); open {
		answers := agrees(m.Intent) || m.Intent == words.Choose || namesAnswer(q, d.c.Words)
		switch who, known := d.sender(); {
		case answers && known && !who.Role.May(q.Role()):
			return Forbidden(d.s.Shared, who), nil
		case agrees(m.Intent):
			return d.assent(ctx, q, m.Intent)
		case m.Intent == words.Choose && offersOption(q, m.Arg):
			return d.do(ctx, loop.AnswerQuestion{Question: q.ID, Choice: m.Arg})
		case m.Intent == words.Choose, namesAnswer(q, d.c.Words):
			answer := d.with(VerbAnswer, q.ID)
			answer.c.Words = d.c.Words
			return answerQuestion(ctx, answer)
		}
	}
	if s, settled := d.s.Project.SettledQuestion(d.r.Reply); settled {
		switch {
		case agrees(m.Intent):
			return settledAlready(s, m.Intent, d.r), nil
		case m.Intent == words.Choose: // an expired question still takes it
			return d.do(ctx, loop.AnswerQuestion{Question: s.ID, Choice: m.Arg})
		}
	}
	switch m.Intent {
	case words.Stop, words.Pause:
		return d.asAnswer(d.offerHold(m)), nil
	case words.Resume:
		return d.offerResume(ctx)
	case words.Start, words.Merge:
		return Handle(ctx, d.service, d.line(plainCommand(m))) // it asks back itself
	case words.Retry, words.Skip:
		return d.asAnswer(d.offerTask(m)), nil
	case words.Choose:
		return d.choose(ctx, m.Arg)
	case words.Forget:
		if itemID.MatchString(d.r.Reply) {
			return dropGuidance(ctx, d.with(VerbDrop, d.r.Reply))
		}
		return noAnswer(nil), nil
	case words.Guidance:
		return guideSession(ctx, d)
	}
	return noAnswer(nil), nil
}

// sender returns the paired person who sent the words, false for the operator at the
// host.
func (d dispatch) sender() (ledger.Person, bool) {
	host, stays := d.service.(DaemonService)
	if !stays {
		return ledger.Person{}, false
	}
	return host.Shared().Person(d.r.Actor)
}

// with returns the dispatch of another command about a target.
func (d dispatch) with(v Verb, target string) dispatch {
	d.c = Command{Verb: v, Target: target, Line: d.c.Line}
	return d
}

// agrees reports whether an intent says yes or no.
func agrees(i words.Intent) bool { return i == words.Yes || i == words.OK || i == words.No }

// Agrees reports whether a text says yes or no, as a sentence or by a symbol.
func Agrees(text string) bool { return agrees(words.Read(text).Intent) }

// namesAnswer reports whether a text is one of a question's answers by name, or the
// letter of an option: "retry", "b".
func namesAnswer(q ledger.Question, text string) bool {
	return slices.ContainsFunc(q.Verbs(), func(v string) bool { return strings.EqualFold(v, strings.TrimSpace(text)) })
}

// assent answers a question by yes, no or a thumb. An answer that stops, spends,
// merges or accepts work needs its button, which is offered again.
func (d dispatch) assent(ctx context.Context, q ledger.Question, i words.Intent) (Message, error) {
	choice, own := plainAnswer(q, i)
	if choice == "" && own == "" {
		return unsettled("plain.press", q.ID+" is answered by a button", q), nil
	}
	return d.do(ctx, loop.AnswerQuestion{Question: q.ID, Choice: choice, Words: own})
}

// settledAlready is the reply to yes, no or a thumb under a question that is settled: it
// says how, and offers to take the answer back to who disagrees in time.
func settledAlready(s loop.Answered, i words.Intent, r Request) Message {
	m := newMessage("plain.settled", SignLater+" "+conflictLine(s, r.Actor, r.Time))
	m.add(unchanged)
	if i == words.No && s.Before != nil && !r.Time.After(s.At.Add(loop.UndoTime)) {
		m.button("Undo", Undoing(s.ID))
	}
	return m
}

// plainAnswer returns the answer that yes, no or a thumb stands for; both results are
// "" if it needs its button, or could be meant in two ways.
func plainAnswer(q ledger.Question, i words.Intent) (choice, own string) {
	if !q.OwnWords() {
		if v := q.No(); i == words.No && wordingOf(q).verbs[v].harmless {
			return v, ""
		}
		return "", ""
	}
	yes, no := q.Yes(), q.No()
	proposed := ""
	if n := OptionOf(q, q.Choice); n >= 0 {
		proposed = ledger.Letter(n)
	}
	switch {
	case i == words.Yes && yes != "":
		return yes, ""
	case i == words.No && no != "":
		return no, ""
	case i == words.OK && proposed != "" && (yes == "" || yes == proposed): // it agrees with what the agent would do
		return proposed, ""
	case i == words.OK && yes != "" && proposed == "":
		return yes, ""
	case len(q.Options) > 0:
		return "", ""
	case i == words.No:
		return "", "No."
	}
	return "", "Yes."
}

// choose answers the only open question that has an option.
func (d dispatch) choose(ctx context.Context, letter string) (Message, error) {
	var meant []ledger.Question
	for _, q := range d.s.Project.Questions {
		if offersOption(q, letter) {
			meant = append(meant, q)
		}
	}
	switch len(meant) {
	case 0:
		return d.state("asks nothing with " + strings.ToUpper(letter)), nil
	case 1:
		return d.do(ctx, loop.AnswerQuestion{Question: meant[0].ID, Choice: letter})
	}
	m := d.offer("which", strings.ToUpper(letter)+" for which question?")
	for _, q := range meant[:min(len(meant), mostButtons)] {
		m.add(q.ID + ": " + Headline(d.s, q))
		m.button(q.ID+" "+strings.ToUpper(letter), q.ID+" "+letter)
	}
	return m, nil
}

// offersOption reports whether a question has an option with a letter.
func offersOption(q ledger.Question, letter string) bool {
	return q.OwnWords() && len(letter) == 1 && slices.Contains(q.Verbs(), letter)
}

// takeBack takes back plain words that were queued as guidance and offers what may
// have been meant.
func takeBack(ctx context.Context, d dispatch) (Message, error) {
	m, err := dropGuidance(ctx, d.with(VerbDrop, d.c.Target))
	if err != nil || m.Refused {
		return m, err
	}
	return Meant(d.s, d.c.Target), nil
}

// Meant offers what guidance that was taken back may have been meant as. s is the state
// before it was taken back.
func Meant(s loop.State, id string) Message {
	i, _ := s.Project.Guidance.Get(strings.ToLower(id))
	m := newMessage("plain.meant", SignAsk+" "+i.ID+" was no guidance: meant what?")
	m.Project = s.Project.Name
	m.quote(i.Text)
	m.add("No session gets it. No answer: nothing else is done.")
	for _, w := range words.Hints(i.Text) {
		line := plainCommand(w)
		if c, err := Parse(line); line != "" && err == nil && !slices.ContainsFunc(m.Buttons, func(b Button) bool { return b.Command == line }) {
			m.button(strings.ToUpper(string(c.Verb[:1]))+string(c.Verb[1:]), line)
		}
	}
	for _, q := range s.Project.Questions {
		if q.OwnWords() && len(i.Text) < maxTwin {
			m.exact("Answer "+q.ID, q.ID+" "+i.Text)
		}
	}
	if len(m.Buttons) == 0 {
		m.button("Status", "/status")
		m.button("Help", "/help")
	}
	m.Buttons = m.Buttons[:min(len(m.Buttons), mostButtons)]
	return m
}
