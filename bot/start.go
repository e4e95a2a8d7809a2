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

// offerRun answers /run: it opens the question that confirms the run (docs/spec 23.2).
func offerRun(ctx context.Context, d dispatch) (Message, error) {
	if m, blocked := stillBlocked(ctx, d); blocked {
		return m, nil
	}
	if r := d.s.Project.Run; !r.Over() && !r.Aside() { // one that keeps a request green gives way
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
		return parseMistake(err), nil
	}
	offer, err := host.Offer(ctx, d.project, f)
	var input *ledger.InputError
	if errors.As(err, &input) {
		return NotStarted(d.project, input.Diagnostics), nil
	}
	if err != nil {
		return Message{}, err
	}
	if offer.Idle {
		return nothingReady(d.s), nil
	}
	return d.doAsking(ctx, ledger.AskStart, offer)
}

// nothingReady returns the reply to /run where no task can begin: which tasks rest, and
// what would help.
func nothingReady(s loop.State) Message {
	m := refusal("run.nothing", firstLine(SignLook, s.Project.Name, "has no task that can begin", ""))
	m.Project = s.Project.Name
	rests := func(words string, status ...ledger.Status) {
		var ids []string
		for _, t := range s.Project.Tasks.All() {
			if slices.Contains(status, t.Status) {
				ids = append(ids, t.Task.ID)
			}
		}
		if len(ids) > 0 {
			m.add(words + ": " + Ranges(ids))
		}
	}
	rests("Blocked", ledger.Blocked)
	rests("Waits for a person", ledger.ManualVerify, ledger.Waiting)
	rests("Waits for other tasks", ledger.Pending)
	if len(m.Lines) == 1 {
		m.add("Nothing in its list is open. /add TEXT gives it a task.")
	}
	m.Buttons = startButtons(s)
	m.button("Tasks", "/tasks")
	return m
}

// startButtons returns the button that starts a run, or where that could begin nothing
// those that would help: of the open questions, and of blocked tasks.
func startButtons(s loop.State) []Button {
	if CanBegin(s) {
		return []Button{{Label: "Start", Command: "/run " + s.Project.Name}}
	}
	buttons := helpButtons(s)
	for _, t := range s.Project.Tasks.All() {
		if _, asked := questionAbout(s, *t); t.Status == ledger.Blocked && !asked && s.Project.Run != nil {
			buttons = append(buttons, RetryButton(t.Task.ID))
		}
	}
	return buttons[:min(len(buttons), 3)]
}

// resume answers /resume. In a chat, an idle project is offered a run.
func resume(ctx context.Context, d dispatch) (Message, error) {
	m, err := d.do(ctx, loop.Resume{Agent: d.c.Target})
	_, stays := d.service.(DaemonService)
	switch {
	case err != nil || !d.s.Project.Run.Over():
	case d.c.Target != "" && stays:
		m.Buttons = startButtons(d.s)
	case d.c.Target != "":
		m.add("Start it with: nightporter run")
	case m.Refused && stays:
		return idle(d.s, d.r.Time), nil
	}
	return m, err
}

// idle is the reply to /resume where no run is under way.
func idle(s loop.State, now time.Time) Message {
	m := refusal("run.idle", firstLine(SignLater, s.Project.Name, "is idle", ""))
	m.Project = s.Project.Name
	m.Buttons = startButtons(s)
	if _, total := s.Project.Count(); total > 0 {
		m.add(standingLine(s, Count(s)))
	}
	m.heldIdle(s, now)
	m.add("Nothing runs.")
	return m
}

// Running returns the reply to /run for a project with a run under way.
func Running(s loop.State) Message {
	r := s.Project.Run
	t := Count(s).String()
	m := newMessage("run.running", firstLine(SignNow, s.Project.Name, "runs already: "+r.ID+", "+t, ""))
	if r.State == ledger.RunPaused || r.State == ledger.RunPausing {
		m = newMessage("run.running", firstLine(SignPaused, s.Project.Name, "is paused: "+r.ID+", "+t, ""))
		m.button("Resume", "/resume")
	}
	m.button("Status", "/status")
	return m
}

// offeredTasks returns how many tasks an offered run has, "12 tasks", and with
// which it begins, "from #5"; "" for what is unknown. Releases before the fields
// wrote both into the question's text.
func offeredTasks(q ledger.Question) (count, from string) {
	if q.Open == nil && q.First == "" {
		count, from, _ = strings.Cut(Foreign(q.Text), ", ")
		return count, from
	}
	if q.Open != nil {
		count = Plural(*q.Open, "task")
	}
	if q.First != "" {
		from = "from " + Clean(ledger.ShortID(q.First))
	}
	return count, from
}

// offered returns the lines of the question that confirms a run: the run's
// source, agent and limits (docs/spec 23.2).
func offered(s loop.State, q ledger.Question) []string {
	var lines []string
	o := q.Offer
	if o == nil {
		return []string{q.Title}
	}
	source := sourceOf(*o)
	if _, from := offeredTasks(q); from != "" {
		source += ", " + from
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
		only := shortID(o.Only)
		if digits.MatchString(only) {
			only = "#" + only
		}
		lines = append(lines, "Only "+only+".")
	}
	if !o.Until.IsZero() {
		lines = append(lines, "Ends at "+Clock(o.Until, q.Asked)+".")
	}
	if budget := offeredBudget(s, q); budget != "" {
		lines = append(lines, budget)
	}
	lines = append(lines, outlookLines(q.Outlook, q.Asked)...)
	if q.Lanes != nil {
		lines = append(lines, LanesProposed(*q.Lanes))
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

// LanesProposed says what several lanes would bring: "12 tasks are independent: 4 at a time
// take about 2 h 10 instead of 6 h 40."
func LanesProposed(p ledger.LanesProposal) string {
	text := fmt.Sprintf("%s are independent: %d at a time", Plural(p.Tasks, "task"), p.Parallel)
	if p.One == 0 {
		return text + " would be faster."
	}
	return text + fmt.Sprintf(" take about %s instead of %s.", Took(p.Several.D()), Took(p.One.D()))
}

// startLabel is the button that starts a run as it is configured.
func startLabel(q ledger.Question) string {
	if q.Lanes != nil {
		return "As configured"
	}
	return "Start"
}

// lanesLabel is the button that starts a run with the proposed lanes.
func lanesLabel(q ledger.Question) string {
	if q.Lanes == nil {
		return "Several"
	}
	return fmt.Sprintf("%d at a time", q.Lanes.Parallel)
}

// sentAt returns when a late command was typed, in the person's time zone.
func sentAt(q ledger.Question) time.Time { return q.Sent.In(q.Asked.Location()) }
