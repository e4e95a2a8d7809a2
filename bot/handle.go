package bot

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Handle carries out the command in r.Text and returns the reply for its sender.
// A mistake of the sender leads to a message and no error. An error means a
// fault in nightporter; the message that comes with it tells the sender so.
func Handle(ctx context.Context, service Service, r Request) (Message, error) {
	c, err := Parse(r.Text)
	if err != nil {
		return mistake(err), nil
	}
	if does := c.Verb.row().shared; does != nil {
		host, stays := service.(DaemonService)
		m, done, err := does(ctx, sharedRequest{service: service, host: host, stays: stays, r: r, c: c})
		if err != nil {
			return faulty(c), fmt.Errorf("%s: %w", c.Verb, err)
		}
		if done {
			return m, nil
		}
	}
	if c.Project == "" && (c.Verb == VerbDiff || c.Verb == VerbLog) && runForm.MatchString(c.Target) {
		if c.Project, err = ranIn(ctx, service, c.Target); err != nil {
			return faulty(c), fmt.Errorf("%s: %w", c.Verb, err)
		}
	}
	project, problem := pick(service, &c, r)
	if problem != nil {
		return *problem, nil
	}
	s, ok := stateOf(service, project)
	if !ok {
		return noProject(project, service.Projects()), nil
	}
	d := dispatch{service: service, r: r, c: c, s: s, project: project}
	m, err := d.run(ctx)
	m.Project = project
	if err != nil {
		return faulty(c), fmt.Errorf("%s %s: %w", project, c.Verb, err)
	}
	return m, nil
}

// faulty returns the reply to a command that failed by a fault in nightporter.
func faulty(c Command) Message {
	m := refusal("fault", SignFailed+" /"+string(c.Verb)+" failed: a fault in nightporter")
	m.quote(c.Line)
	m.add("All else goes on. Look at the daemon's log.")
	return m
}

// dispatch is one command with its request and the project that it is about.
type dispatch struct {
	service Service
	r       Request
	c       Command
	s       loop.State
	project string
}

func (d dispatch) run(ctx context.Context) (Message, error) {
	does := d.c.Verb.row().project
	if does == nil {
		return Message{}, fmt.Errorf("no handler for %q", d.c.Verb)
	}
	return does(ctx, d)
}

// do sends an input to the core and renders the answer.
func (d dispatch) do(ctx context.Context, body loop.InputBody) (Message, error) {
	a, err := d.service.Do(ctx, loop.Input{
		Key: d.r.Key, Time: d.r.Time, Actor: d.r.Actor, Name: d.r.Name, Project: d.project, Body: body,
	})
	var input *ledger.InputError
	if errors.As(err, &input) { // the run cannot start for a reason that the person can remove
		return NotStarted(d.project, input.Findings), nil
	}
	if err != nil {
		return Message{}, err
	}
	return FromAnswer(body.InputKind(), a, d.r.Key), nil
}

// guide queues words for a session. It first checks that the addressed hat or
// task exists: words for a mistyped name would wait forever.
func (d dispatch) guide(ctx context.Context, text string) (Message, error) {
	a, words := guidance.Parse(text)
	if strings.TrimSpace(words) == "" {
		m := refusal("guidance.words", SignAsk+" Your words for "+d.project+":")
		m.add("Type /guidance and what the next session is to know.")
		return m, nil
	}
	if hats := d.hats(); a.Hat != "" && len(hats) > 0 && !slices.Contains(hats, a.Hat) {
		return noHat(a.Hat, hats, text), nil
	}
	if a.Task != "" && d.s.Project.Tasks.Len() > 0 {
		if _, ok := FindTask(d.s, a.Task); !ok {
			m := noTask(d.s, "#"+a.Task)
			m.quote(text)
			return m, nil
		}
	}
	return d.do(ctx, loop.Guide{Text: text})
}

