package bot

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// RunFlags are the settings of one run that a person chose in the /run command
// instead of the configured settings. The zero value changes nothing.
type RunFlags struct {
	Profile string // review or overnight
	From    string // id of the task to start at, as typed
	Only    string // id of the only task to do, as typed
}

// String returns the flags in the form that ParseRun reads.
func (f RunFlags) String() string {
	var parts []string
	if f.Profile != "" {
		parts = append(parts, f.Profile)
	}
	if f.From != "" {
		parts = append(parts, "from "+f.From)
	}
	if f.Only != "" {
		parts = append(parts, "only "+f.Only)
	}
	return strings.Join(parts, " ")
}

// runWord reports whether a word begins one of the flags.
func runWord(word string) bool {
	switch strings.ToLower(word) {
	case "review", "overnight", "from", "only":
		return true
	}
	return false
}

// ParseRun reads "review", "overnight", "from 5" and "only Task 5", in any order,
// each at most once. Any other text is a *UsageError.
func ParseRun(text string) (RunFlags, error) {
	var f RunFlags
	for text != "" {
		word, rest := cutWord(text)
		ok := false
		switch flag := strings.ToLower(word); flag {
		case "review", "overnight":
			ok = f.Profile == ""
			f.Profile = flag
		case "from":
			ok = f.From == ""
			f.From, rest = taskWord(rest)
			ok = ok && f.From != ""
		case "only":
			ok = f.Only == ""
			f.Only, rest = taskWord(rest)
			ok = ok && f.Only != ""
		}
		if !ok {
			use, _ := find(string(VerbRun))
			return RunFlags{}, &UsageError{Verb: VerbRun, Use: use.use, Got: text}
		}
		text = rest
	}
	return f, nil
}

// taskWord splits a task's id, "5" or "Task 5", from the rest of the text; id is
// "" if the text begins with none.
func taskWord(s string) (id, rest string) {
	id, rest = cutWord(s)
	if runWord(id) {
		return "", s
	}
	if n, more := cutWord(rest); strings.EqualFold(id, "task") && n != "" && !runWord(n) {
		return id + " " + n, more
	}
	return id, rest
}

// start answers /run: it opens the question that confirms the run (docs/spec 23.2).
func (d dispatch) start(ctx context.Context) (Message, error) {
	if r := d.s.Project.Run; !r.Over() {
		return Running(d.s), nil
	}
	host, ok := d.service.(DaemonService)
	if !ok {
		m := refusal("run.nohost", SignFailed+" /run needs nightporter up")
		m.add("This one works on one run and ends with it. Nothing was done.")
		return m, nil
	}
	f, err := ParseRun(d.c.Words)
	if err != nil {
		return mistake(err), nil
	}
	offer, err := host.Offer(ctx, d.project, f)
	var input *ledger.InputError
	if errors.As(err, &input) {
		return NotStarted(d.project, input.Diagnostics), nil
	}
	if err != nil {
		return Message{}, err
	}
	m, err := d.do(ctx, offer)
	if err != nil || d.r.Actor != console {
		return m, err // in a chat, the question arrives as its own message
	}
	s, _ := d.service.State(d.project)
	for _, q := range s.Project.Questions {
		if q.Kind == ledger.AskStart {
			return Ask(s, q, d.r.Time), nil
		}
	}
	return m, nil
}

// console is the actor of commands typed in a terminal, which has no chat to
// send a message to.
const console = "console"

// Running returns the reply to /run for a project with a run under way.
func Running(s loop.State) Message {
	r := s.Project.Run
	t := Count(s).String()
	m := newMessage("run.running", fit(SignNow, s.Project.Name, "runs already: "+r.ID+", "+t, ""))
	if r.State == ledger.RunPaused || r.State == ledger.RunPausing {
		m = newMessage("run.running", fit(SignPaused, s.Project.Name, "is paused: "+r.ID+", "+t, ""))
		m.button("Resume", "/resume")
	}
	m.button("Status", "/status")
	return m
}

// maxFindings limits the problems in one message.
const maxFindings = 5

// NotStarted lists the problems that keep a run from starting, each with its
// remedy (docs/spec 2.0).
func NotStarted(project string, found []ledger.Diagnostic) Message {
	rest := "not started: " + Plural(len(found), "problem")
	if len(found) == 1 && found[0].File != "" {
		rest = "not started: " + place(found[0])
	}
	m := refusal("run.notstarted", fit(SignFailed, project, rest, ""))
	m.Project = project
	m.findings(found)
	m.add("Nothing runs. Mend it, then /run " + project + ".")
	m.button("Start", "/run "+project)
	return m
}

func (m *Message) findings(found []ledger.Diagnostic) {
	for _, f := range found[:min(len(found), maxFindings)] {
		text := Cut(Clean(f.Text), 4*quoteWidth)
		if f.File != "" {
			text = place(f) + "  " + text
		}
		m.add(text)
		m.add(Cut(Clean(f.Remedy), 2*quoteWidth))
	}
	if more := len(found) - maxFindings; more > 0 {
		m.add(fmt.Sprintf("and %d more", more))
	}
}

// place returns a finding's position: "checkout.md:41".
func place(f ledger.Diagnostic) string {
	name := Cut(Clean(path.Base(strings.ReplaceAll(f.File, `\`, "/"))), 40)
	if f.Line > 0 {
		name += fmt.Sprintf(":%d", f.Line)
	}
	return name
}

// offered returns the lines of the question that confirms a run: the run's
// source, agent and limits (docs/spec 23.2).
func offered(s loop.State, q ledger.Question) []string {
	var lines []string
	o := q.Offer
	if o == nil {
		return []string{q.Title}
	}
	_, from, _ := strings.Cut(q.Text, ", ")
	source := sourceOf(*o)
	if from != "" {
		source += ", " + Clean(from)
	}
	lines = append(lines, source)
	agent := Clean(o.Agent)
	if o.Pattern.Name != "" {
		agent += " · " + Clean(o.Pattern.Name)
	}
	lines = append(lines, strings.TrimPrefix(agent, " · "))
	tasks := "no task cap"
	if o.MaxTasks > 0 {
		tasks = "pauses after " + Plural(o.MaxTasks, "task")
	}
	blocked := "stops at a blocked task"
	if o.OnBlocked == ledger.OnBlockedContinue {
		blocked = "goes on past blocked tasks"
	}
	lines = append(lines, orElse(Clean(o.Profile), "review")+": "+tasks+", "+blocked+".")
	if o.Only != "" {
		only := short(o.Only)
		if digits.MatchString(only) {
			only = "#" + only
		}
		lines = append(lines, "Only "+only+".")
	}
	if !o.Until.IsZero() {
		lines = append(lines, "Ends at "+Clock(o.Until, q.Asked)+".")
	}
	var ids []string
	for _, i := range s.Project.Guidance.Waiting() {
		ids = append(ids, i.ID)
	}
	if len(ids) > 0 {
		lines = append(lines, Cut("Guidance that goes along: "+strings.Join(ids, " "), quoteWidth))
	}
	return lines
}

// sentAt returns when a late command was typed, in the person's time zone.
func sentAt(q ledger.Question) time.Time { return q.Sent.In(q.Asked.Location()) }
