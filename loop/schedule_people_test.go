package loop

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

func (w *world) people() {
	switch w.draw(23, "person") {
	case 22:
		w.adds()
	case 0:
		w.person(Pause{Now: w.draw(2, "now") == 0})
	case 1, 2:
		w.person(Resume{})
	case 3:
		w.person(Stop{Now: w.draw(2, "now") == 0, Signal: pick(w, "", "SIGINT", "SIGTERM")})
	case 4:
		w.person(RetryTask{w.anyTask()})
	case 5:
		w.person(SkipTask{w.anyTask()})
	case 6:
		if w.draw(2, "fix") == 0 {
			w.person(FixReport{Task: w.anyTask()})
		} else {
			w.person(NextTask{Task: w.anyTask()})
		}
	case 7:
		w.person(StartRun{Settings: w.settings, MaxSessions: 1, New: w.draw(4, "new") == 0, Check: w.draw(8, "check") == 0})
	case 8, 9:
		w.answer()
	case 10, 11, 12:
		w.answer()
	case 13:
		w.person(OfferRun{Settings: w.settings, MaxSessions: 1, Tasks: len(w.plan.Tasks)})
	case 15:
		w.person(RedoPlan{Task: w.anyTask(), Words: pick(w, "", "smaller")})
	case 16:
		b := HatsChanged{Pattern: patterns[pick(w, "plan-build-review", "single", "bug", "refactor")], Hats: w.hats()}
		switch w.draw(4, "broken hats") {
		case 0:
			b = HatsChanged{Err: "hats/x.toml:3: unknown key"}
		case 1: // changed on disk, but only the next start reads it
			w.settings.Pattern, w.settings.Hats = b.Pattern, b.Hats
			return
		default:
			w.settings.Pattern, w.settings.Hats = b.Pattern, b.Hats
		}
		w.do(b, "")
	case 14:
		w.person(Late{Line: "/x", Do: pick(w, ledger.DeferPause, ledger.DeferPauseNow, ledger.DeferResume, ledger.DeferStop, ledger.DeferStopNow), Sent: w.now.Add(-3 * time.Hour)})
	case 18, 19, 20:
		w.remakes()
	default:
		w.run()
	}
}

// crowd sends a random input from people's chats: it is recorded in the shared
// stream and changes no project.
func (w *world) crowd() {
	w.who, w.role = pick(w, "", "mira", "ana", "eve"), pick(w, "", "", ledger.RoleSteer, ledger.RoleAdmin)
	defer func() { w.who, w.role = "", "" }()
	hash := pick(w, "h1", "h2")
	b := pick[InputBody](w,
		people.OfferPairing{Hash: hash, Role: pick(w, ledger.RoleView, ledger.RoleSteer, ledger.RoleAdmin, "owner")},
		people.TryPairing{Hash: hash}, people.Remove{ID: "telegram:mira"}, people.MeetStranger{Why: "not paired"},
		people.SetQuiet{Chat: "telegram:ana", Hours: pick[ledger.Hours](w, "22:00-07:00", "off", "default", "22-7")},
		people.RefuseCommand{Command: "stop", For: "shop"}, people.CameBack{Off: w.now.Add(-time.Hour)},
		people.DigestDue{Day: w.now.Format(time.DateOnly), At: w.now}, people.WeekDigestDue{Week: "2026-W47", At: w.now},
	)
	if _, pairs := b.(people.TryPairing); pairs && w.who == "" {
		w.who = "mira" // the console pairs with nobody, and would lose its rights
	}
	for _, e := range w.do(b, w.key("crowd")).Entries {
		if e.Stream != ledger.SharedStream {
			w.t.Fatalf("%s records %s in %s", b.InputKind(), e.Body.EntryType(), e.Stream)
		}
	}
}

// hats returns the hats of all patterns, sometimes without a hat that no
// pattern has a route to.
func (w *world) hats() map[string]ledger.Hat {
	hats := maps.Clone(testSettings().Hats)
	if w.draw(3, "") == 0 {
		delete(hats, pick(w, "critic", "architect", "writer"))
	}
	return hats
}

