package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// wish is a task that somebody wants in the plan. It is known by its title, which no
// other task has, and judged by what the plan's file has and what people were told:
// nothing of it comes from the ledger.
type wish struct {
	site  *site
	title string
	asked int  // times that it was sent as a wish of its own
	never bool // whoever sent it must be refused

	taken   bool      // somebody was told that it will be added, or is
	refused bool      // somebody was told that it is not added
	unheard bool      // whoever asked is gone, and heard no end
	written time.Time // by the scheduler's clock: when it was last written into the file; zero = not yet
	out     bool      // a person took it out, or saved a text without it
	plan    *proposal // of an idea that it is part of; nil: it was asked for as it is
}

// drawAdds decides whether people and sessions add tasks in this night: from a stream
// of its own, as drawSites.
func (w *world) drawAdds() {
	if of := w.opt.adds; of > 0 {
		if own := rand.New(rand.NewPCG(w.seed, 0x6164)); own.Uint64N(of) == 0 {
			w.adds = own
		}
	}
}

// wish returns a wish with a new title.
func (s *site) wish() *wish {
	x := &wish{site: s, title: fmt.Sprintf("Polish corner %d of it", len(s.wishes)+1), asked: 1}
	s.world.wishes = append(s.world.wishes, x)
	return x
}

// addLine is what a person types who adds tasks, or regrets it.
func (w *world) addLine() string {
	s := w.sites[w.adds.IntN(len(w.sites))]
	line := ""
	switch w.adds.IntN(12) {
	case 9, 10, 11: // without up nobody plans it
		if s.settings.Stays {
			line = fmt.Sprintf("/idea Make corner %d of it shine", w.adds.IntN(100))
			break
		}
		fallthrough
	case 0:
		line = "/add " + s.wish().title + "\nAs it was said at lunch.\n- and so on"
	case 1:
		line = "/add - " + s.wish().title + "\n- " + s.wish().title + "\n- " + s.wish().title
	case 2: // a person who forgot that they asked
		if len(w.wishes) == 0 {
			return "/add"
		}
		again := w.wishes[w.adds.IntN(len(w.wishes))]
		if again.never || again.plan != nil {
			return "/add"
		}
		again.asked++
		s, line = again.site, "/add "+again.title
	case 3, 4:
		w.undos++
		line = fmt.Sprintf("/add undo a%d", 1+w.adds.IntN(6))
	case 5:
		w.undos++
		line = fmt.Sprintf("/add edit a%d %s", 1+w.adds.IntN(6), s.wish().title)
	default:
		line = "/add " + s.wish().title
	}
	if w.several() {
		line = s.name + ": " + line
	}
	return line
}

// console adds tasks now and then, as nightporter add does.
func (w *site) console() {
	for {
		w.all.sleep(time.Duration(w.adds.Int64N(int64(4 * time.Hour))))
		if !w.on() || w.daemon == nil {
			continue
		}
		x := w.wish()
		add := loop.AddTasks{Tasks: []ledger.Task{{Title: x.title}}}
		if s, _ := w.state(); s.Project.Run.Over() || s.Project.Run.Aside() || s.Project.Run.Base.Commit == "" {
			read, err := w.readSource()
			if err != nil {
				continue
			}
			add.Repo, add.Source, add.Known = read.Repo, read.Source, read.Tasks
		}
		w.count(sourceAdds)
		a, took := w.do(add)
		if !took {
			continue // nobody was told anything
		}
		w.tell("operator", "nightporter add %s: %s", x.title, ok(a))
		w.answered(a, w.all.sleep, x)
	}
}

// readSource reads the plan as it is now, for a person who adds to it while no run is
// at work.
func (w *site) readSource() (bot.SourceReading, error) {
	read, err := w.plan.form.Parse(w.settings.Source.Path, w.plan.text)
	return bot.SourceReading{Repo: w.settings.Repo, Source: w.settings.Source, Tasks: w.recur(read).Tasks}, err
}

// partOne is the title of a task that the plan begins with.
const partOne = "Make part 1"

