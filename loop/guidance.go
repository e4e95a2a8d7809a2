package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// guide queues a directive (docs/spec 5.1). It never interrupts a session.
func (d *decision) guide(text string) {
	a, words := guidance.Parse(text)
	d.queueGuidance(words, a)
}

// queueGuidance queues words for the sessions that the address selects, or refuses
// them and says why.
func (d *decision) queueGuidance(words string, a guidance.Address) {
	words = strings.TrimSpace(words)
	if code, why := checkGuidance(words); why != "" {
		d.refuse(code, "%s", why)
		return
	}
	item := guidance.Item{Text: words, By: d.by(), At: d.in.Time, Hat: a.Hat, Sticky: a.Sticky}
	if a.Hat != "" {
		if hats := d.hats(); len(hats) > 0 && !slices.Contains(hats, a.Hat) {
			d.refuse(ledger.CodeNoHat, "not queued: no hat @%s (there are %s)", a.Hat, strings.Join(hats, " "))
			return
		}
	}
	if a.Task != "" {
		t, ok := d.Project.Find(a.Task)
		if !ok {
			d.noTask(a.Task)
			return
		}
		if t.Status == ledger.Done || t.Status == ledger.Skipped || t.Status == ledger.Withdrawn {
			d.refuse(ledger.CodeOver, "not queued: %s is %s, no session will come for it. /retry %s first", ledger.ShortID(t.Task.ID), t.Status, strings.TrimPrefix(ledger.ShortID(t.Task.ID), "#"))
			return
		}
		item.Task = ledger.FoldID(t.Task.ID)
	}
	item.Source = d.sourceOf(item)
	if before := d.Project.Guidance.StickyBefore(item); item.Sticky && before != nil {
		d.refuse(ledger.CodeNoRoom, "not queued: sticky guidance has half of a prompt's room, %d kB, and %s fill it. Take one back first: /drop %s", stickyKB, joinFew(before), before[0])
		return
	}
	item.ID = d.nextID("g")
	d.add(scope{}, ledger.GuidanceQueued{Item: item})
	d.attach(scope{}, item.ID)
	item.State = guidance.Queued
	to := Forecast(d.State, item)
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeQueued, ID: item.ID, Forecast: to, Text: fmt.Sprintf("%s queued → %s", item.ID, to)}
}

// stickyKB is guidance.MaxSticky in kB, for people.
const stickyKB = guidance.MaxSticky * 7 / 2 / 1000

// sourceOf returns the source that an item is for: that of its task, or of the run
// under way. What is said without a task between two runs, or sticky, is for any.
func (d *decision) sourceOf(i guidance.Item) string {
	if i.Task != "" || !i.Sticky && !d.run().Over() {
		return d.Project.Source
	}
	return ""
}

// Rests reports whether an item waits for something that is not there: for a run
// of its source or on its branch, or for the line of its task. Its lifetime stands still.
func (p Project) Rests(i guidance.Item) bool {
	if i.Source != "" && i.Source != p.Source || i.Astray(p.Run.worksOn()) {
		return true
	}
	task := cmp.Or(i.Task, i.Bound)
	if task == "" {
		return false
	}
	t, ok := p.Find(task)
	return ok && t.Status == ledger.Withdrawn && t.Rest != nil
}

// checkGuidance returns the code and reason for refusing the words of guidance. Both
// are empty if the words are acceptable.
func checkGuidance(words string) (code ledger.AnswerCode, why string) {
	n := utf8.RuneCountInString(words)
	switch {
	case strings.TrimSpace(words) == "":
		return ledger.CodeNoWords, "guidance needs your words: /guidance TEXT"
	case !utf8.ValidString(words):
		return ledger.CodeNotText, "that is not valid UTF-8 text; nothing was queued"
	case n > guidance.MaxText:
		return ledger.CodeTooLong, fmt.Sprintf("that has %d characters; %d are the most. Nothing was queued.", n, guidance.MaxText)
	}
	return "", ""
}

// hats returns the names of the hats of the run, sorted; nil before the first run.
func (d *decision) hats() []string {
	if d.run() == nil {
		return nil
	}
	return sortedKeys(d.run().upcoming().Hats)
}

// Forecast predicts which session will take a guidance item. Later inputs can make
// the prediction wrong.
func Forecast(s State, i guidance.Item) ledger.Forecast {
	f := forecast(s, i)
	if s.Project.Rests(i) {
		f := ledger.Forecast{Rests: true, Task: i.Task, Source: path(i.Source)}
		if i.Origin != nil {
			f.Request = i.Origin.Number
		}
		return f
	}
	f.Before = strings.Join(s.Project.crowd(i), " ")
	return f
}

