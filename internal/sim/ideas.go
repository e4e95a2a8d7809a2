package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// proposal is the plan that a session makes of an idea. Its tasks are wishes.
type proposal struct {
	wishes []*wish
	agreed bool // a person pressed start on a question that showed it
}

// idea is a person's idea, by what the chats say of it.
type idea struct {
	told bool // its plan, or why there is none
}

// drawDraft gives the runs of a night with additions the pattern that plans ideas.
func (w *site) drawDraft(s *ledger.Settings) {
	if w.adds == nil {
		return
	}
	s.Roles = map[string]ledger.Pattern{loop.DraftPattern: {
		Name: loop.DraftPattern, Start: "drafter", Routes: []ledger.Route{{From: "drafter", On: ledger.EventDraft, To: ledger.Converged}},
	}}
}

// draft is the plan that a session proposes, as an event's data: some tasks, of which
// each may need the one before.
func (s *session) draft() map[string]any {
	w := s.w
	p := &proposal{}
	var tasks []map[string]any
	for n := range 1 + w.adds.IntN(4) {
		x := w.wish()
		x.plan = p
		p.wishes = append(p.wishes, x)
		t := map[string]any{"id": string(rune('a' + n)), "title": x.title, "body": "It is rough.", "scope": []string{"src"}, "acceptance": []string{"It is smooth"}}
		if n > 0 && w.adds.IntN(2) == 0 {
			t["depends_on"] = []string{string(rune('a' + n - 1))}
		}
		tasks = append(tasks, t)
	}
	return map[string]any{"summary": "smoother", "tasks": tasks}
}

// agrees notes that a person starts the plan that a text shows.
func (w *world) agrees(shows func(title string) bool) {
	for _, x := range w.wishes {
		if x.plan != nil && shows(x.title) {
			x.plan.agreed = true
		}
	}
}

// decides presses a button of a plan that the person's chat shows, if one is open.
func (p *person) decides() bool {
	w := p.w
	for _, x := range slices.Backward(p.p.shown) {
		if x.chat == p.id && x.m.Key == "ask.idea" && len(x.m.Buttons) > 0 {
			n := 0
			if w.adds.IntN(3) == 0 {
				n = w.adds.IntN(len(x.m.Buttons))
			}
			w.count(personDecides)
			p.pressButton(x, n)
			return true
		}
	}
	return false
}

var ideaID = regexp.MustCompile(`\bi\d+\b`)

// toldOfIdeas sees each message that a chat shows.
func (a *audit) toldOfIdeas(m bot.Message) {
	if !slices.Contains([]string{"idea.taken", "ask.idea", "idea.failed"}, m.Key) {
		return
	}
	for _, id := range ideaID.FindAllString(first(m), -1) {
		if a.w.ideas[id] == nil {
			a.w.ideas[id] = &idea{}
		}
		a.w.ideas[id].told = a.w.ideas[id].told || m.Key != "idea.taken"
	}
}

// ideasHold holds what has to be true of all plans of ideas once the night is over.
func (a *audit) ideasHold() {
	w := a.w
	for _, x := range w.wishes {
		if x.site != w || x.plan == nil || x.written.IsZero() {
			continue
		}
		for _, of := range x.plan.wishes {
			if of.written.IsZero() {
				w.fail("all of a plan", "%q of a plan was written, and %q was not", x.title, of.title)
			}
		}
		if !a.lastEnd.After(x.written) {
			w.fail("a plan starts", "%q of a plan was written at %s, and no run ended after that", x.title, x.written.Format(time.TimeOnly))
		}
	}
}

// ideasTold holds that somebody was told what became of each idea.
func (w *world) ideasTold() {
	for _, n := range w.ideaOrder() {
		if id := fmt.Sprintf("i%d", n); !w.ideas[id].told {
			w.fail("each idea has an answer", "%s was taken, and no chat shows a plan for it, or why there is none", id)
		}
	}
}

// ideaOrder returns the numbers of the ideas that chats spoke of.
func (w *world) ideaOrder() (all []int) {
	for id := range w.ideas {
		n := 0
		_, _ = fmt.Sscanf(strings.TrimPrefix(id, "i"), "%d", &n)
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}
