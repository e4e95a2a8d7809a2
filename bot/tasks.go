package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/cause"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Tasks lists a project's tasks in document order. Done tasks with the same word of
// proof share a line, above all others; those that come back have another one, with the
// time. Withdrawn tasks are left out.
func Tasks(s loop.State, now time.Time) Message {
	t := Count(s)
	name := orElse(Plan(s.Project.Run), "tasks")
	m := newMessage("tasks", firstLine("", s.Project.Name, name, " · "+t.String()+" done"))
	if t.Total == 0 {
		m.add("No tasks are known: nothing was read yet.")
		return m
	}
	var done []loop.TaskState
	for _, ts := range s.Project.Tasks.All() {
		if ts.Status == ledger.Done && !ts.Task.Joins { // the line of its task counts such a part
			done = append(done, *ts)
		}
	}
	for _, g := range ProofGroups(s, done) {
		m.add(g.Sign + " " + g.Whole())
	}
	for _, ts := range done {
		if again := againText(ts, now); again != "" {
			m.add(fmt.Sprintf("%s %s %s", SignLater, shortID(ts.Task.ID), again))
		}
	}
	aside := 0
	for _, ts := range s.Project.Tasks.All() {
		switch {
		case ts.Status == ledger.Done, ts.Status == ledger.Withdrawn:
			continue
		case ts.Aside != "": // there may be thousands
			aside++
			continue
		}
		m.add(fmt.Sprintf("%s %s %s%s", StatusSign(ts.Status), shortID(ts.Task.ID), Cut(Foreign(ts.Task.Title), 34), comma(taskStanding(s, *ts))))
		if taskStanding(s, *ts) != "" && len(m.Buttons) < 6 {
			m.button(shortID(ts.Task.ID), "/task "+idArg(ts.Task.ID))
		}
	}
	if aside > 0 {
		m.add(fmt.Sprintf("%s %d set aside: /triage", SignAway, aside))
	}
	return m
}

// tasksNow is Tasks with why the source cannot be read now, if service knows it.
func tasksNow(service Service, s loop.State, now time.Time) Message {
	m := Tasks(s, now)
	if r, can := service.(SourceChecker); can && s.Project.Run.Over() {
		m.trouble(r.SourceTrouble(s.Project.Name))
	}
	return m
}

// TasksTable lists all tasks for a terminal, one per line, including done and
// withdrawn tasks, but not the triagers' of waves that are over. width is in columns; 0 or less means 100. The result ends
// with a newline.
func TasksTable(s loop.State, width int, now time.Time) string {
	if width <= 0 {
		width = 100
	}
	ids := 0
	over := func(ts *loop.TaskState) bool { return len(ts.Task.Sorts) > 0 && ts.Status == ledger.Withdrawn }
	for _, ts := range s.Project.Tasks.All() {
		if over(ts) {
			continue
		}
		ids = max(ids, Width(shortID(ts.Task.ID)))
	}
	var b strings.Builder
	t := Count(s)
	fmt.Fprintf(&b, "%s · %d/%d done\n", strings.TrimSpace(Clean(s.Project.Name)+" "+Plan(s.Project.Run)), t.Done, t.Total)
	for _, ts := range s.Project.Tasks.All() {
		if over(ts) {
			continue
		}
		word := taskStanding(s, *ts)
		if ts.Status == ledger.Done {
			word = strings.TrimSpace(DoneWord(*ts) + " " + commitID(ts.Commit))
		}
		if word == "" {
			word = "ready"
		}
		sign := StatusSign(ts.Status)
		if p := ProofOf(s, *ts); p != nil {
			sign = ProofSign(*p)
		}
		head := sign + " " + Pad(shortID(ts.Task.ID), ids, 0) + "  "
		if proof := ProofText(s, *ts); proof != "" {
			word = widest(width-Width(head)-leastTitle-2, word+" · "+proof, "done · "+proof, proof)
		}
		if again := againText(*ts, now); again != "" {
			word = widest(width-Width(head)-leastTitle-2, word+" · "+again, again)
		}
		title := Cut(Clean(ts.Task.Title), max(width-Width(head)-Width(word)-2, leastTitle))
		fmt.Fprintf(&b, "%s%s%s\n", head, Pad(title, width-Width(head)-Width(word)-2, 2), word)
	}
	return b.String()
}

// leastTitle is the width that a title keeps beside its task's state.
const leastTitle = 16

