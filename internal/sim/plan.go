package main

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
	"github.com/nightporter/nightporter/loop/task/form"
	"github.com/nightporter/nightporter/loop/task/markdown"
)

// planPath is the path of the first night's plan in the repository.
const planPath = ".agents/plans/in-progress/checkout.md"

// planOf returns the path of a night's plan; each has its own.
func planOf(night int) string {
	if night == 0 {
		return planPath
	}
	return fmt.Sprintf("%s-%d.md", strings.TrimSuffix(planPath, ".md"), night+1)
}

// planFile is the user's plan in their checkout: its bytes, which the real parser
// reads and the real writer changes.
type planFile struct {
	form     form.Form
	text     []byte
	meant    []byte    // as the person means it: not half of it
	since    time.Time // by the scheduler's clock: when the person saved it
	log      []byte
	read     []byte          // as the daemon read it last
	notified []chan struct{} // of those who watch it
}

func (w *site) drawPlan() {
	var b strings.Builder
	b.WriteString("# Checkout\n\n## Tasks\n\n")
	for n := 1; n <= w.opt.tasks; n++ {
		fmt.Fprintf(&b, "- [ ] **Task %d: Make part %d**\n  - Scope: `%s`\n", n, n, w.scope(n))
		switch {
		case n > 1 && w.one(3):
			fmt.Fprintf(&b, "  - Depends on: Task %d\n", 1+w.rnd.IntN(n-1))
		case w.one(2):
			b.WriteString("  - Depends on: none\n")
		}
		fmt.Fprintf(&b, "  - Acceptance:\n    - Part %d works\n\n", n)
	}
	w.plan.form, w.plan.text = markdown.Plan{}, []byte(b.String())
	w.plan.meant, w.plan.since = w.plan.text, w.s.now
	w.drawRecurring()
}

// save replaces the plan as a person's editor does, and tells those who watch it.
func (w *site) save(text []byte) {
	w.lost(w.plan.text, text)
	w.reopens(w.plan.text, text)
	if string(text) != string(w.plan.meant) {
		w.plan.meant, w.plan.since = text, w.s.now
	}
	w.write(text)
}

// planStands reports whether the plan is as its person means it for as long as
// nightporter takes to believe it.
func (w *site) planStands() bool { return w.s.now.Sub(w.plan.since) >= 2*ledger.SettleTime }

