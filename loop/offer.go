package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// offerTime and lateTime are how long the question that confirms a requested
// command waits for its answer. trialEvery is the time between two trials of an
// unusable agent.
const (
	offerTime  = 10 * time.Minute
	lateTime   = 30 * time.Minute
	trialEvery = 15 * time.Minute // only in a process that stays (`nightporter up`)
)

// offerRun asks whether a run should start (docs/spec 23.2). It withdraws an
// older offer.
func (d *decision) offerRun(b OfferRun) {
	r := d.run()
	if !r.Over() && r.Check {
		d.refuseBesideCheck()
		return
	}
	if !r.Over() && !r.Aside() {
		done, total := d.Project.Count()
		d.refuse(ledger.CodeRunning, "%s runs already: %s, %d/%d", d.in.Project, r.ID, done, total)
		return
	}
	d.setShared(b.MaxSessions, b.Day)
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
		ID: d.nextID("q"), Kind: ledger.AskStart, Title: b.Settings.Source.String(), Text: strings.TrimPrefix(text, ", "), Offer: &b.Settings, Review: b.Review, First: b.First, Outlook: b.Outlook, Lanes: b.Lanes,
		By: d.by(), Asked: d.in.Time, Expires: d.in.Time.Add(offerTime),
	}
	if b.Tasks >= 0 {
		q.Open = &b.Tasks
	}
	d.add(scope{}, ledger.QuestionAsked{Question: q})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeAsked, ID: q.ID, Text: fmt.Sprintf("start %s? %s", d.in.Project, q.ID+" "+strings.Join(q.Verbs(), " · "+q.ID+" "))}
}

func (d *decision) withdrawOffers(why string) {
	for _, q := range d.Project.Questions {
		if q.Kind == ledger.AskStart {
			d.add(scope{}, ledger.QuestionExpired{ID: q.ID, Then: why})
		}
	}
}