// widest returns the first of texts that fits in width columns, or the last one.
func widest(width int, texts ...string) string {
	for _, t := range texts {
		if Width(t) <= width {
			return t
		}
	}
	return texts[len(texts)-1]
}

// Task describes one task: its state, its dependencies, its attempts, and what the
// agent says of a done one.
func Task(s loop.State, t loop.TaskState, h TaskHistory, now time.Time) Message {
	id := shortID(t.Task.ID)
	rest := id + " " + orElse(taskStanding(s, t), "ready")
	tail := ""
	if t.Status == ledger.Done {
		rest = id + " " + DoneWord(t)
		if !t.Ended.IsZero() {
			rest += " " + Clock(t.Ended, now)
		}
		if t.Commit != "" {
			tail = " · " + commitID(t.Commit)
		}
	}
	if t.Status == ledger.Pending {
		if n := unmetNeeds(s, t); len(n) > 0 {
			rest = id + " not ready: needs " + shortID(n[0].Task.ID)
		}
	}
	m := newMessage("task."+string(t.Status), firstLine(StatusSign(t.Status), s.Project.Name, rest, tail))
	if isShort(t.Task.Title, mostSaid) {
		m.add(Foreign(t.Task.Title))
	} else {
		m.whole(t.Task.Title)
	}
	failed := t.LastFail != "" && t.Status != ledger.Done
	q, asks := questionAbout(s, t)
	divided := isDivided(s, t)
	if why := Clean(t.Why); why != "" && t.Status != ledger.Done && !divided && !(failed && strings.HasPrefix(why, Clean(t.LastFail))) && !(asks && why == Clean(q.Text)) {
		m.whole(t.Why)
	}
	if deps := dependsOn(s, t); deps != "" {
		m.add("Depends on " + deps)
	}
	if t.Task.Scope != "" {
		m.labelled("Scope", t.Task.Scope)
	}
	m.add(taskThreshold(s, t))
	m.add(expected(s, t))
	m.add(claimText(s, t, now))
	m.add(markedTask(s, t, now))
	if t.Attempts > 0 {
		facts := Plural(t.Attempts, "attempt")
		if w := t.Attempt; w != nil && !divided { // its sections have most of the sessions: /log
			facts += ", " + Plural(w.Sessions, "session") + " so far"
		}
		m.add(facts)
	}
	m.add(replanned(t))
	if failed {
		m.add(lastAttempt(h.Last))
		m.whole(t.LastFail)
		if !asks {
			m.excerpt(t.LastFail, lastFailure(t))
		}
	}
	if p := ProofOf(s, t); p != nil {
		m.proof(*p)
	}
	if t.Status == ledger.Done && len(h.Summaries) > 0 {
		m.add("The agent says:") // below the proof: its word is no result
		for _, said := range h.Summaries {
			m.whole(said)
		}
	}
	m.add(taskHosts(h.Reach))
	if divided {
		m.sectionsOf(s, t)
	}
	m.partsOf(s, t)
	if t.Status == ledger.Ready || s.Project.PhaseBefore(t) > 0 || !t.Again().IsZero() {
		m.add(turnOf(s, t, now))
	}
	if asks {
		if failed && Clean(q.Text) == Clean(t.LastFail) {
			m.excerpt(q.Text, q.Excerpt)
			q.Text, q.Excerpt = "", nil // they stand there already
		}
		if TextOf(q) == TextSteps {
			m.whole(q.Text)
			q.Text = ""
		}
		m.content(s, q)
		m.add(Unanswered(s, q, deadline(q, now)))
	}
	m.next(s, t)
	return m
}

// lastFailure returns what programs said in a task's last failed attempt, as far as the
// task keeps it for the next one.
func lastFailure(t loop.TaskState) *ledger.FailureExcerpt {
	n := len(t.Failures)
	if n == 0 || t.Failures[n-1].Red == "" {
		return nil
	}
	return &ledger.FailureExcerpt{Run: t.Failures[n-1].Red, Output: ledger.LastLines(cause.WithoutSummary(t.Failures[n-1].Output))}
}

// replanned says that an open task was planned anew, "" otherwise.
func replanned(t loop.TaskState) string {
	if t.Replanned == 0 || t.Status == ledger.Done {
		return ""
	}
	return "Planned anew after " + Plural(t.Replanned, "failed attempt")
}

// RetryButton returns the button that makes a task ready again that no question is open
// about.
func RetryButton(task string) Button {
	return Button{Label: Cut("Retry "+shortID(task), LabelWidth), Command: "/retry " + idArg(task)}
}

