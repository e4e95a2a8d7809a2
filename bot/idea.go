package bot

import (
	"context"
	"errors"
	"fmt"
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

// IdeaAnswer renders the core's answer to an idea.
func IdeaAnswer(project string, a ledger.Answer) Message {
	if !a.OK {
		m := FromAnswer(loop.TakeIdea{}.InputKind(), a, "")
		m.Project = project
		return m
	}
	m := newMessage("idea.taken", firstLine(SignLater, project+":", "idea "+a.ID+" is kept", ""))
	m.Project = project
	m.add(fullSentence(strings.ToUpper(a.Text[:1]) + a.Text[1:]))
	m.add("It takes about 5 minutes. Nothing is written before somebody agrees to the plan.")
	return m
}

// notPlanned is the reply to /idea where the source or the settings cannot be used.
func notPlanned(project string, problems []ledger.Diagnostic, text string) Message {
	m := refusal("idea.source", SignFailed+" "+Clean(project)+": not planned")
	m.Project = project
	for _, p := range problems[:min(len(problems), 3)] {
		m.quote((&ledger.InputError{Diagnostics: []ledger.Diagnostic{{File: p.File, Line: p.Line, Text: p.Text}}}).Error())
		m.add(p.Remedy)
	}
	m.exact("Try again", "/idea "+text)
	return m
}

// ideaHead is the headline of the question about a plan.
func ideaHead(s loop.State, q ledger.Question) string {
	i, _ := s.Project.Idea(q.Idea)
	return "plan for " + Clean(q.Idea) + ": " + Plural(len(i.Tasks), "task")
}

// drafted adds a proposed plan to the question about it: the idea, the plan's summary,
// and its tasks in order.
func (m *Message) drafted(s loop.State, q ledger.Question, _ time.Time) {
	m.add(Cut(Clean(q.Title), 2*quoteWidth))
	m.quote(q.Text)
	i, _ := s.Project.Idea(q.Idea)
	number := map[string]string{}
	open := 0
	for n, t := range i.Tasks {
		number[ledger.FoldID(t.ID)] = fmt.Sprint(n + 1)
		line := fmt.Sprintf("%d. %s", n+1, Cut(Clean(t.Title), 2*quoteWidth))
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
	if open > 0 {
		m.add(SignLook + " " + Plural(open, "task") + " without a scope: may touch any file")
	}
	if q.Tried != "" {
		m.quote(q.Tried)
	}
}

// IdeaOver tells how an idea ended. i is the idea as it was. ok is false where somebody
// has just said so.
func IdeaOver(project string, i loop.Idea, e ledger.IdeaEnded) (m Message, ok bool) {
	switch e.Outcome {
	case ledger.IdeaWritten:
		m = newMessage("idea.written", firstLine(SignDone, project+":", Ranges(e.Tasks)+" added", ""))
		m.add("The plan of " + i.ID + " is in " + Cut(Clean(i.Settings.Source.Path), 2*quoteWidth) + ".")
		if e.Started {
			m.add("A run starts with it.")
		} else {
			m.add("The run under way takes it.")
		}
	case ledger.IdeaFailed:
		m = newMessage("idea.failed", firstLine(SignFailed, project+":", "no plan for "+i.ID, ""))
		m.quote(i.Words)
		m.quote(e.Text)
		m.add(e.Remedy)
		m.exact("Try again", "/idea "+i.Words)
		m.add("Nothing was written.")
	default:
		return m, false // the settled question says it
	}
	m.Project = project
	return m, true
}
