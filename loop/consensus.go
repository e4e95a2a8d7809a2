package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// maxCritiques is how often a plan is judged before a person decides (docs/spec 4.4).
const maxCritiques = 5

// nextArguing is where an event goes that belongs to the argument about a
// plan; "" where it does not. A critic's second rejection, and each after it,
// goes through the architect.
func nextArguing(s ledger.Settings, t TaskState) string {
	w := t.Attempt
	switch {
	case w.Event.Type == ledger.EventPlan && argues(s, t.Task):
		return hatCritic
	case w.Hat == hatCritic && w.Event.Type == ledger.EventCritique:
		switch {
		case payload.String(w.Event.Data, "verdict") == payload.VerdictOkay:
			return afterPlan(s)
		case w.rounds() > 0 && w.rounds()+1 < maxCritiques:
			return hatArchitect
		}
		return s.Planner()
	case w.Hat == hatArchitect && w.Event.Type == ledger.EventAdvice:
		return s.Planner()
	}
	return ""
}

// argue is the attempt's argument after one more of its events.
func (w *Attempt) argue(ev ledger.EventAccepted) {
	c := Consensus{}
	if w.Consensus != nil {
		c = *w.Consensus
	}
	switch ev.Type {
	case ledger.EventCritique:
		v := payload.Critique{
			OK: payload.String(ev.Data, "verdict") == payload.VerdictOkay, Sections: payload.Judgements(ev.Data), Objections: payload.Strings(ev.Data, "objections"),
		}
		c.Rounds = append(slices.Clip(c.Rounds), v)
		for _, s := range payload.Sections(w.Plan) {
			ok := v.OK || slices.ContainsFunc(v.Sections, func(j payload.Judgement) bool { return j.ID == s.ID && j.Verdict == payload.VerdictOkay })
			if ok && !slices.Contains(c.Approved, s.ID) {
				c.Approved = append(slices.Clip(c.Approved), s.ID)
			}
		}
	case ledger.EventAdvice:
		c.Advice = payload.String(ev.Data, "advice")
	case ledger.EventPlan:
		c.Advice = ""
	}
	w.Consensus = &c
}

// revised is a plan after its planner sent it again: what the critic let pass
// is no longer the planner's to change, and stands as it was. What it left out
// of that comes first again.
func revised(old, plan json.RawMessage, approved []string) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(approved) == 0 || json.Unmarshal(plan, &fields) != nil {
		return plan
	}
	kept := map[string]rawSection{}
	var list []rawSection
	for n, s := range payload.Sections(old) {
		if slices.Contains(approved, s.ID) {
			kept[s.ID] = rawSection{s, rawSections(old)[n]}
			list = append(list, kept[s.ID])
		}
	}
	for n, s := range payload.Sections(plan) {
		now := rawSection{s, rawSections(plan)[n]}
		if k, ok := kept[s.ID]; ok {
			list = slices.DeleteFunc(list, func(p rawSection) bool { return p.ID == s.ID })
			now = k
		}
		list = append(list, now)
	}
	var raw []json.RawMessage
	for _, p := range inOrder(list) {
		raw = append(raw, p.json())
	}
	all, err := json.Marshal(raw)
	if err != nil {
		return plan
	}
	fields["sections"] = all
	out, err := json.Marshal(fields)
	if err != nil {
		return plan
	}
	return out
}

// rawSection is a section with the JSON that it came in.
type rawSection struct {
	payload.Section
	raw json.RawMessage
}

// json says outright what the section depends on: where it said nothing, it
// meant the one before it, which may be another one now.
func (p rawSection) json() json.RawMessage {
	var said payload.Section
	if payload.Field(p.raw, "depends_on") != nil && json.Unmarshal(p.raw, &said) == nil && slices.Equal(said.DependsOn, p.DependsOn) {
		return p.raw
	}
	var fields map[string]json.RawMessage
	on := p.DependsOn
	if on == nil {
		on = []string{}
	}
	needs, err := json.Marshal(on)
	if err != nil || json.Unmarshal(p.raw, &fields) != nil {
		return p.raw
	}
	fields["depends_on"] = needs
	if out, err := json.Marshal(fields); err == nil {
		return out
	}
	return p.raw
}