// questionAbout returns the open question that a task waits for.
func questionAbout(s loop.State, t loop.TaskState) (ledger.Question, bool) {
	switch t.Status {
	case ledger.Blocked, ledger.ManualVerify, ledger.Waiting:
		for _, q := range s.Project.Questions {
			if q.ID == t.Question || ledger.SameID(q.Task, t.Task.ID) {
				return q, true
			}
		}
	}
	return ledger.Question{}, false
}

// partsOf adds the parts that a task's plan became, its parent, and the paths
// that a person allowed it to write outside of its scope.
func (m *Message) partsOf(s loop.State, t loop.TaskState) {
	var parts []string
	for _, id := range t.Parts {
		if p, ok := FindTask(s, id); ok {
			parts = append(parts, StatusSign(p.Status)+" "+shortID(p.Task.ID))
		}
	}
	if len(parts) > 0 && !isDivided(s, t) {
		m.add("Parts " + strings.Join(parts, ", "))
	}
	if t.Task.Parent != "" {
		m.add("Part of " + shortID(t.Task.Parent))
	}
	if len(t.Allowed) > 0 {
		m.add("Allowed by a person besides:")
		for _, p := range t.Allowed[:min(len(t.Allowed), maxPaths)] {
			m.pre(cutPath(Clean(p), quoteWidth))
		}
	}
}

// next adds the buttons that fit the task's status, and what a pending task
// waits for.
func (m *Message) next(s loop.State, t loop.TaskState) {
	a := idArg(t.Task.ID)
	switch t.Status {
	case ledger.Done:
		m.button("Diff", "/diff "+a)
		m.button("Log", "/log "+a)
		m.button("Evidence", "/evidence "+a)
	case ledger.Active:
		m.button("Log", "/log "+a)
		m.button("Diff", "/diff "+a)
	case ledger.Blocked, ledger.ManualVerify, ledger.Waiting:
		if q, asks := questionAbout(s, t); asks {
			addVerbButtons(m, q)
			return
		}
		m.button("Retry", "/retry "+a)
		m.button("Skip", "/skip "+a)
		if t.Status == ledger.Blocked {
			m.whyButton(t.Task.ID, false)
		}
	case ledger.Skipped:
		m.button("Retry", "/retry "+a)
	case ledger.Ready:
		if !t.Queued() {
			m.button("Next", "/next "+a)
		}
		m.button("Skip", "/skip "+a)
		if t.LastFail != "" {
			m.whyButton(t.Task.ID, false)
		}
	case ledger.Pending:
		if t.Untaken() {
			m.untaken(t)
			return
		}
		if n := unmetNeeds(s, t); len(n) > 0 {
			m.add("Runs when " + shortID(n[0].Task.ID) + " is done.")
			m.button("Task "+strings.TrimPrefix(shortID(n[0].Task.ID), "#"), "/task "+idArg(n[0].Task.ID))
		}
		m.button("Skip", "/skip "+a)
	}
}

// taskStanding describes a task's state in words; "" for a ready task without an
// attempt.
func taskStanding(s loop.State, t loop.TaskState) string {
	q := ""
	if t.Question != "" {
		q = " (" + Clean(t.Question) + ")"
	}
	if parts := partsAtWork(t); len(parts) > 0 && q == "" {
		switch t.Status {
		case ledger.Pending, ledger.Ready, ledger.Waiting:
			first, _ := FindTask(s, parts[0])
			return fmt.Sprintf("in parts, %d of %d %s", partsDone(s, parts), len(parts), DoneWord(first))
		}
	}
	switch t.Status {
	case ledger.Active:
		if t.Attempt != nil {
			return stepOf(s, t)
		}
		return "at work"
	case ledger.Blocked:
		return "blocked" + q
	case ledger.ManualVerify:
		return "manual verify" + q
	case ledger.Waiting:
		return waitsFor(s, t) + q
	case ledger.Skipped:
		if why := GateText(t.Aside); why != "" {
			return "set aside: " + why
		}
		return "skipped"
	case ledger.Pending:
		if t.Untaken() {
			return "by " + Cut(Clean(t.Task.Author), 24) + ", not taken"
		}
		if n := unmetNeeds(s, t); len(n) > 0 {
			return "waits for " + shortID(n[0].Task.ID)
		}
		if phase := s.Project.PhaseBefore(t); phase > 0 {
			return fmt.Sprintf("waits for phase %d", phase)
		}
	case ledger.Withdrawn:
		return "withdrawn"
	case ledger.Ready:
		if t.Queued() {
			return "waits for the batch"
		}
		if by := s.ClaimedBy(t); by != "" {
			return "claimed by " + Cut(Foreign(by), 24)
		}
		if after := besideText(s, t); after != "" {
			return after
		}
		if bound := boundText(s, t); bound != "" {
			return bound
		}
		if t.Attempt != nil {
			return "goes on where it was"
		}
		if t.Failed > 0 {
			failed := Plural(t.Failed, "attempt") + " failed"
			if model, raised := s.RaisedModel(t); raised {
				failed += ", next on " + Cut(Clean(model), 16)
			}
			return failed
		}
	}
	return ""
}

