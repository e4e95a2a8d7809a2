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

// historyPart describes the position of the run and the sessions of this
// attempt. A cut removes the oldest sessions first: the latest one explains
// this session.
func (b *builder) historyPart() part {
	p := part{title: "What happened so far", trim: trimHistory, file: "history.md"}
	lead := b.position()
	if b.task.LastFail != "" {
		lead += fmt.Sprintf("\nAttempt %d came to nothing: %s. Its changes are gone; do not repeat it.", b.attempt.N-1, b.task.LastFail)
	}
	var steps []string
	for _, s := range b.attempt.History {
		steps = append(steps, stepText(s))
	}
	p.least = lead // why the last attempt failed must stay
	p.text = strings.Join(append([]string{lead}, steps...), "\n")
	p.fit = func(room int) string {
		for n := 1; n < len(steps); n++ {
			note := fmt.Sprintf("(%s left out, the prompt would be too long%s)", count(n, "earlier session"), p.where())
			if text := strings.Join(append([]string{lead, note}, steps[n:]...), "\n"); len(text) <= room {
				return text
			}
		}
		return ""
	}
	return p
}

// attemptsPart says what was tried in failed attempts, newest first, so that nothing is
// repeated. Hats that judge a result do not get it: they look at what is there.
func (b *builder) attemptsPart() part {
	p := part{title: "Earlier attempts", trim: trimHistory, file: "attempts.md"}
	if judges(b.hat) {
		return p
	}
	var attempts []string
	for _, f := range slices.Backward(b.task.Failures) {
		if text := failureText(f, ""); strings.Contains(text, "\n") || f.Why != b.task.LastFail { // the history has the reason of the last one
			attempts = append(attempts, text)
		}
	}
	for _, f := range slices.Backward(b.parent.Failures) {
		attempts = append(attempts, failureText(f, " at the whole "+b.parent.Task.ID))
	}
	p.text = strings.Join(attempts, "\n\n")
	p.data = b.project.TaintedText(b.task)
	return p
}

// failureText renders a failed attempt. at says at what, where that is not the task of
// the session.
func failureText(f loop.Failure, at string) string {
	lines := []string{fmt.Sprintf("Attempt %d%s failed: %s", f.N, at, f.Why)}
	if f.Plan != "" {
		lines = append(lines, "Its plan: "+f.Plan)
	}
	for _, s := range f.Steps {
		lines = append(lines, stepText(s))
	}
	if len(f.Issues) > 0 {
		lines = append(lines, "Open issues of its last review:")
		for _, i := range f.Issues {
			lines = append(lines, "- "+i.Describe())
		}
	}
	if f.Red != "" {
		lines = append(lines, code(f.Red)+" failed at its end:")
		if f.Output != "" {
			lines = append(lines, fence(f.Output))
		}
	}
	return strings.Join(lines, "\n")
}

// stepText renders a session of an attempt.
func stepText(s loop.Step) string {
	line := fmt.Sprintf("- %s: %s", s.Hat, s.Event)
	if s.Summary != "" {
		line += " – " + s.Summary
	}
	return line
}

// position returns a text such as "Task 3 of 5 (2 done), attempt 1."
// (docs/spec 4.7). A part takes the position of its task.
func (b *builder) position() string {
	id := b.task.Task.ID
	if b.isPart {
		id = b.parent.Task.ID
	}
	if b.task.Task.Prepares() { // it counts in no progress
		return fmt.Sprintf("Attempt %d.", b.attempt.N)
	}
	done, total := b.project.Count()
	line := fmt.Sprintf("Task %d of %d (%d done)", b.project.Place(id), total, done)
	if n := slices.IndexFunc(b.parent.Parts, func(id string) bool { return ledger.SameID(id, b.task.Task.ID) }); n >= 0 {
		line += fmt.Sprintf(", its part %d of %d", n+1, len(b.parent.Parts))
	}
	return fmt.Sprintf("%s, attempt %d.", line, b.attempt.N)
}

// progressPart is the last entry of the progress log. It is empty if that entry
// is about the failed attempt at this task, because historyPart has it. A tainted one is
// in prompts that hold outside text anyway: alone it is no reason to close a network.
func (b *builder) progressPart() part {
	p := part{title: "Last progress", under: true, trim: trimProgress, file: "progress.md", text: b.project.Progress}
	if b.task.LastFail != "" && strings.HasPrefix(b.project.Progress, ledger.ShortID(b.task.Task.ID)+" "+b.task.Task.Title+", ") {
		p.text = ""
	}
	if p.data = b.project.Tainted(loop.TaintProgress, ""); p.data && b.session.Planned.Outside == "" {
		p.text = ""
	}
	return p
}

// noteText says why the session repeats another one, or that the one before it
// changed nothing on purpose. It is never cut: without it the session would
// make the same mistake again.
func (b *builder) noteText() string {
	var lines []string
	if b.session.Planned.Replaces != "" {
		lines = append(lines, fmt.Sprintf("This session does over what session %s did not settle.", b.session.Planned.Replaces))
	}
	if b.session.Planned.Note != "" {
		lines = append(lines, b.session.Planned.Note)
	}
	if b.attempt.NoChange != "" {
		lines = append(lines, "The session before changed nothing on purpose: "+b.attempt.NoChange)
	}
	return strings.Join(lines, "\n")
}