// crowd returns the ids of the items that leave no room for an item in the next
// session that it could be in.
func (p Project) crowd(i guidance.Item) []string {
	if i.State != guidance.Queued {
		return nil
	}
	t := guidance.Target{Source: p.Source, Branch: p.Run.worksOn(), Hat: i.Hat, Writes: true, Task: i.Task}
	for _, w := range p.inLanes() {
		if i.Task == "" || ledger.SameID(i.Task, w.Task.ID) {
			t.Task, t.Parent = ledger.FoldID(w.Task.ID), ledger.FoldID(w.Task.Parent)
			break
		}
	}
	return p.Guidance.Before(i.ID, t)
}

// path returns the path of a source that is written KIND:PATH.
func path(source string) string {
	_, path, _ := strings.Cut(source, ":")
	return path
}

// forecast is Forecast for an item that nothing is in the way of.
func forecast(s State, i guidance.Item) ledger.Forecast {
	r := s.Project.Run
	switch {
	case i.Sticky:
		return ledger.Forecast{Every: true}
	case r.Over():
		return ledger.Forecast{NextRun: true}
	case i.Hat != "":
		return ledger.Forecast{Task: i.Task, Hat: i.Hat}
	}
	lanes := s.Project.inLanes()
	if i.Task == "" && len(lanes) > 1 { // nobody knows which of them has a session first
		return ledger.Forecast{}
	}
	for _, t := range lanes {
		if i.Task != "" && !ledger.SameID(t.Task.ID, i.Task) {
			continue
		}
		if hat := t.Attempt.nextWriter(r.Settings.For(t.Task)); hat != "" {
			return ledger.Forecast{Task: t.Task.ID, Hat: hat, Expected: true}
		}
		if i.Task != "" {
			break
		}
	}
	return ledger.Forecast{Task: i.Task}
}

// nextWriter follows the pattern from the attempt's hat and returns the next hat
// that may write and whose session has not begun. It returns "" if the route depends
// on the result of a review, or if no such hat follows.
func (w *Attempt) nextWriter(s ledger.Settings) string {
	hat := w.Hat
	for range len(s.Hats) + 1 {
		h, ok := s.Hats[hat]
		if !ok || len(h.Emits) == 0 {
			return ""
		}
		if h.Writes() && (hat != w.Hat || w.Stage == ledger.StageReady) {
			return hat
		}
		above, below := s.Pattern.Next(hat, h.Emits[0], true, w.sessionsOf), s.Pattern.Next(hat, h.Emits[0], false, w.sessionsOf)
		if above != below || ledger.EndsAttempt(above) {
			return ""
		}
		hat = above
	}
	return ""
}

func (d *decision) editGuidance(b EditGuidance) {
	i, ok := d.Project.Guidance.Get(strings.ToLower(b.ID))
	text := strings.TrimSpace(b.Text)
	switch {
	case !ok:
		d.refuse(ledger.CodeNoGuidance, "there is no guidance %s", b.ID)
		return
	case i.State != guidance.Queued:
		d.refuse(ledger.CodeInUse, "%s not changed: it is %s", i.ID, i.State.Word())
		return
	}
	if code, why := checkGuidance(text); why != "" {
		d.refuse(code, "%s not changed: %s", i.ID, why)
		return
	}
	if before := d.Project.Guidance.StickyBefore(guidance.Item{ID: i.ID, Text: text, Hat: i.Hat, Task: i.Task, Source: i.Source}); i.Sticky && before != nil {
		d.refuse(ledger.CodeNoRoom, "%s not changed: sticky guidance has half of a prompt's room, %d kB, and %s fill it. Take one back first: /drop %s", i.ID, stickyKB, joinFew(before), before[0])
		return
	}
	d.add(scope{}, ledger.GuidanceChanged{ID: i.ID, Text: text})
	d.say("%s changed", i.ID)
}

func (d *decision) dropGuidance(id string) {
	i, ok := d.Project.Guidance.Get(strings.ToLower(id))
	switch {
	case !ok:
		d.refuse(ledger.CodeNoGuidance, "there is no guidance %s", id)
	case i.Over():
		d.refuse(ledger.CodeOver, "%s is %s already", i.ID, i.State.Word())
	case i.State != guidance.Queued && !i.Sticky && (i.State != guidance.Injected || d.flying(i.Session)):
		d.refuse(ledger.CodeInUse, "%s not dropped: it is %s", i.ID, i.State.Word())
	default:
		d.add(scope{}, ledger.GuidanceDropped{ID: i.ID})
		d.say("%s dropped", i.ID)
	}
}

