package bot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// PastRun summarizes one run from its records, whether it has ended or not.
type PastRun struct {
	ID, Project string
	Source      string // "Plan checkout"
	Profile     string
	Agent       string
	Began       time.Time // start, or planning time if it never started
	Ended       time.Time // zero while it is under way
	End         *ledger.RunEnded
	Done, Total int // tasks of the source, at the run's end or now
	Sessions    int // agent sessions that have ended
	About       int // number of Sessions whose cost is estimated, or computed from their tokens
	Unpriced    int // number of Sessions with an unknown cost
	USD         float64
	Commits     int
	Branch      string
	Tasks       []RunTask // tasks whose status the run changed, the latest change last

	remote request.Branch // what was pushed of it
	tip    string         // of the branch
	state  *loop.Run      // nil unless it is under way
}

// RunTask is a task and the status that a run last gave it.
type RunTask struct {
	ID     string
	Status ledger.Status
}

// pastTypes lists the entry types that Past reads.
var pastTypes = []string{
	ledger.RunPlanned{}.EntryType(), ledger.RunResumed{}.EntryType(), ledger.PreflightDone{}.EntryType(), ledger.RunStarted{}.EntryType(), ledger.RunEnded{}.EntryType(),
	ledger.BranchRemade{}.EntryType(), ledger.BranchPushed{}.EntryType(), ledger.RequestOpened{}.EntryType(), ledger.RequestEdited{}.EntryType(),
	ledger.TaskSet{}.EntryType(), ledger.TaskCommitted{}.EntryType(), ledger.SessionEnded{}.EntryType(),
}

// Past summarizes a run from its records of the types in pastTypes. s is its
// project's state, which supplies the current counts of a run under way. A record
// that does not decode is an error.
func Past(s loop.State, run string, records []ledger.Record) (PastRun, error) {
	p := PastRun{ID: run, Project: s.Project.Name}
	for _, rec := range records {
		e, err := rec.Entry()
		if err != nil {
			return p, err
		}
		p.entry(e)
	}
	if r := s.Project.Run; r != nil && r.ID == run && !r.Over() {
		t := Count(s)
		p.Done, p.Total, p.state = t.Done, t.Total, r
	}
	return p, nil
}

func (p *PastRun) entry(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.RunPlanned:
		p.Began = e.Time
		p.settings(b.Settings)
	case ledger.RunResumed:
		p.settings(b.Settings)
	case ledger.PreflightDone:
		p.Branch = b.Base.Branch
	case ledger.RunStarted:
		p.Began = e.Time
	case ledger.RunEnded:
		p.Ended, p.End, p.Done, p.Total = e.Time, &b, b.Done, b.Total
		p.Branch, p.tip = orElse(b.Branch, p.Branch), orElse(b.Tip, p.tip)
	case ledger.TaskCommitted:
		p.Commits, p.tip = p.Commits+1, b.Commit
	case ledger.BranchRemade:
		p.Branch, p.tip = b.Branch, b.Tip
	case ledger.BranchPushed:
		p.remote.Pushed = b.Commit
	case ledger.RequestOpened:
		p.remote.Request = &b.Request
	case ledger.RequestEdited:
		p.remote.Request = &b.Request
	case ledger.SessionEnded:
		if b.Kind != ledger.KindAgent {
			return
		}
		if p.Sessions++; b.Exit.CostUSD < 0 {
			p.Unpriced++
		} else {
			p.USD += b.Exit.CostUSD
			if b.Exit.Estimated {
				p.About++
			}
		}
	case ledger.TaskSet:
		if b.Gate != "" {
			break // the wave's summary counts them
		}
		p.Tasks = slices.DeleteFunc(p.Tasks, func(t RunTask) bool { return ledger.SameID(t.ID, e.Task) })
		p.Tasks = append(p.Tasks, RunTask{ID: e.Task, Status: b.To})
	}
}

func (p *PastRun) settings(s ledger.Settings) {
	p.Source, p.Profile, p.Agent = sourceOf(s), Clean(s.Profile), Clean(s.Agent)
}

// cost returns the run's cost. It says "unknown" for sessions without a cost
// instead of counting them as free.
func (p PastRun) cost() string {
	switch {
	case p.Unpriced == 0:
		return about(p.USD, p.About)
	case p.USD == 0:
		return "unknown"
	}
	return about(p.USD, p.About) + " + unknown"
}

