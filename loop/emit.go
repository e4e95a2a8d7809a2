package loop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// emit accepts the event of a session and ends the session, or refuses the event and
// says why. A session has one event: the same event again gets the same answer, and
// a different one is refused (docs/spec 2.2, 5.4).
func (d *decision) emit(b Emit) {
	s, ok := d.Project.Session(b.Session)
	switch {
	case !ok || s.Planned.Kind != ledger.KindAgent:
		d.refuse(ledger.CodeEnded, "session %s has ended; nothing was recorded", b.Session)
		return
	case s.Event != nil:
		if s.Event.Type == b.Type && sameJSON(s.Event.Data, b.Data) {
			d.answer = ledger.Answer{OK: true, Code: ledger.CodeAccepted, Receipt: s.Event.Receipt, Text: "accepted before; end the session now"}
			return
		}
		d.refuse(ledger.CodeSecondEvent, "this session ended with %s already; one session has one event. Stop now.", s.Event.Type)
		return
	case s.Cut:
		d.refuse(ledger.CodeCutOff, "this session is being ended; nothing was recorded")
		return
	}
	r := d.run()
	about := scope{task: s.Task, session: s.ID}
	hat := r.Settings.Hats[s.Planned.Hat]
	reports, why := payload.Check(hat, b.Type, b.Data)
	if b.Type == ledger.EventQuestion && why == "" {
		why = d.tooManyQuestions(s.Task)
	}
	var missing []string
	if t, ok := d.task(s.Task); ok && t.Attempt != nil && why == "" {
		switch b.Type {
		case ledger.EventCritique:
			if id := unknownSection(t.Attempt.Plan, b.Data); id != "" {
				why = fmt.Sprintf("the plan has no section %q", id)
			}
		case ledger.EventPlan:
			if why = wrongRevision(t.Attempt, b.Data); why == "" && r.Settings.For(t.Task).Pattern.DistinctFiles {
				why = sharedFiles(b.Data)
			}
			if s := r.Settings.For(t.Task); !r.Settings.Hats[s.Pattern.BuilderOf(ledger.EachSection)].OwnScope {
				why = cmp.Or(why, outOfScope(&t, b.Data))
			}
		case ledger.EventPassed:
			why = cmp.Or(t.Criteria().Contradiction(b.Data), d.untried(t, b.Data))
		case ledger.EventFailed:
			why = cmp.Or(t.Criteria().Contradiction(b.Data), wrongFaults(t, b.Data))
		case ledger.EventUpheld, ledger.EventDismissed:
			why = cmp.Or(payload.WrongRulings(t.Attempt.Issues, b.Data), ruledOut(t, b.Data))
		case ledger.EventEvaluation:
			why = d.Project.wrongVerdict(t, b.Data)
		case ledger.EventReview:
			if kind, passes := t.review(); len(passes) > 0 {
				why = payload.WrongReview(kind, passes, b.Data)
			}
		case ledger.EventTriage:
			why, missing = d.Project.wrongTriage(t, b.Data)
		}
	}
	if why != "" {
		if s.Refused < maxRefusals {
			d.add(about, ledger.EventRefused{Type: b.Type, Why: why, Missing: missing})
		}
		d.refuse(ledger.CodeRefused, "%s", why)
		return
	}
	owed := d.Project.Guidance.Owed(s.Planned.Guidance.Bound)
	owed = slices.DeleteFunc(owed, func(id string) bool {
		return slices.ContainsFunc(reports, func(r ledger.GuidanceReported) bool { return r.ID == id })
	})
	ends := b.Type == ledger.EventQuestion || b.Type == ledger.EventBlocked // these need no report: the items stay with the task
	// A missing report is refused once for each item and attempt. Once for each
	// session would send an agent that knows nothing of guidance back until its
	// task is blocked.
	asked := s.Owed
	if t, ok := d.task(s.Task); ok && t.Attempt != nil {
		asked = asked || !slices.ContainsFunc(owed, func(id string) bool { return !slices.Contains(t.Attempt.Owed, id) })
	}
	if len(owed) > 0 && !asked && !ends {
		d.add(about, ledger.EventRefused{Type: b.Type, Why: "guidance not reported", Owed: owed})
		d.refuse(ledger.CodeGuidance, `say what you did with %s: add "guidance":[{"id":"%s","done":true,"note":"how"}] or "set_aside":true with why`, strings.Join(owed, ", "), owed[0])
		return
	}
	data := asKept(b.Data)
	receipt := s.ID + " " + b.Type
	d.add(about, ledger.EventAccepted{Type: b.Type, Data: data, Receipt: receipt, Written: b.written})
	for _, rep := range reports {
		i, ok := d.Project.Guidance.Get(rep.ID)
		switch {
		case !ok || i.Over(): // dropped under the session: a report would change the receipt of what a person has ended
		case slices.Contains(s.Planned.Guidance.Bound, rep.ID):
			d.add(about, rep)
		case slices.Contains(s.Planned.Guidance.Shown, rep.ID) && !hat.Writes(): // a hat that writes saw these items only to respect them; it does not judge them
			d.add(about, ledger.GuidanceJudged{ID: rep.ID, Hat: hat.Name, Followed: rep.State == guidance.Addressed, Note: rep.Note})
		}
	}
	if !ends {
		for _, id := range owed {
			d.add(about, ledger.GuidanceReported{ID: id, State: guidance.NotReported})
		}
	}
	if !b.written {
		d.effect(s.ID+" event", ledger.EffectEnd{Session: s.ID, Grace: r.Settings.Grace})
	}
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeAccepted, Receipt: receipt, Text: "accepted; end the session now"}
}

// emitWritten decides the event that a session's last message ended with as if the
// session had sent it. It has ended: nobody is answered.
func (d *decision) emitWritten(session string, e ledger.WrittenEvent) {
	if s, ok := d.Project.Session(session); !ok || s.Event != nil {
		return // what it sent counts
	}
	answer := d.answer
	d.emit(Emit{Session: session, Type: e.Type, Data: e.Data, written: true})
	d.answer = answer
}

// maxRefusals limits the refused events that are recorded for one session, so that
// an agent that emits garbage in a loop cannot fill the ledger.
const maxRefusals = 20

// throttled records, once for each session, that it calls too often (docs/spec
// 12.4). The calls themselves reach neither the core nor the ledger.
func (d *decision) throttled(b Throttled) {
	s, ok := d.Project.Session(b.Session)
	if !ok || s.Throttled {
		return
	}
	d.add(scope{task: s.Task, session: s.ID}, ledger.SessionThrottled{Refused: b.Refused})
}

// asKept returns an event's data in the bytes that the ledger will give back, so
// that a prompt is the same before and after a restart. Data that is not valid JSON
// is returned unchanged.
func asKept(data json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(data)) == 0 {
		return json.RawMessage("{}")
	}
	kept, err := json.Marshal(data)
	if err != nil {
		return data
	}
	return kept
}

func sameJSON(a, b json.RawMessage) bool { return bytes.Equal(asKept(a), asKept(b)) }