// addsTasks is what a session adds before it ends, with what it must not add.
func (s *session) addsTasks() {
	w := s.w
	if w.adds == nil || !w.on() || !w.settings.Hats[s.launch.Hat].MayAdd || w.adds.IntN(4) > 0 {
		return
	}
	w.count(sourceAdds)
	x := w.wish()
	tasks := []ledger.Task{{Title: x.title, Body: "Found on the way.", Acceptance: []string{"It is polished"}}}
	wishes := []*wish{x}
	switch w.adds.IntN(6) {
	case 0:
		tasks[0].DependsOn = []string{fmt.Sprintf("Task %d", 1+w.adds.IntN(w.opt.tasks))}
	case 1: // a circle: none of them may come
		y := w.wish()
		x.never, y.never = true, true
		tasks[0].ID, tasks[0].DependsOn = "Task 900", []string{"Task 901"}
		tasks = append(tasks, ledger.Task{ID: "Task 901", Title: y.title, DependsOn: []string{"Task 900"}})
		wishes = append(wishes, y)
	case 2: // one that is there, unless its line is gone
		tasks = append(tasks, ledger.Task{Title: partOne})
	}
	body := loop.AddTasks{Tasks: tasks, Session: s.launch.Session}
	key := fmt.Sprintf("add:%s:%s", s.launch.Session, x.title)
	a := s.inputAs(key, body)
	if w.adds.IntN(3) == 0 {
		if again := s.inputAs(key, body); a.OK && given(again) && (!again.OK || again.ID != a.ID) {
			w.fail("one addition, one answer", "%s adds %s again and is answered %+v, before %+v", s.launch.Session, x.title, again, a)
		}
	}
	if given(a) {
		w.tell("agent", "%s adds %s: %s", s.launch.Session, x.title, ok(a))
		w.answered(a, s.work, wishes...)
	}
}

// answered notes what whoever adds tasks is told: by the answer, and for ten seconds
// by what becomes of them.
func (w *site) answered(a ledger.Answer, sleep func(time.Duration), wishes ...*wish) {
	told := func(taken bool) {
		for _, x := range wishes {
			x.taken, x.refused = x.taken || taken, x.refused || !taken
		}
	}
	heard := func(is bool) {
		for _, x := range wishes {
			x.unheard = !is
		}
	}
	told(a.OK)
	heard(false) // the sleep of a session that is ended does not return
	for n := 0; a.OK && n < 10; sleep(time.Second) {
		s, up := w.state()
		switch made, known := s.Project.Addition(a.ID); {
		case !up && w.on():
			continue // it asks until there is a daemon
		case up && known && made.Done:
			if made.Error != "" && !strings.HasSuffix(made.Remedy, task.InFile) {
				told(false)
			}
			heard(true)
			return
		}
		n++
	}
	heard(true)
}

var _ engine.Adder = source{}

// AddOnce is engine.Adder's.
func (s source) AddOnce(_ context.Context, a ledger.AddTasks) (ledger.AddedTasks, error) {
	defer s.begin()()
	s.life.sleep(s.between(0, 20*time.Millisecond))
	if s.past() {
		return ledger.AddedTasks{}, &task.ReadOnlyError{File: s.path}
	}
	text, done, err := task.AddToText(s.plan.form, s.path, s.plan.text, a)
	if err != nil {
		s.tell("plan", "takes no task: %v", err)
		return done, err
	}
	if string(text) != string(s.plan.text) {
		if s.hit(addFails) {
			err := pick[error](s.world, fs.ErrPermission, syscall.EIO, syscall.ENOSPC)
			s.tell("plan", "takes no task: %v", err)
			return ledger.AddedTasks{}, fmt.Errorf("write %s: %w", s.path, err)
		}
		s.saveOwn(text)
		s.audit.added(a.Tasks, done)
	}
	if s.hit(addCut) {
		s.kill("right after a task was written into the plan")
		s.life.check()
	}
	s.life.sleep(s.between(0, 20*time.Millisecond))
	return done, nil
}

// RemoveAdded is engine.Adder's.
func (s source) RemoveAdded(_ context.Context, r ledger.RemoveTasks) error {
	defer s.begin()()
	s.life.sleep(s.between(0, 20*time.Millisecond))
	if s.past() {
		return &task.ChangedError{File: s.path}
	}
	text, err := task.RemoveFromText(s.plan.form, s.path, s.plan.text, r)
	if err != nil {
		return err
	}
	if string(text) != string(s.plan.text) {
		s.audit.takenOut(r)
		s.saveOwn(text)
	}
	if s.hit(addCut) {
		s.kill("right after a task was taken out of the plan")
		s.life.check()
	}
	return nil
}

// saveOwn is save of what nightporter writes itself: it takes no wish away.
func (w *site) saveOwn(text []byte) {
	w.plan.meant, w.plan.since = text, w.s.now
	w.write(text)
}

// lost sees each text that a person saves over another: what it lacks they took out,
// knowing or not.
func (w *site) lost(before, now []byte) {
	for _, x := range w.wishes {
		if x.site == w && (x.out || strings.Contains(string(before), x.title)) {
			x.out = !strings.Contains(string(now), x.title)
		}
	}
}