// inOrder puts sections of two plans into an order in which each comes after
// all that it depends on. A section that needs what is in neither, or needs in
// a circle what needs it, would never be built: it does without.
func inOrder(list []rawSection) []rawSection {
	var out []rawSection
	placed := func(id string) bool {
		return slices.ContainsFunc(out, func(p rawSection) bool { return p.ID == id })
	}
	for len(list) > 0 {
		n := slices.IndexFunc(list, func(p rawSection) bool {
			return !slices.ContainsFunc(p.DependsOn, func(on string) bool { return !placed(on) })
		})
		next := list[max(n, 0)]
		next.DependsOn = slices.DeleteFunc(slices.Clone(next.DependsOn), func(on string) bool { return !placed(on) })
		out = append(out, next)
		list = slices.Delete(slices.Clone(list), max(n, 0), max(n, 0)+1)
	}
	return out
}

func rawSections(plan json.RawMessage) []json.RawMessage {
	var raw []json.RawMessage
	_ = json.Unmarshal(payload.Field(plan, "sections"), &raw)
	return raw
}

// unknownSection names a section that a critic judges and the plan lacks.
func unknownSection(plan, critique json.RawMessage) string {
	for _, j := range payload.Judgements(critique) {
		if !slices.ContainsFunc(payload.Sections(plan), func(s payload.Section) bool { return s.ID == j.ID }) {
			return j.ID
		}
	}
	return ""
}

// wrongRevision says what is wrong with a plan that its planner sends again,
// "" where nothing is: what was approved stands, whatever it holds now, so what
// is not in sections would be built by nobody.
func wrongRevision(w *Attempt, plan json.RawMessage) string {
	if w.Consensus == nil || len(w.Consensus.Approved) == 0 {
		return ""
	}
	approved := strings.Join(w.Consensus.Approved, ", ")
	if len(payload.Sections(plan)) == 0 {
		return fmt.Sprintf("sections that are approved (%s) stand; send the whole plan in sections", approved)
	}
	if n := len(payload.Sections(revised(w.Plan, plan, w.Consensus.Approved))); n > payload.MaxSections {
		return fmt.Sprintf("with the sections that are approved (%s) the plan has %d; %d are the most", approved, n, payload.MaxSections)
	}
	return ""
}

// critiqued goes on after the critic's verdict was routed.
func (d *decision) critiqued(t TaskState) {
	c := t.Attempt.Consensus
	last := c.Rounds[len(c.Rounds)-1]
	switch {
	case last.OK && d.run().Settings.PlanApproval, !last.OK && len(c.Rounds) >= maxCritiques:
		d.askPlan(t)
	case last.OK:
		d.settled(t, hatCritic)
	case !d.run().Settings.PlanApproval:
		d.beginParts(t)
	}
}

// askPlan lets a person decide about a plan; the task waits.
func (d *decision) askPlan(t TaskState) {
	q := ledger.Question{Kind: ledger.AskPlan, Hat: t.Attempt.Hat, Text: payload.Summary(t.Attempt.Plan)}
	if c := t.Attempt.Consensus; c != nil && len(c.Rounds) > 0 {
		if last := c.Rounds[len(c.Rounds)-1]; !last.OK {
			q.Text, q.Tried = strings.Join(last.AllObjections(), "\n"), fmt.Sprintf("%d rounds", len(c.Rounds))
		}
	}
	d.holdTask(t, q)
}

