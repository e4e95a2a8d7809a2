package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// emits reports whether the hat declares an event type. Hats are known by their
// events and not by their names, because users write their own hats.
func emits(h ledger.Hat, typ string) bool { return slices.Contains(h.Emits, typ) }

// plans, disputes and counsels report whether a hat is the planner, the critic
// or the architect of an argument about a plan (docs/spec 4.4).
func plans(h ledger.Hat) bool    { return emits(h, ledger.EventPlan) }
func disputes(h ledger.Hat) bool { return emits(h, ledger.EventCritique) }
func counsels(h ledger.Hat) bool { return emits(h, ledger.EventAdvice) }

// consensus reports whether a plan of this task goes to the critic.
func (b *builder) consensus() bool {
	return b.run.Settings.Consensus || b.run.Settings.Pattern.Consensus || b.task.Task.Consensus
}

// splits reports whether sections of a plan of this task become tasks of their own.
func (b *builder) splits() bool {
	return b.consensus() || (b.task.Replanned > 0 || b.merges()) && !b.isPart
}

// merges reports whether the sections of a plan of this task are built at the same time,
// and merged into one change.
func (b *builder) merges() bool {
	return b.run.Settings.For(b.task.Task).Pattern.BuilderOf(ledger.EachSection) != ""
}

// namesSections reports whether what the hat finds failed goes to the sections that it
// names.
func (b *builder) namesSections() bool {
	return slices.ContainsFunc(b.run.Settings.For(b.task.Task).Pattern.Routes, func(r ledger.Route) bool {
		return r.From == b.hat.Name && r.On == ledger.EventFailed && r.Each != ""
	})
}

// replanText tells a planner that the task is planned anew after failed attempts, once,
// and what it can do about it. It is never cut: without it, the planner would plan the
// same again.
func (b *builder) replanText() string {
	n := b.task.Replanned
	if n == 0 || !plans(b.hat) {
		return ""
	}
	lines := []string{
		fmt.Sprintf("This task failed in %s, so it gets another plan, and one more attempt: if that fails, too, a person decides. Find out why it failed before you plan. A plan that repeats what was tried is worth nothing; say in the summary what is done differently now, and why that will work.", count(n, "attempt")),
		"- Another way to the same end: steps.",
	}
	if !b.isPart {
		own := "attempts and commit"
		if b.merges() {
			own = "attempts"
		}
		lines = append(lines, fmt.Sprintf("- Too large, or a piece is missing that has to be there first: sections. Here each section becomes a task of its own, with its own %s, and can write nothing but its files. What is needed first is the first section.", own))
	}
	lines = append(lines, fmt.Sprintf("- It cannot be done as it is asked, or needs what its scope does not let you change: %s, with what a person has to decide.", ledger.EventBlocked))
	return strings.Join(lines, "\n")
}

// plan returns the plan that this session works by.
func (b *builder) plan() json.RawMessage { return b.task.PlanFor(b.hat) }

func (b *builder) planPart(plan json.RawMessage) part {
	p := part{title: "Plan", trim: trimPlan, file: "plan.json", text: planText(plan, b.skipped)}
	if all := requirementsText(b.parent.PlanFor(b.hat)); b.isPart && p.text != "" && all != "" {
		p.text = all + "\n\n" + p.text
	}
	if plans(b.hat) || disputes(b.hat) || counsels(b.hat) {
		p.text, p.trim = planText(plan, standingIn(b.attempt.Consensus)), trimDiff
	}
	p.data = b.project.TaintedText(b.task)
	return p
}

// skipped says of a section that a person had its part left out.
func (b *builder) skipped(section string) string {
	if p, ok := b.project.Find(b.task.PartOf(section)); ok && p.Status == ledger.Skipped {
		return "a person had it left out: it is not to be built"
	}
	return ""
}

// standingIn returns standing for the argument c; nil says nothing of any section.
func standingIn(c *loop.Consensus) func(section string) string {
	return func(section string) string {
		if c == nil {
			return ""
		}
		return standing(c, section)
	}
}

// planText renders a plan or one section of a plan, with what there is to say of each
// of its sections.
func planText(plan json.RawMessage, of func(section string) string) string {
	if len(plan) == 0 {
		return ""
	}
	summary := payload.String(plan, "summary")
	blocks := []string{summary}
	around := func(text string) string {
		if all := requirementsText(plan); all != "" {
			text += "\n\n" + all
		}
		if tried := payload.Strings(plan, "acceptance"); len(tried) > 0 {
			text += "\n\nWhat is tried when all of it is done:\n" + bullets(tried)
		}
		return strings.TrimSpace(text)
	}
	sections := payload.Sections(plan)
	var one payload.Section
	if len(sections) == 0 && json.Unmarshal(plan, &one) == nil && one.Title != "" { // the section of a part
		blocks[0] = strings.TrimSpace(summary + "\n" + sectionText(one))
	} else {
		blocks[0] = around(strings.TrimSpace(summary + "\n" + stepsText(stepsOf(plan))))
	}
	for _, s := range sections {
		heading := fmt.Sprintf("### %s: %s", s.ID, s.Title)
		if say := of(s.ID); say != "" {
			heading += fmt.Sprintf(" (%s)", say)
		}
		blocks = append(blocks, heading+"\n\n"+sectionText(s))
	}
	text := strings.TrimSpace(strings.Join(blocks, "\n\n"))
	if text == summary {
		text = strings.TrimSpace(summary + "\n\nThe whole plan: ../CONTEXT/plan.json")
	}
	return text
}

