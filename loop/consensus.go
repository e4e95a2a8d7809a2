package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// maxCritiques is the number of times that a critic judges a plan before a person
// decides (docs/spec 4.4).
const maxCritiques = 5

// nextArguing returns the next hat for an event that belongs to the argument about
// a plan, and "" for any other event. A plan goes to the critic. The critic's
// first rejection goes back to the planner; later ones go through the architect,
// except for the last, which a person decides about.
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

// argue adds an event (critique, advice or plan) to the attempt's argument. It
// replaces w.Consensus and leaves the old value as it was.
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

// revised returns the plan that is in force after the planner sent a new one.
// Sections that the critic approved stay as they were in the old plan, whatever the
// new one says. Approved sections that the new plan leaves out come first.
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

// json returns the section's JSON with its dependencies written out. A section
// without depends_on depends on the one before it, and in a revised plan that may be
// another section.
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

// inOrder sorts the sections of two plans so that each comes after its
// dependencies. It drops a dependency that is in neither plan or that closes a
// cycle, because its section would never be built.
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

// unknownSection returns the id of the first section that a critique judges and the
// plan lacks, "" if there is none.
func unknownSection(plan, critique json.RawMessage) string {
	for _, j := range payload.Judgements(critique) {
		if !slices.ContainsFunc(payload.Sections(plan), func(s payload.Section) bool { return s.ID == j.ID }) {
			return j.ID
		}
	}
	return ""
}

// wrongRevision returns the reason to refuse a plan that the planner sends again,
// "" if there is none. Approved sections stand, so the new plan needs sections as
// well: the parts are made from sections, and nothing else in it would be built.
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

// critiqued acts on the critic's verdict after its event was routed: it asks a
// person, settles the plan, or begins the parts that the critic has approved.
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

// askPlan asks a person to approve a plan. The task waits for the answer.
func (d *decision) askPlan(t TaskState) {
	q := ledger.Question{Kind: ledger.AskPlan, Hat: t.Attempt.Hat, Text: payload.Summary(t.Attempt.Plan)}
	if c := t.Attempt.Consensus; c != nil && len(c.Rounds) > 0 {
		if last := c.Rounds[len(c.Rounds)-1]; !last.OK {
			q.Text, q.Tried = strings.Join(last.AllObjections(), "\n"), fmt.Sprintf("%d rounds", len(c.Rounds))
		}
	}
	d.holdTask(t, q)
}

// settlePlan acts on a person's answer about a plan. words tell the planner why it
// was sent back.
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

// settled records that a plan is approved. The sections of a plan become parts
// if there are several and the task may be split, or if parts exist already;
// any other plan is built by the attempt itself. by is the critic or a person's
// name.
func (d *decision) settled(t TaskState, by string) {
	w, id := t.Attempt, t.Task.ID
	d.add(scope{task: id, session: w.Session}, ledger.PlanSettled{Approved: true, By: by, Rounds: w.rounds()})
	if len(t.Parts) > 0 || t.splits(d.run().Settings) && len(payload.Sections(w.Plan)) > 1 {
		d.makeParts(t, true)
		return
	}
	if to := afterPlan(d.run().Settings.For(t.Task)); w.Hat != to {
		d.add(scope{task: id, session: w.Session}, ledger.Routed{From: w.Hat, To: to, Tree: w.Tree, Round: w.Rounds, Why: "plan approved"})
	}
	if t.Status == ledger.Waiting {
		d.setTask(id, ledger.Ready, "plan approved")
	}
}

// redoPlan discards a task's plan and starts the task anew. With a part's id,
// it redoes the plan that the part came from. Parts that are done stay done.
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
	set := ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "planned anew", By: d.by()}
	if t.Status == ledger.Blocked || t.Status == ledger.ManualVerify { // like /retry: two new attempts, whatever mark the source shows
		set.Fresh = true
		d.add(scope{task: id}, set)
		d.mark(id, ledger.MarkOpen)
	} else {
		d.changeTask(id, set)
	}
	d.say("%s is planned anew", ledger.ShortID(id))
}
