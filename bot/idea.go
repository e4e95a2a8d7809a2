package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// planIdea answers /idea: a session drafts a plan of tasks, and asks before anything
// is written. A source that takes no tasks says so before a session is spent.
func planIdea(ctx context.Context, d dispatch) (Message, error) {
	text := strings.TrimSpace(d.c.Words)
	if text == "" {
		m := refusal("idea.words", firstLine(SignAsk, d.project+":", "what is the idea?", ""))
		m.add("Type /idea and one or two sentences. A plan is drafted, and nothing is written before you agree to it.")
		return m, nil
	}
	host, stays := d.service.(DaemonService)
	reader, reads := d.service.(SourceReader)
	if !stays || !reads {
		m := refusal("idea.nohost", SignFailed+" /idea needs nightporter up")
		m.add("This one works on one run and ends with it. Nothing was done.")
		return m, nil
	}
	offer, err := host.Offer(ctx, d.project, RunFlags{})
	var read SourceReading
	if err == nil {
		read, err = reader.ReadSource(ctx, d.project)
	}
	if err == nil && read.Closed != nil {
		err = &ledger.InputError{Diagnostics: []ledger.Diagnostic{*read.Closed}}
	}
	if input := (*ledger.InputError)(nil); errors.As(err, &input) {
		return notPlanned(d.project, input.Diagnostics, text), nil
	}
	if err != nil {
		return Message{}, err
	}
	a, err := d.service.Do(ctx, loop.Input{
		Key: d.r.Key, Time: d.r.Time, Actor: d.r.Actor, Name: d.r.Name, Project: d.project,
		Body: loop.TakeIdea{Text: text, Settings: offer.Settings},
	})
	if err != nil {
		return Message{}, err
	}
	m := IdeaAnswer(d.project, a)
	m.Cause = d.r.Key
	return m, nil
}

// IdeaAnswer renders the core's answer to an idea. The answer to an input whose key was
// used before has no words.
func IdeaAnswer(project string, a ledger.Answer) Message {
	if !a.OK {
		m := FromAnswer(loop.TakeIdea{}.InputKind(), a, "")
		m.Project = project
		return m
	}
	m := newMessage("idea.taken", firstLine(SignLater, project+":", "idea "+a.ID+" is kept", ""))
	m.Project = project
	m.add(fullSentence(a.Text))
	m.add("It takes about 5 minutes. Nothing is written before somebody agrees to the plan.")
	return m
}

// notPlanned is the reply to /idea where the source or the settings cannot be used.
func notPlanned(project string, problems []ledger.Diagnostic, text string) Message {
	m := refusal("idea.source", SignFailed+" "+Clean(project)+": not planned")
	m.Project = project
	m.unusable(problems)
	m.tryIdea(text)
	return m
}

// tryIdea offers to send an idea once more, unless it came from a long text.
func (m *Message) tryIdea(text string) {
	if len(text) <= maxTwin {
		m.exact("Try again", "/idea "+text)
	}
}

// ideaHead is the headline of the question about a plan.
func ideaHead(s loop.State, q ledger.Question) string {
	i, _ := s.Project.Idea(q.Idea)
	return "plan for " + Clean(q.Idea) + ": " + Plural(len(i.Tasks), "task")
}

// drafted adds a proposed plan to the question about it: the idea, the plan's summary,
// its tasks in order with what they need, and folded what each of them asks for.
func (m *Message) drafted(s loop.State, q ledger.Question, _ time.Time) {
	i, _ := s.Project.Idea(q.Idea)
	if words := orElse(i.Words, q.Title); isShort(words, 2*quoteWidth) {
		m.add(Foreign(words))
	} else {
		m.whole(words)
		m.add("Its plan:")
	}
	m.whole(q.Text)
	number := map[string]string{}
	open := 0
	for n, t := range i.Tasks {
		number[ledger.FoldID(t.ID)] = fmt.Sprint(n + 1)
		line := fmt.Sprintf("%d. %s", n+1, Foreign(t.Title))
		var needs []string
		for _, id := range t.DependsOn {
			needs = append(needs, number[ledger.FoldID(id)])
		}
		if len(needs) > 0 {
			line += " ← " + strings.Join(needs, " ")
		}
		m.add(line)
		if t.Scope == "" {
			open++
		}
	}
	for n, t := range i.Tasks {
		m.whole(fmt.Sprintf("%d. %s", n+1, taskDetails(t)))
	}
	if open > 0 {
		m.add(SignLook + " " + Plural(open, "task") + " without a scope: may touch any file")
	}
	m.whole(q.Tried)
}

// taskDetails returns what a drafted task asks for beside its title: its files, what is
// to be true, and what shows it.
func taskDetails(t ledger.Task) string {
	parts := []string{strings.ReplaceAll(t.Scope, "`", ""), strings.TrimSuffix(t.Body, "."), strings.Join(t.Acceptance, "; ")}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// IdeaOver tells how an idea ended. i is the idea as it was, s the state after its end.
// ok is false where somebody has just said so.
func IdeaOver(s loop.State, i loop.Idea, e ledger.IdeaEnded) (m Message, ok bool) {
	project := s.Project.Name
	switch e.Outcome {
	case ledger.IdeaWritten:
		m = newMessage("idea.written", firstLine(SignDone, project+":", Ranges(e.Tasks)+" added", ""))
		m.add("The plan of " + i.ID + " is in " + Cut(Clean(i.Settings.Source.Path), 2*quoteWidth) + ".")
		r := s.Project.Run
		switch {
		case e.Started:
			m.add("A run starts with it.")
		case r.Over() || r.State == ledger.RunStopping || s.Project.Source != i.Settings.Source.String():
			m.add("The next run takes it.")
		default:
			m.add("The run under way takes it.")
		}
	case ledger.IdeaFailed:
		m = newMessage("idea.failed", firstLine(SignFailed, project+":", "no plan for "+i.ID, ""))
		m.quote(i.Words)
		m.quote(e.Text)
		m.add(e.Remedy)
		m.tryIdea(i.Words)
		m.add("Nothing was written.")
	default:
		return m, false // the settled question says it
	}
	m.Project = project
	return m, true
}