// answer answers one open question at random, also with an invalid answer.
func (w *world) answer() {
	if old := w.s.Project.Answered; len(old) > 0 && w.draw(4, "late") == 0 { // undo or answer a question that is settled
		w.person(AnswerQuestion{Question: old[len(old)-1].ID, Choice: pick(w, "undo", "undo", "a", "retry"), Words: pick(w, "", "use the other one")})
		return
	}
	qs := w.s.Project.Questions
	if len(qs) == 0 {
		return
	}
	q := qs[w.draw(len(qs), "question")]
	verbs := append(q.Verbs(), "nonsense", "")
	w.person(AnswerQuestion{Question: q.ID, Choice: verbs[w.draw(len(verbs), "choice")], Words: pick(w, "", "use the other one")})
}

// talk sends a random command about guidance.
func (w *world) talk() {
	items := w.s.Project.Guidance.Items
	id := "g1"
	if len(items) > 0 {
		id = items[w.draw(len(items), "item")].ID
	}
	switch w.draw(8, "talk") {
	case 0:
		w.person(DropGuidance{id})
	case 1:
		w.person(KeepGuidance{id})
	case 2:
		w.person(EditGuidance{id, "other words"})
	case 3:
		w.person(Now{pick(w, "", "stop that")})
	default:
		text := pick(w, "keep the names", "@fixer be brief", "@planner think", "@reviewer look at it", "#1 only this one", "!sticky no new dependencies", "!sticky @builder tabs", "@nobody hello", "#99 hello", "")
		w.person(Guide{text})
	}
}

// edit changes the source at random: people edit, stash and tick.
func (w *world) edit() {
	if w.s.Project.Run.Over() || w.s.Project.Run.State == ledger.RunPlanning {
		return
	}
	tasks := slices.Clone(w.plan.Tasks)
	switch k := w.draw(8, "edit"); k {
	case 0:
		tasks = append(tasks, ledger.Task{ID: w.key("Task 1"), Title: "New", Mark: ledger.MarkOpen})
	case 1, 2, 3, 4:
		if len(tasks) == 0 {
			return
		}
		n := w.draw(len(tasks), "line")
		switch k {
		case 1:
			tasks[n].Body = fmt.Sprintf("edit %d", len(w.keys))
		case 2:
			tasks = slices.Delete(tasks, n, n+1)
		case 3:
			tasks[n].Mark = pick(w, ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify)
		case 4:
			slices.Reverse(tasks)
		}
	case 5: // a stash unticks all
		for n := range tasks {
			tasks[n].Mark = ledger.MarkOpen
		}
	case 6:
		w.do(SourceChanged{Err: "checkout.md:3  broken"}, "")
		return
	}
	w.older = append(w.older, w.plan.Tasks)
	w.saved = nil
	w.write(tasks)
}

// write puts tasks into the source's file, which is read at once.
func (w *world) write(tasks []ledger.Task) {
	w.plan.Tasks = slices.Clone(tasks)
	w.do(SourceChanged{Snapshot: ledger.Snapshot{Name: w.plan.Name, Path: w.plan.Path, Tasks: slices.Clone(tasks)}, Before: w.s.Project.Tasks}, "")
}

// save is a person who saves the plan slowly, and who checks out an older version
// of it: the file has another text than they mean, until they are through.
func (w *world) save() {
	if w.s.Project.Run.Over() || w.s.Project.Run.State == ledger.RunPlanning {
		return
	}
	if w.saved != nil {
		tasks := w.saved
		w.saved = nil
		w.write(tasks)
		return
	}
	w.saved = slices.Clone(w.plan.Tasks)
	if len(w.older) > 0 && w.draw(2, "checkout") == 0 {
		w.write(pick(w, w.older...))
		return
	}
	part := slices.Clone(w.plan.Tasks[:w.draw(len(w.plan.Tasks)+1, "first part")])
	if n := len(part) - 1; n >= 0 {
		part[n].Body = part[n].Body[:w.draw(len(part[n].Body)+1, "last line")]
	}
	w.write(part)
}

// adds has a person add a task, or take one out again.
func (w *world) adds() {
	if n := len(w.s.Project.Additions); n > 0 && w.draw(2, "undo") == 0 {
		w.person(UndoAdd{ID: w.s.Project.Additions[w.draw(n, "addition")].ID})
		return
	}
	title := fmt.Sprintf("Added %d", w.draw(4, "title"))
	w.person(AddTasks{Tasks: []ledger.Task{{Title: title}}, Repo: w.settings.Repo, Source: w.settings.Source, Known: w.plan.Tasks})
}