// took returns the run's length, up to now if it is under way.
func (p PastRun) took(now time.Time) string {
	end := p.Ended
	if end.IsZero() && p.state != nil {
		end = now
	}
	if end.IsZero() || p.Began.IsZero() {
		return "unknown"
	}
	return Took(end.Sub(p.Began))
}

// sign returns the sign of the run's state or of the reason it ended for.
func (p PastRun) sign() string {
	if p.state != nil {
		return standingSign(p.state)
	}
	if p.End == nil {
		return SignLook
	}
	switch p.End.Reason {
	case ledger.ReasonDone, ledger.ReasonChosen:
		if p.End.FinalOK != nil && !*p.End.FinalOK {
			return SignFailed
		}
		if p.End.Unsure > 0 || len(p.End.Unpushed) > 0 {
			return SignLook
		}
		return SignDone
	case ledger.ReasonBlocked, ledger.ReasonStreak:
		return SignBlocked
	case ledger.ReasonManual, ledger.ReasonNothing:
		return SignAsk
	case ledger.ReasonStopped, ledger.ReasonChecked:
		return SignLater
	case ledger.ReasonReplaced:
		return SignAway
	case ledger.ReasonPreflight, ledger.ReasonInternal:
		return SignFailed
	}
	return SignLook
}

func (p PastRun) tally() string {
	switch {
	case p.state == nil && p.End == nil:
		return "unknown"
	case p.End != nil && p.End.Reason == ledger.ReasonPreflight:
		return "not started"
	case p.End != nil && p.End.Reason == ledger.ReasonChecked:
		return "checked only"
	}
	return fmt.Sprintf("%d/%d", p.Done, p.Total)
}

// line returns the run in one line: "r14 shop ? 9/12 · 7 h 02 · $13.62".
func (p PastRun) line(now time.Time) string {
	rest := " " + p.sign() + " " + p.tally() + " · " + p.took(now) + " · " + p.cost()
	return p.ID + " " + Cut(Clean(p.Project), max(4, FirstWidth-Width(p.ID+" "+rest))) + rest
}

// Runs lists runs, newest first (docs/spec 23.10). older is the newest run that
// the list leaves out, "" if it is complete.
func Runs(all []PastRun, older string, now time.Time) Message {
	if len(all) == 0 {
		m := newMessage("runs", SignLater+" No run yet")
		m.add("Start one: /run")
		return m
	}
	m := newMessage("runs", all[0].line(now))
	for _, p := range all[1:] {
		m.add(p.line(now))
	}
	if older != "" {
		m.add("Older ones by their id: /runs " + older)
	}
	for _, p := range all {
		m.button(p.ID, "/runs "+p.ID)
	}
	return m
}

// Run describes one run.
func Run(p PastRun, now time.Time) Message {
	rest := p.ID + " " + p.tally()
	if p.End != nil {
		rest = p.ID + " ended: " + p.tally()
	}
	m := newMessage("runs.one", firstLine(p.sign(), p.Project, rest, ""))
	m.Project = p.Project
	if p.End != nil {
		m.add(Clock(p.Began, now) + " → " + Clock(p.Ended, now) + " · " + p.took(now))
	} else {
		m.add("Since " + Clock(p.Began, now) + " · " + p.took(now))
	}
	m.add(Plural(p.Sessions, "session") + " · " + p.cost() + " · " + Plural(p.Commits, "commit"))
	m.add(strings.Trim(p.Source+" · "+orElse(p.Profile, "review")+" · "+p.Agent, " ·"))
	if p.End != nil {
		m.add("Ended: " + Clean(string(p.End.Reason)) + ".")
		m.quote(p.End.Text)
	}
	m.made(p.Tasks)
	if p.End != nil {
		m.add(p.End.Proof.Text())
	}
	if p.Branch != "" && p.Commits > 0 {
		m.add("Branch " + BranchText(p.Branch, p.tip, p.remote))
		if r := p.remote.Request; r != nil {
			m.add(Clean(r.URL))
		}
	}
	if p.End != nil && p.End.FinalOK != nil && !*p.End.FinalOK {
		m.add(SignFailed + " The branch fails its checks.")
	}
	if p.Commits > 0 {
		m.button("Diff", "/diff "+p.ID)
	}
	m.button("Log", "/log "+p.ID)
	m.button("Runs", "/runs")
	return m
}