// DoneWord says what a done task is: a part without a commit of its own is built, or mended.
func DoneWord(t loop.TaskState) string {
	switch {
	case t.Task.Hat != "":
		return "mended"
	case t.Task.Joins:
		return "built"
	}
	return "done"
}

// partsAtWork returns the ids of a task's parts, or only those that mend its sections
// while it waits for them.
func partsAtWork(t loop.TaskState) []string {
	if t.Attempt != nil && t.Attempt.Merged != nil && t.Attempt.Merged.Hat != "" {
		return t.Attempt.Merged.Made
	}
	return t.Parts
}

func partsDone(s loop.State, parts []string) int {
	n := 0
	for _, id := range parts {
		if p, ok := FindTask(s, id); ok && p.Status == ledger.Done {
			n++
		}
	}
	return n
}

// waitsFor names in a few words what a waiting task asks for.
func waitsFor(s loop.State, t loop.TaskState) string {
	for _, q := range s.Project.Questions {
		if q.ID == t.Question || ledger.SameID(q.Task, t.Task.ID) {
			if does := wordingOf(q).task; does != waitsForAnswer {
				return does
			}
		}
	}
	return waitsForAnswer
}

func dependsOn(s loop.State, t loop.TaskState) string {
	var parts []string
	for _, id := range t.Task.DependsOn {
		d, ok := FindTask(s, id)
		if !ok {
			parts = append(parts, shortID(id))
			continue
		}
		part := StatusSign(d.Status) + " " + shortID(d.Task.ID)
		if d.Status != ledger.Done {
			part += " " + orElse(taskStanding(s, d), string(d.Status))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// untaken shows a task of somebody who may not write to the repository, with all of its
// text and the button that lets it be worked on: whoever takes it has to know what it
// says. The button names that text, so that it takes no other one.
func (m *Message) untaken(t loop.TaskState) {
	m.add("Its author may not write to the repository:")
	m.whole(t.Task.Body)
	m.add("Read it before you take it: sessions act on what it says.")
	a := idArg(t.Task.ID)
	m.button("Take", "/next "+a+" "+t.TextID())
	m.button("Skip", "/skip "+a)
}

var textIDForm = regexp.MustCompile(`^[0-9a-f]{8}$`)

// nextTarget splits the argument of /next into a task and the text that was read.
func nextTarget(typed string) (task, text string) {
	if at := strings.LastIndexByte(typed, ' '); at > 0 && textIDForm.MatchString(typed[at+1:]) {
		return strings.TrimSpace(typed[:at]), typed[at+1:]
	}
	return typed, ""
}

// next handles /next. A task of somebody who may not write to the repository is taken
// with the text that was read: without one, or with another one than it has now, it is
// shown.
func (d dispatch) next(ctx context.Context, t loop.TaskState, text string) (Message, error) {
	if !t.Untaken() {
		return d.do(ctx, loop.NextTask{Task: t.Task.ID})
	}
	why := "Not taken yet: Take is for what stands here."
	if text != "" {
		m, err := d.do(ctx, loop.NextTask{Task: t.Task.ID, Text: text})
		if err != nil || !m.Refused {
			return m, err
		}
		s, _ := d.service.State(d.project)
		now, ok := s.Project.Find(t.Task.ID)
		if !ok || !now.Untaken() || now.TextID() == text {
			return m, nil
		}
		d.s, t, why = s, now, "Not taken: its text has changed since you read it."
	}
	m := Task(d.s, t, TaskHistory{}, d.r.Time)
	m.Key, m.Refused = "task.untaken", true
	m.Lines = slices.Insert(m.Lines, 1, Line{Text: why})
	return m, nil
}
