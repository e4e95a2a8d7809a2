package loop

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// late asks whether a delayed command is still wanted, because the run may have
// changed since it was sent (docs/spec 6.7).
func (d *decision) late(b Late) {
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskLate, Text: b.Line, Do: b.Do, By: d.by(), Title: "sent " + ledger.Duration(d.in.Time.Sub(b.Sent).Round(time.Minute)).String() + " ago",
		Sent: b.Sent, Asked: d.in.Time, Expires: d.in.Time.Add(lateTime),
	}
	d.add(scope{}, ledger.QuestionAsked{Question: q})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeAsked, ID: q.ID, Text: fmt.Sprintf("still do it? %s yes · %s no", q.ID, q.ID)}
}

// act carries out a command after a person confirmed it.
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