// made lists the tasks that the run finished, blocked, handed to a person or
// skipped: one line for each status, ordered by the tasks' numbers.
func (m *Message) made(tasks []RunTask) {
	by := map[ledger.Status][]string{}
	for _, t := range tasks {
		by[t.Status] = append(by[t.Status], t.ID)
	}
	for _, k := range []struct {
		status ledger.Status
		word   string
	}{{ledger.Done, "Done"}, {ledger.Blocked, SignBlocked + " Blocked"}, {ledger.ManualVerify, SignAsk + " Manual verify"}, {ledger.Skipped, SignAway + " Skipped"}} {
		ids := by[k.status]
		slices.SortStableFunc(ids, func(a, b string) int {
			x, _ := idNumber(a)
			y, _ := idNumber(b)
			return cmp.Compare(x, y)
		})
		if len(ids) > 0 {
			m.add(Cut(k.word+" "+Ranges(ids), 2*quoteWidth))
		}
	}
}

// mostRuns limits the runs in one message.
const mostRuns = 6

// listRuns handles /runs, /runs shop and /runs r14.
func listRuns(ctx context.Context, service Service, r Request, c Command) (Message, error) {
	target := strings.ToLower(strings.TrimSpace(c.Target))
	if digits.MatchString(target) {
		target = "r" + target
	}
	if runForm.MatchString(target) {
		return oneRun(ctx, service, r, c, target)
	}
	names := service.Projects()
	if one := orElse(c.Project, orElse(target, r.Project)); one != "" {
		if !slices.Contains(names, one) && !slices.Contains(projectNames(service), one) {
			return noProject(one, projectNames(service)), nil
		}
		names = []string{one}
	}
	type ran struct{ id, project string }
	var all []ran
	for _, name := range names {
		ids, err := service.Runs(ctx, name)
		if err != nil {
			return Message{}, fmt.Errorf("runs of %s: %w", name, err)
		}
		for _, id := range ids {
			all = append(all, ran{id, name})
		}
	}
	slices.SortFunc(all, func(a, b ran) int { return cmp.Compare(runNumber(b.id), runNumber(a.id)) })
	older := ""
	if len(all) > mostRuns {
		older, all = all[mostRuns].id, all[:mostRuns]
	}
	var past []PastRun
	for _, x := range all {
		p, err := pastRun(ctx, service, x.project, x.id)
		if err != nil {
			return Message{}, err
		}
		past = append(past, p)
	}
	return Runs(past, older, r.Time), nil
}

func oneRun(ctx context.Context, service Service, r Request, c Command, id string) (Message, error) {
	project, err := ranIn(ctx, service, id)
	if err != nil {
		return Message{}, err
	}
	if project == "" {
		m := refusal("cmd.norun", SignFailed+" There is no run "+id)
		m.add("Nothing was changed.")
		m.button("Runs", "/runs")
		return m, nil
	}
	p, err := pastRun(ctx, service, project, id)
	if err != nil {
		return Message{}, err
	}
	return Run(p, r.Time), nil
}

func pastRun(ctx context.Context, service Service, project, id string) (PastRun, error) {
	records, err := service.RunRecords(ctx, project, id, pastTypes...)
	if err != nil {
		return PastRun{}, fmt.Errorf("run %s: %w", id, err)
	}
	s, _ := stateOf(service, project)
	s.Project.Name = project
	p, err := Past(s, id, records)
	if err != nil {
		return p, fmt.Errorf("run %s: %w", id, err)
	}
	return p, nil
}

// ranIn returns the project that a run belongs to, "" for an unknown run. Run ids
// are unique per daemon and therefore need no project (docs/spec 1).
func ranIn(ctx context.Context, service Service, id string) (string, error) {
	id = strings.ToLower(id)
	for _, name := range service.Projects() {
		ids, err := service.Runs(ctx, name)
		if err != nil {
			return "", fmt.Errorf("runs of %s: %w", name, err)
		}
		if slices.Contains(ids, id) {
			return name, nil
		}
	}
	return "", nil
}

// logOfRun shows the log of a run's sessions, also of a run that ended long ago.
func (d dispatch) logOfRun(ctx context.Context, id, part string) (Message, error) {
	records, err := d.service.RunRecords(ctx, d.project, id)
	if err != nil {
		return Message{}, err
	}
	return d.logPart(Log(d.project, "", records, d.r.Time), id, records, part), nil
}
