package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// judges reports whether a hat reads the work of others and judges it. Planners
// and critics do not count: they read before there is work to judge.
func judges(h ledger.Hat) bool {
	return !h.Writes() && !plans(h) && !disputes(h) && !counsels(h) && !emits(h, ledger.EventTriage)
}

// guidanceText renders exactly the guidance that the plan of the session bound
// to it or showed it.
func (b *builder) guidanceText() string {
	var lines []string
	item := func(id string) {
		i, ok := b.project.Guidance.Get(id)
		if !ok {
			return
		}
		line := fmt.Sprintf("- %s: %s", id, said(i))
		if b.project.Tainted(loop.TaintGuidance, id) { // sessions of other tasks reported on it
			i.Note = ""
			if i.Judged != nil {
				i.Judged = &guidance.Judged{Hat: i.Judged.Hat, Followed: i.Judged.Followed}
			}
		}
		switch i.State {
		case guidance.Addressed, guidance.SetAside:
			line += fmt.Sprintf("\n  (%s)", payload.Labelled(i.State.Word()+" so far", i.Note))
		case guidance.Injected:
			if i.Note != "" && i.Judged != nil { // a writer reported it as done, and a reviewer disagreed
				line += fmt.Sprintf("\n  (said to be done: %s)", i.Note)
			}
		}
		if j := i.Judged; j != nil {
			verdict := "followed"
			if !j.Followed {
				verdict = "not followed"
			}
			line += fmt.Sprintf("\n  (%s: %s)", j.Hat, payload.Labelled(verdict, j.Note))
		}
		lines = append(append(lines, line), b.picturesOf(b.project.AttachedTo(id), "  ")...)
	}
	binding := b.session.Planned.Guidance
	if len(binding.Bound) > 0 {
		lines = append(lines, b.speakers(binding.Bound)+". Follow it, before anything else; where you cannot, say why in your event.")
		for _, id := range binding.Bound {
			item(id)
		}
	}
	switch {
	case len(binding.Shown) == 0:
		return strings.Join(lines, "\n")
	case judges(b.hat):
		lines = append(lines, b.speakers(binding.Shown)+" to the sessions that write. Hold the work against it, and report each item in your event's guidance field: done = followed, set_aside = not followed.")
	default:
		lines = append(lines, b.speakers(binding.Shown)+" to the sessions that write. What you send must not keep them from following it.")
	}
	for _, id := range binding.Shown {
		item(id)
	}
	return strings.Join(lines, "\n")
}

// said returns the words of an item. A comment is Markdown, whose lines could pass for
// the prompt's own: they stay within the item.
func said(i guidance.Item) string {
	if i.Origin == nil {
		return i.Text
	}
	return strings.ReplaceAll(strings.ReplaceAll(i.Said(), "\n", "\n  "), "\n  \n", "\n\n")
}

// speakers begins the sentence that says whose words items are.
func (b *builder) speakers(ids []string) string {
	if slices.ContainsFunc(ids, func(id string) bool {
		i, _ := b.project.Guidance.Get(id)
		return i.Origin != nil
	}) {
		return "The owner and people who may write to the repository say"
	}
	return "The owner says"
}

