package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot/words"
	"github.com/nightporter/nightporter/loop/ledger"
)

// What plain words offer: a message with the button of a command. Nothing is done before
// it is pressed.

// offerHold offers to stop or to pause the run.
func (d dispatch) offerHold(w words.Meaning) Message {
	r := d.s.Project.Run
	if r.Over() {
		return d.state("is idle: nothing runs")
	}
	now, doing := w.Arg == "now", Doing(d.s)
	if w.Intent == words.Pause {
		if r.State == ledger.RunPaused {
			return d.state("is paused already")
		}
		m := d.offer("pause", "Pause "+d.project+"?")
		if now {
			m.add("Cuts off " + orElse(doing, "what is at work") + ", which is run again on Resume.")
			m.button("Pause now", plainCommand(w))
		} else {
			m.add("Holds after " + orElse(doing, "the session in hand") + ".")
		}
		m.button("Pause", "/pause")
		m.button("Stop", "/stop")
		return m
	}
	m := d.offer("stop", "Stop "+d.project+"?")
	switch {
	case now:
		m.add("Cuts off " + orElse(doing, "what is at work") + " and ends " + r.ID + ".")
		m.button("Stop now", plainCommand(w))
	case w.Arg == "task" && doing != "":
		m.add("A run ends after a session: after " + doing + ". The next run goes on with that task.")
	default:
		m.add("Ends " + r.ID + " after " + orElse(doing, "the session in hand") + "; what is done stays.")
	}
	m.button("Stop", "/stop")
	if r.State != ledger.RunPaused {
		m.button("Pause", "/pause")
	}
	return m
}

// offer begins a message that offers a command.
func (d dispatch) offer(what, first string) Message {
	return refusal("plain."+what, SignAsk+" "+first)
}

// asAnswer adds to an offer the button that takes the words as the answer to the
// question that they reply to, where that takes any words.
func (d dispatch) asAnswer(m Message) Message {
	said := strings.TrimSpace(projectPrefix.ReplaceAllString(d.r.Text, "")) // with a project's name that the words have
	if q, open := d.question(d.r.Reply); open && q.OwnWords() && len(said) < maxTwin {
		m.exact("Answer "+q.ID, q.ID+" "+said)
	}
	return m
}

// state is the reply to words that ask for what is the case already.
func (d dispatch) state(is string) Message {
	m := newMessage("plain.state", firstLine(SignLater, d.project, is, ""))
	m.add("Nothing was changed or queued.")
	return m
}

// offerResume offers to go on. With a question open, it asks which is meant.
func (d dispatch) offerResume(ctx context.Context) (Message, error) {
	r, open := d.s.Project.Run, d.s.Project.Questions
	held := !r.Over() && (r.State == ledger.RunPaused || r.State == ledger.RunPausing || r.State == ledger.RunStopping || r.State == ledger.RunWaiting)
	switch {
	case len(open) > 0:
		m := d.offer("which", "Go on with what?")
		for _, q := range open[:min(len(open), mostButtons-1)] {
			m.add(q.ID + ": " + Headline(d.s, q))
			m.button("Show "+q.ID, q.ID)
		}
		if held {
			m.button("Resume", "/resume")
		}
		m.pending("Nothing was changed.")
		return m, nil
	case held:
		m := d.offer("resume", "Go on with "+d.project+"?")
		m.pending("Nothing was changed yet.")
		m.button("Resume", "/resume")
		return m, nil
	case r.Over():
		return Handle(ctx, d.service, d.line("/run")) // it asks back itself
	}
	return d.state("is at work: " + orElse(Doing(d.s), "between two tasks")), nil
}

// line returns the request with another line.
func (d dispatch) line(text string) Request {
	r := d.r
	r.Text, r.Reply = d.project+": "+text, ""
	return r
}

// offerTask offers to retry or to skip a task: the one that is named, the one that the
// words reply to, or those that a question asks about.
func (d dispatch) offerTask(w words.Meaning) Message {
	verb, label := VerbRetry, "Retry"
	if w.Intent == words.Skip {
		verb, label = VerbSkip, "Skip"
	}
	if id := cmp.Or(w.Task, d.r.About); id != "" {
		t, ok := FindTask(d.s, id)
		if !ok {
			return noTask(d.s, id)
		}
		m := d.offer(string(verb), label+" "+shortID(t.Task.ID)+"?")
		m.add(Cut(Foreign(t.Task.Title), quoteWidth))
		m.About = t.Task.ID
		m.button(label, d.taskCommand(verb, t.Task.ID))
		return m
	}
	var about []ledger.Question
	for _, q := range d.s.Project.Questions {
		if q.Task != "" && slices.Contains(q.Verbs(), string(verb)) && !q.OwnWords() {
			about = append(about, q)
		}
	}
	switch len(about) {
	case 0:
		m := d.state("has nothing to " + string(verb))
		m.Lines[len(m.Lines)-1].Text = "Name a task: /" + string(verb) + " " + exampleTask(d.s) + "."
		m.button("Tasks", "/tasks")
		return m
	case 1:
		m := d.offer(string(verb), label+" "+shortID(about[0].Task)+"? ("+about[0].ID+")")
		m.add(Cut(Foreign(about[0].Title), quoteWidth))
		m.About = about[0].Task
		m.button(label, about[0].ID+" "+string(verb))
		return m
	}
	m := d.offer(string(verb), label+" which?")
	for _, q := range about[:min(len(about), mostButtons)] {
		m.add(q.ID + ": " + Headline(d.s, q))
		m.button(label+" "+shortID(q.Task), q.ID+" "+string(verb))
	}
	return m
}

// taskCommand returns the command that retries or skips a task: the answer to its
// question where one is open.
func (d dispatch) taskCommand(v Verb, task string) string {
	for _, q := range d.s.Project.Questions {
		if ledger.SameID(q.Task, task) && slices.Contains(q.Verbs(), string(v)) {
			return q.ID + " " + string(v)
		}
	}
	return "/" + string(v) + " " + idArg(task)
}