// settlePlan acts on what a person decided about a plan.
func (d *decision) settlePlan(q ledger.Question, approved bool, words string) {
	t, ok := d.task(q.Task)
	if !ok || t.Attempt == nil || t.Status != ledger.Waiting {
		return
	}
	if approved {
		d.settled(t, d.by())
		d.say("%s: the plan is approved", ledger.ShortID(q.Task))
		d.goOn()
		return
	}
	w := t.Attempt
	d.add(scope{task: q.Task, session: w.Session}, ledger.PlanSettled{By: d.by(), Rounds: w.rounds(), Words: words})
	d.add(scope{task: q.Task}, ledger.TaskWords{Text: "The owner sent the plan back: " + words})
	d.add(scope{task: q.Task, session: w.Session}, ledger.Routed{From: w.Hat, To: d.run().Settings.Planner(), Tree: w.Tree, Round: w.Rounds, Why: "plan sent back"})
	d.setTask(q.Task, ledger.Ready, "planned anew")
	d.say("%s is planned anew with your words", ledger.ShortID(q.Task))
	d.goOn()
}

// settled is the end of an argument: a plan of several sections becomes parts,
// every other one is built by this attempt.
func (d *decision) settled(t TaskState, by string) {
	w, id := t.Attempt, t.Task.ID
	d.add(scope{task: id, session: w.Session}, ledger.PlanSettled{Approved: true, By: by, Rounds: w.rounds()})
	if len(t.Parts) > 0 || argues(d.run().Settings, t.Task) && len(payload.Sections(w.Plan)) > 1 {
		d.makeParts(t, true)
		return
	}
	if to := afterPlan(d.run().Settings); w.Hat != to {
		d.add(scope{task: id, session: w.Session}, ledger.Routed{From: w.Hat, To: to, Tree: w.Tree, Round: w.Rounds, Why: "plan approved"})
	}
	if t.Status == ledger.Waiting {
		d.setTask(id, ledger.Ready, "plan approved")
	}
}

// redoPlan throws a plan away. Parts that are done stay done.
func (d *decision) redoPlan(b RedoPlan) {
	t, ok := d.Project.Find(b.Task)
	if parent, is := d.task(t.Task.Parent); ok && is {
		t = parent
	}
	switch {
	case !ok:
		d.noTask(b.Task)
		return
	case d.run().Over():
		d.refuse(ledger.CodeIdle, "%s is idle; it plans when it runs", d.in.Project)
		return
	case t.Status == ledger.Done || t.Status == ledger.Skipped || t.Status == ledger.Withdrawn:
		d.refuse(ledger.CodeOver, "%s is %s; /retry %s gives it new attempts", ledger.ShortID(t.Task.ID), t.Status, strings.TrimPrefix(ledger.ShortID(t.Task.ID), "#"))
		return
	case len(t.Plan) == 0:
		d.refuse(ledger.CodeNoPlan, "%s has no plan yet", ledger.ShortID(t.Task.ID))
		return
	case t.committing():
		d.refuse(ledger.CodeTooLate, "%s is being committed; nothing was changed", ledger.ShortID(t.Task.ID))
		return
	}
	id := t.Task.ID
	d.cutTask(t, "/plan redo")
	d.closeQuestions(id, "redo")
	stay := d.dropParts(t, "planned anew")
	words := "The owner wants another plan."
	if b.Words != "" {
		words = "The owner wants another plan: " + b.Words
	}
	if len(stay) > 0 {
		words += "\nDone already: " + strings.Join(stay, ", ") + "."
	}
	d.add(scope{task: id}, ledger.TaskWords{Text: words})
	d.add(scope{task: id}, ledger.AttemptEnded{Replan: true, Outcome: ledger.OutcomeAnew, Why: "/plan redo, by " + d.by()})
	why := "planned anew, by " + d.by()
	if t.Status == ledger.Blocked || t.Status == ledger.ManualVerify { // as /retry: with two new attempts, whatever its mark says
		d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: why, Fresh: true})
		d.mark(id, ledger.MarkOpen)
	} else {
		d.setTask(id, ledger.Ready, why)
	}
	d.say("%s is planned anew", ledger.ShortID(id))
}