// flying reports whether a session is in flight.
func (d *decision) flying(session string) bool {
	_, ok := d.Project.Session(session)
	return ok
}

func (d *decision) keepGuidance(id string) {
	i, ok := d.Project.Guidance.Get(strings.ToLower(id))
	if !ok || i.State != guidance.Expired {
		d.refuse(ledger.CodeNoGuidance, "%s has not expired; there is nothing to keep", id)
		return
	}
	d.add(scope{}, ledger.GuidanceKept{ID: i.ID})
	d.say("%s queued again", i.ID)
}

// now handles the command /now (see Now). It asks before it stops a session, because
// the work of that session has to be done again.
func (d *decision) now(text string) {
	a, words := guidance.Parse(text)
	sessions := d.interruptible()
	if a.Task != "" {
		named, ok := d.Project.Find(a.Task)
		if !ok {
			d.noTask(a.Task)
			return
		}
		sessions = slices.DeleteFunc(sessions, func(s Session) bool { return !ledger.SameID(s.Task, named.Task.ID) })
	}
	switch {
	case len(sessions) == 0 && strings.TrimSpace(text) == "":
		d.refuse(ledger.CodeNothing, "no session is at work that could be run again")
		return
	case len(sessions) == 0:
		d.guide(text)
		return
	case len(sessions) > 1:
		var ids []string
		for _, s := range sessions {
			ids = append(ids, s.Task)
		}
		d.refuse(ledger.CodeSeveral, "/now: which of %s?\nSeveral are at work. Say for example: /now %s TEXT", strings.Join(shortIDs(ids), " "), ledger.ShortID(ids[0]))
		return
	case a.Task != "":
		text = words
	}
	session := sessions[0]
	t, _ := d.task(session.Task)
	if strings.TrimSpace(text) == "" {
		d.cut(session, "/now")
		d.say("%s %s reruns", ledger.ShortID(t.Task.ID), t.Attempt.Hat)
		return
	}
	if code, why := checkGuidance(text); why != "" {
		d.refuse(code, "%s", why)
		return
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskNow, By: d.by(), Run: d.run().ID, Task: t.Task.ID, Session: session.ID, Hat: t.Attempt.Hat, Text: text,
		Asked: d.in.Time, Expires: d.in.Time.Add(d.run().Settings.BaselineTimeout.D()),
	}
	d.add(scope{task: t.Task.ID, session: session.ID}, ledger.QuestionAsked{Question: q})
	d.attach(scope{}, q.ID)
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeAsked, ID: q.ID, Text: fmt.Sprintf("stop %s %s and rerun it? %s rerun · %s queue", ledger.ShortID(t.Task.ID), t.Attempt.Hat, q.ID, q.ID)}
}

// interruptible returns the agents' sessions that /now can stop: their tasks are in
// hand, and they have sent no event.
func (d *decision) interruptible() (sessions []Session) {
	for _, t := range d.Project.inLanes() {
		for _, s := range d.Project.Sessions {
			if s.Planned.Kind == ledger.KindAgent && s.Event == nil && ledger.SameID(s.Task, t.Task.ID) {
				sessions = append(sessions, s)
			}
		}
	}
	return sessions
}

// queueNow queues the words of a /now as guidance from its sender and returns the
// item's id.
func (d *decision) queueNow(q ledger.Question) string {
	item := guidance.Item{ID: d.nextID("g"), Text: strings.TrimSpace(q.Text), By: q.By, At: d.in.Time}
	if d.run().Lanes() > 1 {
		item.Task = ledger.FoldID(q.Task) // the next session that writes may be another task's
	}
	item.Source = d.sourceOf(item)
	d.add(scope{}, ledger.GuidanceQueued{Item: item})
	d.hand(q.ID, item.ID)
	return item.ID
}

// settleNow expires the question of a /now. Its words are queued, and no session is
// stopped.
func (d *decision) settleNow(q ledger.Question, then string) {
	d.add(scope{task: q.Task}, ledger.QuestionExpired{ID: q.ID, Choice: "queue", Then: then})
	d.queueNow(q)
}

// lateNow settles the questions of each /now about a session that has ended by
// itself. The words go to the next session.
func (d *decision) lateNow(s Session) {
	for _, q := range d.Project.Questions {
		if q.Kind == ledger.AskNow && q.Session == s.ID {
			d.settleNow(q, "queued; the session had ended")
		}
	}
}