// write is save of a text that nobody means.
func (w *site) write(text []byte) {
	w.plan.text = text
	for _, c := range w.plan.notified {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// source is the plan as one daemon reaches it.
type source struct {
	*site
	life *life
	path string
}

// past reports whether the plan is one of an earlier night. Nobody changes it any
// more, and every task in it is over.
func (s source) past() bool { return s.path != s.settings.Source.Path }

// nothing is a plan without tasks.
var nothing = []byte("# Checkout\n\n## Tasks\n\n")

var _ engine.Source = source{}

// Read is engine.Source's.
func (s source) Read(context.Context) (ledger.Snapshot, error) {
	defer s.begin()()
	s.life.sleep(s.between(0, 20*time.Millisecond))
	if s.past() {
		return markdown.ParsePlan(s.path, nothing)
	}
	s.plan.read = s.plan.text
	snapshot, err := s.plan.form.Parse(s.path, s.plan.text)
	return s.recur(snapshot), err
}

// Mark is engine.Source's.
func (s source) Mark(_ context.Context, marks []ledger.Marking) error {
	defer s.begin()()
	s.life.sleep(s.between(0, 20*time.Millisecond))
	if s.hit(markFails) {
		return fmt.Errorf("mark %s: %w", s.path, fs.ErrPermission)
	}
	if s.past() {
		return nil
	}
	text, gone, err := s.plan.form.Mark(s.path, s.plan.text, marks)
	if err != nil {
		return err
	}
	if string(text) != string(s.plan.text) {
		s.saveOwn(text)
		s.audit.marks(marks)
	}
	if len(gone) > 0 {
		return &task.GoneError{File: "checkout.md", Tasks: gone}
	}
	s.life.sleep(s.between(0, 20*time.Millisecond))
	return nil
}

// Log is engine.Source's.
func (s source) Log(_ context.Context, p ledger.Progress) error {
	defer s.begin()()
	s.life.sleep(s.between(0, 20*time.Millisecond))
	s.plan.log = task.AppendProgress("checkout", s.plan.log, p, s.zone)
	s.life.sleep(s.between(0, 20*time.Millisecond))
	return nil
}

// Owned is engine.Source's.
func (s source) Owned() []string {
	return []string{s.path, strings.TrimSuffix(s.path, ".md") + ".progress.md"}
}

// Watch is engine.Source's. It compares contents, as the real one does: a change
// between Read and Watch counts, and so does what this daemon has not read.
func (s source) Watch(ctx context.Context, changed func()) error {
	c := make(chan struct{}, 1)
	s.plan.notified = append(s.plan.notified, c)
	last := string(s.plan.read)
	for {
		if now := string(s.plan.text); now != last {
			last = now
			changed()
		}
		if s.life.Wait(ctx, sched.Forever, c) != nil {
			return nil //nolint:nilerr // the end of ctx is no error
		}
		s.life.sleep(100 * time.Millisecond)
	}
}

// edit changes the plan as people do.
func (w *site) edit() {
	old := w.plan.text
	lines := strings.SplitAfter(string(old), "\n")
	var boxes []int
	for n, l := range lines {
		if strings.HasPrefix(l, "- [") {
			boxes = append(boxes, n)
		}
	}
	if len(boxes) == 0 {
		return
	}
	at := pick(w, boxes...)
	said := func(f fault, what string) bool {
		if !w.on() {
			return false
		}
		w.count(f)
		w.tell("editor", "%s", what)
		return true
	}
	switch w.rnd.IntN(9) {
	case 0:
		if said(planAdds, "a task is added") {
			w.audit.version++
			for strings.Contains(string(old), fmt.Sprintf("**Task %d:", 100+w.audit.version)) { // nightporter counts on, too
				w.audit.version++
			}
			w.save(fmt.Appendf(old, "- [ ] **Task %d: Added**\n  - Scope: src\n\n", 100+w.audit.version))
		}
	case 1:
		if said(planEdits, "a task is edited: "+strings.TrimSpace(lines[at])) {
			w.audit.version++
			lines[at] += fmt.Sprintf("  - Notes: as of version %d\n", w.audit.version)
			w.save([]byte(strings.Join(lines, "")))
		}
	case 2:
		if said(planTicks, "a task is ticked: "+strings.TrimSpace(lines[at])) {
			lines[at] = strings.Replace(lines[at], "- [ ]", "- [x]", 1)
			w.save([]byte(strings.Join(lines, "")))
		}
	case 3:
		if said(planUnticks, "a checkout unticks all") {
			w.save([]byte(strings.ReplaceAll(string(old), "- [x]", "- [ ]")))
		}
	case 4:
		if said(planBreaks, "a plan that does not parse is saved") {
			w.save(fmt.Appendf(nil, "%s- [ ] **Task 1: Twice**\n", old))
			w.all.sleep(w.between(time.Second, 10*time.Minute))
			w.save(old)
		}
	case 5, 6:
		if said(planHalf, "the plan is saved slowly") {
			w.write(slices.Clone(old[:w.rnd.IntN(len(old))]))
			w.all.sleep(w.between(200*time.Millisecond, 3*time.Second))
			w.save(old)
		}
	case 7:
		if said(planLoses, "a task's lines are removed: "+strings.TrimSpace(lines[at])) {
			end := at + 1
			for end < len(lines) && !strings.HasPrefix(lines[end], "- [") {
				end++
			}
			w.save([]byte(strings.Join(slices.Concat(lines[:at], lines[end:]), "")))
			if w.one(2) {
				w.all.sleep(w.around(5 * time.Minute))
				w.save(old)
				w.tell("editor", "and they are back")
			}
		}
	case 8:
		if said(planBack, "an old version of the plan is checked out") {
			w.save([]byte(strings.Join(lines[:at], "")))
			w.all.sleep(w.around(time.Minute))
			w.save(old)
			w.tell("editor", "and the new one again")
		}
	}
}

// opens returns the ids of the tasks that are in a plan, and of those the open ones.
func (w *site) opens(plan []byte) (all, open map[string]bool) {
	all, open = map[string]bool{}, map[string]bool{}
	snapshot, err := w.plan.form.Parse(planPath, plan)
	if err != nil {
		return all, open
	}
	for _, t := range snapshot.Tasks {
		all[ledger.FoldID(t.ID)] = true
		if t.Mark == ledger.MarkOpen {
			open[ledger.FoldID(t.ID)] = true
		}
	}
	return all, open
}