// issuesText lists the issues of the last review or verification: for a writer to fix,
// for who judges to check again. Other hats get nothing. Issues that do not fit are in a
// CONTEXT file, and the text gives the total.
func (b *builder) issuesText() string {
	review, tests, rules := emits(b.hat, ledger.EventReview), emits(b.hat, ledger.EventFailed), emits(b.hat, ledger.EventUpheld)
	checks := !slices.ContainsFunc(b.attempt.Issues, func(i ledger.Issue) bool { return i.Rule != payload.RuleAcceptance })
	if !b.hat.Writes() && !review && !rules && !(tests && checks) {
		return ""
	}
	var lines []string
	if len(b.attempt.Issues) > 0 {
		lines = append(lines, b.issuesLead(review || tests, rules, checks), b.issueLines())
	}
	switch disputed := disputedText(b.attempt.Disputed); {
	case disputed == "":
	case rules:
		lines = append(lines, "Disputed by those who had to mend it, with their reasons:\n"+disputed)
	case review || tests:
		lines = append(lines, "Disputed by the session before, with its reasons; uphold or drop each:\n"+disputed)
	case b.attempt.Upheld > 0:
		lines = append(lines, "Disputed before, and upheld by the review since:\n"+disputed)
	}
	if ruled := rulingsText(b.attempt.Rulings); ruled != "" {
		lines = append(lines, "Ruled in this attempt, for the lead:\n"+ruled)
	}
	return strings.Join(lines, "\n\n")
}

func (b *builder) issuesLead(judges, rules, checks bool) string {
	switch {
	case rules:
		return "Criteria that the tester tried and found not to hold. Rule on each:"
	case judges && checks:
		return "Acceptance criteria that did not hold before the last fix; see whether they do now:"
	case judges:
		return "Issues of the last review; see whether each is settled now:"
	case checks:
		return "Acceptance criteria that the verifier tried and found not to hold. Make each of them true:"
	}
	return "Issues of the last review:"
}

// rulingsText lists what was ruled about criteria that failed.
func rulingsText(rulings []payload.Ruling) string {
	var lines []string
	for _, r := range rulings {
		word := "counts no more"
		if r.Upheld() {
			word = "has to be met"
		}
		lines = append(lines, fmt.Sprintf("- %s: %s (%s)", word, r.Criterion, r.Reason))
	}
	return strings.Join(lines, "\n")
}

func (b *builder) issueLines() string {
	issues := b.attempt.Issues
	if all, err := json.MarshalIndent(issues, "", "  "); err == nil {
		b.context["issues.json"] = all
	}
	issues = slices.Clone(issues)
	slices.SortStableFunc(issues, func(a, b ledger.Issue) int { return a.Severity.Rank() - b.Severity.Rank() }) // worst first, so that the list loses the mildest
	var list strings.Builder
	for n, i := range issues {
		line := fmt.Sprintf("%d. %s\n", n+1, i.Describe())
		if n >= maxIssues || list.Len()+len(line) > maxIssueBytes {
			fmt.Fprintf(&list, "… %d issues in all, settle every one: ../CONTEXT/issues.json has those that are not here.\n", len(issues))
			break
		}
		list.WriteString(line)
	}
	return strings.TrimSpace(list.String())
}

// disputedText lists the issues that a fixer disputes, with its reasons.
func disputedText(raw json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var lines []string
	for _, d := range list {
		var text string
		if json.Unmarshal(d, &text) != nil {
			issue, reason := payload.String(d, "issue"), payload.String(d, "reason")
			if text = payload.Labelled(issue, reason); text == "" {
				text = string(d)
			}
		}
		lines = append(lines, "- "+text)
	}
	return strings.Join(lines, "\n")
}

// verifiedText lists the results of the last verification, with the output of
// failed commands.
func (b *builder) verifiedText() string {
	var lines []string
	if b.attempt.Repro != "" {
		lines = append(lines, code(b.attempt.Repro)+" failed before the fix; it has to pass.")
	}
	if b.attempt.Verified == nil {
		return strings.Join(lines, "\n")
	}
	for _, res := range b.attempt.Verified.Results {
		sign, note := "passed", ""
		if !res.OK {
			sign = fmt.Sprintf("FAILED (exit %d)", res.Exit)
			if res.Why != "" {
				sign = "FAILED (" + res.Why + ")"
			}
		}
		if res.Flaky {
			note = " (only on the second try)"
		}
		if res.Advisory {
			note = " (failed before this task too; not counted)"
		}
		if names := res.NewNames(10); names != "" {
			note = ", and this is new: " + names + ". What else fails in it failed before this task and does not count"
		}
		lines = append(lines, fmt.Sprintf("- %s %s%s", code(res.Run), sign, note))
		if !res.OK && res.Tail != "" {
			lines = append(lines, fence(res.Tail))
		}
	}
	return strings.Join(lines, "\n")
}