// howToEnd lists the commands that end the session, with the guidance that the
// event has to report.
func (b *builder) howToEnd() string {
	h, binding := b.hat, b.session.Planned.Guidance
	var lines []string
	if h.MayAdd {
		lines = append(lines, "Before that you may add tasks to the list, each by a command of its own (hat task add --help):", "",
			`    hat task add "TITLE" --body "TEXT" --scope "FILES" --acceptance "TEXT" --depends-on ID`, "")
	}
	lines = append(lines, "End this session with exactly one event, then stop. Run one of these commands:", "")
	owed := b.project.Guidance.Owed(binding.Bound)
	var reports []string
	for _, id := range owed {
		reports = append(reports, fmt.Sprintf(`{"id":"%s","done":true,"note":"how"}`, id))
	}
	line := func(typ, shape string) {
		if len(owed) > 0 && slices.Contains(h.Emits, typ) {
			shape = payload.WithField(shape, `"guidance":[`+strings.Join(reports, ",")+"]")
		}
		lines = append(lines, fmt.Sprintf("    hat emit %s --data '%s'", typ, shape))
	}
	for _, typ := range slices.Concat(h.Emits, []string{ledger.EventQuestion, ledger.EventBlocked}) {
		shape := payload.ShapeFor(h, typ)
		if passes := b.passes(); typ == ledger.EventReview && len(passes) > 0 {
			shape = payload.ReviewShape(b.task.Triage.Kind, passes)
		}
		if typ == ledger.EventFailed && b.namesSections() {
			shape = payload.FaultsShape
		}
		if len(b.criteria()) > 0 && (typ == ledger.EventPassed || typ == ledger.EventFailed) {
			shape = payload.WithNumber(shape)
		}
		line(typ, shape)
		if typ == ledger.EventPlan && b.splits() && !b.isPart && !payload.Divides(h) {
			line(typ, payload.SectionsShape)
		}
	}
	lines = append(lines, "")
	if slices.Contains(b.run.Settings.MCP, b.session.Planned.Agent) {
		lines = append(lines, "Without a shell, call the tools of the MCP server nightporter instead, one for each command of hat: emit with type and data, task_add, note, and so on.")
	}
	if slices.Contains(b.run.Settings.EventBlocks, b.session.Planned.Agent) {
		lines = append(lines, "If you can neither run commands nor call tools, end your last message with the event in a block of this form, and nothing after it:", "",
			"```nightporter-event TYPE", `{"the":"data"}`, "```", "")
	}
	if plans(h) && b.splits() && !b.isPart && !payload.Divides(h) {
		each := "built"
		if b.consensus() {
			each = "judged, built"
		}
		if b.merges() {
			lines = append(lines, fmt.Sprintf("Steps are for a task that is built in one go. Sections are for one that falls into parts: those that do not need each other (\"depends_on\":[]) are %s at the same time, each in a folder of its own in which it can write nothing but its files. What all of them changed is merged, verified, reviewed and committed as one. So give each file to one section, and put what several need into a section that they depend on.", each))
		} else {
			lines = append(lines, fmt.Sprintf("Steps are for a task that is built in one go. Sections are for one that falls into parts: each is %s and committed by itself, in the order that depends_on gives.", each))
		}
	}
	if n := len(b.criteria()); n > 0 {
		lines = append(lines, b.criteriaText(n))
	}
	if disputes(h) {
		lines = append(lines, "A section that passes has the verdict OKAY and no objections; the verdict on the whole is OKAY only where every section's is. A plan without sections has \"sections\":[], and its objections stand beside it.")
	}
	if len(owed) > 0 {
		lines = append(lines, `Report every guidance: "done":true with how, or "set_aside":true with why.`)
	}
	if len(binding.Shown) > 0 && judges(h) {
		lines = append(lines, `Add what you found of each guidance: "guidance":[{"id":"ID","done":true,"note":"where it is followed"}], or "set_aside":true with where it is not.`)
	}
	switch {
	case !h.Writes() || emits(h, ledger.EventRepro):
	case b.run.Settings.For(b.task.Task).JudgedAfter(h.Name):
		lines = append(lines, `If nothing has to change, add "no_change":"REASON".`)
	case b.attempt.Unclaimed != "":
		lines = append(lines, "What the session before wrote counts as yours: if it is all done, end with your event.")
	default:
		lines = append(lines, fmt.Sprintf("No review follows, so a session that changes nothing has failed. If nothing has to change, end with %s.", ledger.EventBlocked))
	}
	if emits(h, "build.complete") {
		lines = append(lines, `If a person has to look at the result, add "manual_verify":"what to look at". What later tasks should know goes into "learnings":"…".`)
	}
	lines = append(lines,
		fmt.Sprintf("%s is for what only a person can decide; its choice is the option you would take if nobody answers, leave it out where nobody but a person may take one. %s is for what cannot be done at all.", ledger.EventQuestion, ledger.EventBlocked),
		"Data with an apostrophe, or long data: write it to a file in $TMPDIR and use --data @FILE. A refused event says what to change; send it again.",
		"Without an event the session counts as failed. Nothing you say is believed without it being checked.")
	return strings.Join(lines, "\n")
}

// criteriaText says which checks a verdict on n criteria has to have.
func (b *builder) criteriaText(n int) string {
	which := fmt.Sprintf("the %d criteria of Acceptance", n)
	if n == 1 {
		which = "the criterion of Acceptance"
	}
	text := fmt.Sprintf("A check has the number that its criterion has in Acceptance. %s is refused unless it has a check with ok for each of %s", ledger.EventPassed, which)
	if slices.ContainsFunc(b.attempt.Rulings, func(r payload.Ruling) bool { return !r.Upheld() }) {
		text += " that was not ruled out"
	}
	return text + fmt.Sprintf(`. What you try besides has no number. One that cannot be tried here: %s, with its words as they stand; once a person said that it need not be, its check has "left_out":true instead of ok.`, ledger.EventQuestion)
}