// requirementsText lists what a plan says has to hold for the whole; "" for a plan that
// says nothing of it.
func requirementsText(plan json.RawMessage) string {
	all := payload.Strings(plan, "requirements")
	if len(all) == 0 {
		return ""
	}
	return "What has to hold for the whole:\n" + bullets(all)
}

func stepsOf(plan json.RawMessage) []json.RawMessage {
	var steps []json.RawMessage
	_ = json.Unmarshal(payload.Field(plan, "steps"), &steps)
	return steps
}

func stepsText(steps []json.RawMessage) string {
	var b strings.Builder
	for n, step := range steps {
		var text string
		if json.Unmarshal(step, &text) != nil {
			text = string(step)
		}
		fmt.Fprintf(&b, "\n%d. %s", n+1, text)
	}
	return strings.TrimSpace(b.String())
}

// sectionText renders a section without its heading.
func sectionText(s payload.Section) string {
	var lines []string
	if len(s.Tasks) > 0 {
		lines = append(lines, "True when it is done:", bullets(s.Tasks))
	}
	if len(s.Files) > 0 {
		lines = append(lines, "Files: "+strings.Join(s.Files, ", "))
	}
	if len(s.DependsOn) > 0 {
		lines = append(lines, "After: "+strings.Join(s.DependsOn, ", "))
	}
	if len(s.Steps) > 0 {
		lines = append(lines, "Steps:", stepsText(s.Steps))
	}
	return strings.Join(lines, "\n")
}

// standing returns the verdict on a section so far, as text.
func standing(c *loop.Consensus, id string) string {
	if slices.Contains(c.Approved, id) {
		return "approved"
	}
	for n := len(c.Rounds) - 1; n >= 0; n-- {
		for _, j := range c.Rounds[n].Sections {
			if j.ID == id && j.Verdict == payload.VerdictReject {
				return fmt.Sprintf("rejected in round %d", n+1)
			}
		}
	}
	return "not judged yet"
}

// objectionsText renders the last verdict of the critic and says what it asks
// of this session. It is never cut: without it, the planner would send the same
// plan again. earlierPart has the rounds before.
func (b *builder) objectionsText() string {
	c := b.attempt.Consensus
	if c == nil || len(c.Rounds) == 0 {
		return ""
	}
	n := len(c.Rounds)
	last := c.Rounds[n-1]
	var lines []string
	switch {
	case plans(b.hat) && last.OK:
		lines = append(lines, "The critic let the plan pass, and a person sent it back since; see Answers. Revise it for that, keep every section's id, and send the whole plan again.")
	case plans(b.hat) && len(payload.Sections(b.plan())) == 0:
		lines = append(lines, "The critic rejected the plan. Revise what it objects to, and send the whole plan again.")
	case plans(b.hat):
		lines = append(lines, "The critic rejected the plan. Revise the sections that it rejects, and only those. Keep every section's id, and send the whole plan again.")
		if len(c.Approved) > 0 {
			lines = append(lines, "Approved, so send it word for word as it is: "+strings.Join(c.Approved, ", "))
		}
	case disputes(b.hat) && last.OK:
		lines = append(lines, "The plan passed before; a person sent it back, see Answers, and it was revised since.")
	case disputes(b.hat):
		lines = append(lines, "The plan was rejected before, and was revised since. Check each objection: what is settled is not raised again, what is not is rejected again in the same words. Do not hold back a new one for a later round.")
		if len(c.Approved) > 0 {
			lines = append(lines, "Approved already, and not judged again: "+strings.Join(c.Approved, ", "))
		}
	case counsels(b.hat):
		lines = append(lines, fmt.Sprintf("The critic has judged the plan in %s. Every objection is here, the newest first.", count(n, "round")))
	default:
		return ""
	}
	lines = append(lines, "", critiqueText(last, n))
	if c.Advice != "" && !counsels(b.hat) {
		lines = append(lines, "", "The architect was asked, and advises:", c.Advice)
	}
	return strings.Join(lines, "\n")
}

// earlierPart renders the verdicts before the last one, newest first.
func (b *builder) earlierPart() part {
	p := part{title: "Earlier rounds", under: true, trim: trimHistory, file: "objections.md"}
	c := b.attempt.Consensus
	if c == nil || b.objectionsText() == "" {
		return p
	}
	var rounds []string
	for n := len(c.Rounds) - 1; n >= 1; n-- {
		rounds = append(rounds, critiqueText(c.Rounds[n-1], n))
	}
	p.text = strings.Join(rounds, "\n\n")
	return p
}

// critiqueText renders one verdict of the critic.
func critiqueText(c payload.Critique, round int) string {
	verdict := payload.VerdictReject
	if c.OK {
		verdict = payload.VerdictOkay
	}
	lines := []string{fmt.Sprintf("Round %d, %s", round, verdict)}
	for _, j := range c.Sections {
		for _, o := range j.Objections {
			lines = append(lines, fmt.Sprintf("- %s: %s", j.ID, o))
		}
	}
	for _, o := range c.Objections {
		lines = append(lines, "- the whole: "+o)
	}
	if len(lines) > 1 {
		lines[0] += ":"
	}
	return strings.Join(lines, "\n")
}