func (d dispatch) hats() []string {
	if d.s.Project.Run == nil {
		return nil
	}
	var names []string
	for name := range d.s.Project.Run.Settings.Hats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// now asks the core to run the current session again. "/now g17" brings no new
// words: the repeated session receives open guidance such as g17 anyway.
func (d dispatch) now(ctx context.Context) (Message, error) {
	words := d.c.Words
	if i, ok := d.s.Project.Guidance.Get(strings.ToLower(words)); ok && i.Open() {
		words = ""
	}
	return d.do(ctx, loop.Now{Text: words})
}

var digits = regexp.MustCompile(`^[0-9]{1,9}$`)

func (d dispatch) guidanceID(ctx context.Context) (Message, error) {
	id := strings.ToLower(strings.TrimSpace(d.c.Target))
	if id == "" {
		m := refusal("cmd.whichguidance", SignAsk+" /drop: which guidance?")
		m.add("Type for example /drop g9.")
		m.button("Queue", "/queue")
		return m, nil
	}
	if digits.MatchString(id) {
		id = "g" + id
	}
	if _, ok := d.s.Project.Guidance.Get(id); !ok {
		m := refusal("cmd.noguidance", SignFailed+" "+d.project+" has no guidance "+Cut(Clean(id), 8))
		m.add("Nothing was changed.")
		m.button("Queue", "/queue")
		return m, nil
	}
	if d.c.Verb == VerbKeep {
		return d.do(ctx, loop.KeepGuidance{ID: id})
	}
	return d.do(ctx, loop.DropGuidance{ID: id})
}

// target handles the commands whose argument is a task or a run. Without an
// argument, some of them are about the run or the active task; the others ask
// which task is meant.
func (d dispatch) target(ctx context.Context) (Message, error) {
	typed := strings.TrimSpace(d.c.Target)
	if typed == "" {
		switch d.c.Verb {
		case VerbLog:
			return d.look(ctx, "", "")
		case VerbDiff:
			return d.diff(ctx, "", "")
		}
		t, ok := active(d.s)
		if !ok || (d.c.Verb != VerbTask && d.c.Verb != VerbEvidence) {
			m := refusal("cmd.whichtask", SignAsk+" /"+string(d.c.Verb)+": which task?")
			m.add("Type for example /" + string(d.c.Verb) + " " + example(d.s) + ".")
			m.button("Tasks", "/tasks")
			return m, nil
		}
		typed = t.Task.ID
	}
	attempt := ""
	t, ok := FindTask(d.s, typed)
	if !ok && runForm.MatchString(typed) {
		switch d.c.Verb {
		case VerbDiff:
			return d.diff(ctx, strings.ToLower(typed), "")
		case VerbLog:
			return d.logOfRun(ctx, strings.ToLower(typed))
		}
	}
	if !ok && d.c.Verb == VerbEvidence {
		if id, n, dotted := strings.Cut(typed, "."); dotted && digits.MatchString(n) {
			t, ok = FindTask(d.s, id)
			attempt = "a" + n
		}
	}
	if !ok {
		if ids := strings.Fields(typed); len(ids) > 1 && (d.c.Verb == VerbSkip || d.c.Verb == VerbRetry) {
			return d.several(ctx, ids)
		}
		return noTask(d.s, typed), nil
	}
	m, err := d.about(ctx, t, attempt)
	m.About = t.Task.ID
	return m, err
}

// about handles a command about one task. attempt is the attempt that /evidence
// shows, "" for the last one.
func (d dispatch) about(ctx context.Context, t loop.TaskState, attempt string) (Message, error) {
	switch d.c.Verb {
	case VerbTask:
		records, err := d.service.Records(ctx, d.project, t.Task.ID)
		if err != nil {
			return Message{}, err
		}
		return Task(d.s, t, lastOutcome(records), d.r.Time), nil
	case VerbSkip:
		return d.do(ctx, loop.SkipTask{Task: t.Task.ID})
	case VerbRetry:
		return d.do(ctx, loop.RetryTask{Task: t.Task.ID})
	case VerbNext:
		return d.do(ctx, loop.NextTask{Task: t.Task.ID})
	case VerbDiff:
		return d.diff(ctx, t.Task.ID, t.Task.Title)
	}
	return d.look(ctx, t.Task.ID, attempt)
}

// look renders ledger records of a task, or of the last run where task is "": as
// a log, or as the evidence of one attempt.
func (d dispatch) look(ctx context.Context, task, attempt string) (Message, error) {
	records, err := d.service.Records(ctx, d.project, task)
	if err != nil {
		return Message{}, err
	}
	if d.c.Verb == VerbLog {
		return Log(d.project, task, records, d.r.Time), nil
	}
	if attempt != "" {
		records = slices.DeleteFunc(slices.Clone(records), func(r ledger.Record) bool { return r.Attempt != attempt })
	}
	return Evidence(records, d.r.Time.Location()), nil
}

func (d dispatch) diff(ctx context.Context, target, title string) (Message, error) {
	patch, err := d.service.Diff(ctx, d.project, target)
	if err != nil {
		return Message{}, err
	}
	return Diff(d.project, target, title, patch), nil
}

// several skips or retries more than one task. It looks up all ids first:
// otherwise a mistyped last id would leave the first tasks changed.
func (d dispatch) several(ctx context.Context, ids []string) (Message, error) {
	var tasks []loop.TaskState
	for _, id := range ids {
		t, ok := FindTask(d.s, id)
		if !ok {
			return noTask(d.s, id), nil
		}
		tasks = append(tasks, t)
	}
	var whole Message
	for n, t := range tasks {
		one := d
		if d.r.Key != "" { // the key itself stays free for the one reply to all of them
			one.r.Key = fmt.Sprintf("%s/%d", d.r.Key, n+1)
		}
		body := loop.InputBody(loop.SkipTask{Task: t.Task.ID})
		if d.c.Verb == VerbRetry {
			body = loop.RetryTask{Task: t.Task.ID}
		}
		m, err := one.do(ctx, body)
		if err != nil {
			return whole, err
		}
		if n == 0 {
			whole = m
			continue
		}
		whole.Lines = append(whole.Lines, m.Lines...)
		if m.Refused { // a refusal must not be omitted for its cause
			whole.Cause, whole.Refused = "", true
		}
	}
	return whole, nil
}

// pick returns the project that a command is about, or the message that asks
// for one. It changes c where the name in front is no project's: it may be an
// agent's, or the first word of a sentence.
func pick(service Service, c *Command, r Request) (string, *Message) {
	all := projects(service)
	if c.Project != "" && !slices.Contains(all, c.Project) {
		if c.Verb == VerbResume && c.Target == "" {
			c.Target, c.Project = c.Project, "" // "/resume codex"
			return pick(service, c, r)
		}
		if c.Verb != VerbWords {
			m := noProject(c.Project, all)
			return "", &m
		}
		// "note: …" begins a sentence and names no project.
		c.Project, c.Words = "", c.Line
	}
	switch {
	case c.Project != "":
		return c.Project, nil
	case ProjectOf(service, c.Target) != "":
		return ProjectOf(service, c.Target), nil
	case r.Project != "":
		return r.Project, nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		m := refusal("cmd.noproject", SignLater+" No project runs here")
		m.add("Start one: nightporter run")
		return "", &m
	}
	first := SignAsk + " For which project?"
	if len(all) == 2 {
		first = SignAsk + " For " + all[0] + " or " + all[1] + "?"
	}
	m := refusal("cmd.whichproject", first)
	m.quote(c.Line)
	m.add("Not done yet.")
	line := c.Line
	if c.Verb == VerbWords {
		line = "/" + string(VerbGuidance) + " " + line
	}
	for _, name := range all[:min(len(all), 6)] {
		m.exact(name, name+": "+line)
	}
	return "", &m
}

func runID(s loop.State) string {
	if s.Project.Run == nil {
		return ""
	}
	return s.Project.Run.ID
}

func orNothing(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