// added sees each task that nightporter writes into the plan.
func (a *audit) added(tasks []ledger.Task, done ledger.AddedTasks) {
	for n, t := range tasks {
		a.w.tell("plan", "has %s now: %s", done.IDs[n], t.Title)
		x := a.w.wishOf(t.Title)
		switch {
		case x == nil && t.Title == partOne: // its line was gone
			continue
		case x == nil:
			a.w.fail("nothing added that nobody wants", "%q is written into the plan", t.Title)
		case x.never:
			a.w.fail("nothing added that is refused", "%q is written into the plan", t.Title)
		case x.plan != nil && !x.plan.agreed:
			a.w.fail("nothing written before a person agrees", "%q is written into the plan", t.Title)
		}
		x.written, x.out = a.w.s.now, false
	}
}

// takenOut sees each removal of added tasks. Somebody asked for it.
func (a *audit) takenOut(r ledger.RemoveTasks) {
	a.w.tell("plan", "has %s no more", strings.Join(r.IDs, ", "))
	if a.w.undone++; a.w.undone > a.w.undos {
		a.w.fail("nothing taken out that nobody regrets", "%v is taken out, and %d undos were asked for", r.IDs, a.w.undos)
	}
	for _, x := range a.w.wishes {
		if strings.Contains(r.Text, x.title) {
			x.out = true
		}
	}
}

// wishOf returns the wish with a title in the project.
func (w *site) wishOf(title string) *wish {
	n := slices.IndexFunc(w.wishes, func(x *wish) bool { return x.site == w && x.title == title })
	if n < 0 {
		return nil
	}
	return w.wishes[n]
}

// tellsOfAdd are the messages about an addition, and whether they say that it is made.
// That the plan has such a task already (add.twice) says neither.
var tellsOfAdd = map[string]bool{
	"add.writing": true, "add.done": true, "add.found": true, "add.waits": true,
	"add.failed": false, "add.source": false, "answer." + loop.AddTasks{}.InputKind(): false,
}

// toldOfAdds sees each message that a chat shows.
func (a *audit) toldOfAdds(m bot.Message) {
	made, about := tellsOfAdd[m.Key]
	inFile := func(l bot.Line) bool { return strings.HasSuffix(strings.TrimSuffix(l.Text, "."), task.InFile) }
	if !about || slices.ContainsFunc(m.Lines, inFile) {
		return
	}
	for _, x := range a.w.wishes {
		if slices.ContainsFunc(m.Lines, func(l bot.Line) bool { return l.Text == x.title }) {
			x.taken, x.refused = x.taken || made, x.refused || !made
		}
	}
}

// addsHold holds what has to be true of all wishes once the night is over.
func (a *audit) addsHold() {
	w := a.w
	read, err := w.plan.form.Parse(w.settings.Source.Path, w.plan.text)
	if err != nil {
		return // its person left it so
	}
	s, _ := w.state()
	for _, x := range w.wishes {
		if x.site != w {
			continue
		}
		var has []ledger.Task
		for _, t := range read.Tasks {
			if t.Title == x.title {
				has = append(has, t)
			}
		}
		switch {
		case len(has) > x.asked:
			w.fail("each added task once", "the plan has %q %d times, and it was asked for %d times", x.title, len(has), x.asked)
		case len(has) == 0 && x.taken && !x.refused && !x.unheard && !x.out:
			w.fail("no added task lost", "%q was taken, and the plan does not have it", x.title)
		case len(has) == 1 && x.refused && !x.taken && x.asked == 1:
			w.fail("nobody told what did not happen", "%q was refused, and the plan has it", x.title)
		}
		for _, t := range has {
			a.scheduled(s, x, t)
		}
	}
}

// scheduled holds that a task which was written before the end of the last run is
// over, or that the ledger says why not.
func (a *audit) scheduled(s loop.State, x *wish, t ledger.Task) {
	if t.Mark != ledger.MarkOpen || x.out || !x.written.Before(a.lastEnd) {
		return
	}
	if r := s.Project.Run; r.Started.IsZero() { // it was stopped before it had read the plan
		return
	}
	known, is := s.Project.Find(t.ID)
	switch {
	case !is:
		a.w.fail("each added task is scheduled", "%s %q was written before the end of %s, which does not know it", t.ID, t.Title, s.Project.Run.ID)
	case known.Status == ledger.Ready || known.Status == ledger.Active || known.Status == ledger.Pending && len(known.Task.DependsOn) == 0:
		if a.lastReason == ledger.ReasonDone {
			a.w.fail("each added task is scheduled", "%s %q is %s, and %s has ended", t.ID, t.Title, known.Status, s.Project.Run.ID)
		}
	}
}

// given reports whether there is an answer yet.
func given(a ledger.Answer) bool { return len(a.Code)+len(a.Text) > 0 }
