package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Times for which something that was asked for waits for its confirmation.
const (
	offerTime  = 10 * time.Minute
	lateTime   = 30 * time.Minute
	trialEvery = 15 * time.Minute // an unusable agent, where nightporter stays
)

// offerRun asks whether a run shall start (PHONE 3.2). An older offer gives
// way to the new one.
func (d *decision) offerRun(b OfferRun) {
	if r := d.run(); !r.Over() {
		done, total := d.Project.Count()
		d.refuse(ledger.CodeRunning, "%s runs already: %s, %d/%d", d.in.Project, r.ID, done, total)
		return
	}
	if b.MaxSessions > 0 && b.MaxSessions != d.Shared.MaxSessions {
		d.addShared(ledger.HouseSet{MaxSessions: b.MaxSessions})
	}
	d.withdrawOffers("another one was made")
	text := ""
	if b.Tasks >= 0 {
		text = fmt.Sprintf("%d tasks", b.Tasks)
		if b.Tasks == 1 {
			text = "1 task"
		}
	}
	if b.First != "" {
		text += ", from " + ledger.ShortID(b.First)
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskStart, Title: b.Settings.Source.String(), Text: strings.TrimPrefix(text, ", "), Offer: &b.Settings, Review: b.Review,
		By: d.by(), Asked: d.in.Time, Expires: d.in.Time.Add(offerTime),
	}
	d.add(scope{}, ledger.QuestionAsked{Question: q})
	d.answer = Answer{OK: true, Code: ledger.CodeAsked, ID: q.ID, Text: fmt.Sprintf("start %s? %s", d.in.Project, q.ID+" "+strings.Join(q.Verbs(), " · "+q.ID+" "))}
}

func (d *decision) withdrawOffers(why string) {
	for _, q := range d.Project.Questions {
		if q.Kind == ledger.AskStart {
			d.add(scope{}, ledger.QuestionExpired{ID: q.ID, Then: why})
		}
	}
}

// late asks first about a command from a time when nobody could read it: the
// night has gone on since (SPEC 6.7).
func (d *decision) late(b Late) {
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskLate, Text: b.Line, Do: b.Do, By: d.by(), Title: "sent " + plain(ledger.Duration(d.in.Time.Sub(b.Sent).Round(time.Minute))) + " ago",
		Sent: b.Sent, Asked: d.in.Time, Expires: d.in.Time.Add(lateTime),
	}
	d.add(scope{}, ledger.QuestionAsked{Question: q})
	d.answer = Answer{OK: true, Code: ledger.CodeAsked, ID: q.ID, Text: fmt.Sprintf("still do it? %s yes · %s no", q.ID, q.ID)}
}

// act does what was asked about first.
func (d *decision) act(deed ledger.DeferredCommand) {
	switch deed {
	case ledger.DeferPause:
		d.pause(Pause{})
	case ledger.DeferPauseNow:
		d.pause(Pause{Now: true})
	case ledger.DeferResume:
		d.resume("")
	case ledger.DeferStop:
		d.stop(Stop{})
	case ledger.DeferStopNow:
		d.stop(Stop{Now: true})
	case ledger.DeferNow:
		d.now("")
	}
}

// goOn starts the next run where a person's answer made a task ready after
// the last one has ended, and nightporter is there to work on it.
func (d *decision) goOn() {
	r := d.run()
	if d.in.Idle || r == nil || !r.Settings.Stays {
		return
	}
	if e := r.Finishing; e != nil && (e.Reason == ledger.ReasonManual || e.Reason == ledger.ReasonNothing || e.Reason == ledger.ReasonBlocked) {
		// It ends when its branch tip is verified: who wants more is noted.
		next := *e
		next.By = d.by()
		d.add(scope{}, ledger.RunFinishing{Ending: next})
		d.answer.Text += "; the next run starts with it"
	}
	if !r.Over() {
		return
	}
	s := r.upcoming()
	s.Until, s.From, s.Only = time.Time{}, "", "" // they were meant for that run
	text := d.answer.Text
	d.startRun(StartRun{Settings: s})
	d.answer = Answer{OK: true, Code: ledger.CodeStarted, ID: d.answer.ID, Text: strings.TrimPrefix(text+"; "+d.answer.ID+" starts with it", "; ")}
}
