package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// historyPart describes the position of the run and the sessions of this
// attempt. A cut removes the oldest sessions first: the latest one explains
// this session.
func (w *writing) historyPart() part {
	p := part{title: "What happened so far", trim: trimHistory, file: "history.md"}
	lead := w.position()
	if w.t.LastFail != "" {
		lead += fmt.Sprintf("\nAttempt %d came to nothing: %s. Its changes are gone; do not repeat it.", w.w.N-1, w.t.LastFail)
	}
	var steps []string
	for _, s := range w.w.History {
		line := fmt.Sprintf("- %s: %s", s.Hat, s.Event)
		if s.Summary != "" {
			line += " – " + s.Summary
		}
		steps = append(steps, line)
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

// position returns a text such as "Task 3 of 5 (2 done), attempt 1."
// (docs/spec 4.7). A part takes the position of its task.
func (w *writing) position() string {
	id := w.t.Task.ID
	if w.part {
		id = w.parent.Task.ID
	}
	done, total := w.p.Count()
	line := fmt.Sprintf("Task %d of %d (%d done)", w.p.Place(id), total, done)
	if n := slices.IndexFunc(w.parent.Parts, func(id string) bool { return ledger.SameID(id, w.t.Task.ID) }); n >= 0 {
		line += fmt.Sprintf(", its part %d of %d", n+1, len(w.parent.Parts))
	}
	return fmt.Sprintf("%s, attempt %d.", line, w.w.N)
}

// progressPart is the last entry of the progress log. It is empty if that entry
// is about the failed attempt at this task, because historyPart has it.
func (w *writing) progressPart() part {
	p := part{title: "Last progress", under: true, trim: trimProgress, file: "progress.md", text: w.p.Progress}
	if w.t.LastFail != "" && strings.HasPrefix(w.p.Progress, ledger.ShortID(w.t.Task.ID)+" "+w.t.Task.Title+", ") {
		p.text = ""
	}
	return p
}

// noteText says why the session repeats another one, or that the one before it
// changed nothing on purpose. It is never cut: without it the session would
// make the same mistake again.
func (w *writing) noteText() string {
	var lines []string
	if w.ses.Planned.Replaces != "" {
		lines = append(lines, fmt.Sprintf("This session does over what session %s did not settle.", w.ses.Planned.Replaces))
	}
	if w.ses.Planned.Note != "" {
		lines = append(lines, w.ses.Planned.Note)
	}
	if w.w.NoChange != "" {
		lines = append(lines, "The session before changed nothing on purpose: "+w.w.NoChange)
	}
	return strings.Join(lines, "\n")
}

// acceptanceRule is the rule of an issue made from a check that a verifier saw
// fail.
const acceptanceRule = "acceptance"

// issuesText lists the issues of the last review or verification: for a writer
// to fix, for a reviewer to check again. Other hats get nothing. Issues that do
// not fit are in a CONTEXT file, and the text gives the total.
func (w *writing) issuesText() string {
	review := emits(w.hat, "review.verdict")
	if !w.hat.Writes() && !review {
		return ""
	}
	var lines []string
	if len(w.w.Issues) > 0 {
		lines = append(lines, w.issuesLead(review), w.issueLines())
	}
	switch disputed := disputedText(w.w.Disputed); {
	case disputed == "":
	case review:
		lines = append(lines, "Disputed by the session before, with its reasons; uphold or drop each:\n"+disputed)
	case w.w.Upheld > 0:
		lines = append(lines, "Disputed before, and upheld by the review since:\n"+disputed)
	}
	return strings.Join(lines, "\n\n")
}

func (w *writing) issuesLead(review bool) string {
	checks := !slices.ContainsFunc(w.w.Issues, func(i ledger.Issue) bool { return i.Rule != acceptanceRule })
	switch {
	case review && checks:
		return "Acceptance criteria that did not hold before the last fix; see whether they do now:"
	case review:
		return "Issues of the last review; see whether each is settled now:"
	case checks:
		return "Acceptance criteria that the verifier tried and found not to hold. Make each of them true:"
	}
	return "Issues of the last review:"
}

func (w *writing) issueLines() string {
	issues := w.w.Issues
	if all, err := json.MarshalIndent(issues, "", "  "); err == nil {
		w.context["issues.json"] = all
	}
	issues = slices.Clone(issues)
	slices.SortStableFunc(issues, func(a, b ledger.Issue) int { return a.Severity.Rank() - b.Severity.Rank() }) // worst first, so that the list loses the mildest
	var b strings.Builder
	for n, i := range issues {
		line := fmt.Sprintf("%d. %s\n", n+1, i.Describe())
		if n >= maxIssues || b.Len()+len(line) > maxIssueBytes {
			fmt.Fprintf(&b, "… %d issues in all, settle every one: ../CONTEXT/issues.json has those that are not here.\n", len(issues))
			break
		}
		b.WriteString(line)
	}
	return strings.TrimSpace(b.String())
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
func (w *writing) verifiedText() string {
	var lines []string
	if w.w.Repro != "" {
		lines = append(lines, code(w.w.Repro)+" failed before the fix; it has to pass.")
	}
	if w.w.Verified == nil {
		return strings.Join(lines, "\n")
	}
	for _, res := range w.w.Verified.Results {
		sign, note := "passed", ""
		if !res.OK {
			sign = fmt.Sprintf("FAILED (exit %d)", res.Exit)
		}
		if res.Flaky {
			note = " (only on the second try)"
		}
		if res.Advisory {
			note = " (failed before this task too; not counted)"
		}
		lines = append(lines, fmt.Sprintf("- %s %s%s", code(res.Run), sign, note))
		if !res.OK && res.Tail != "" {
			lines = append(lines, fence(res.Tail))
		}
	}
	return strings.Join(lines, "\n")
}

// diffPart shows what the attempt has changed so far. A hat that writes has the
// files in its folder and gets a list; any other hat gets the patch, to judge
// it.
func (w *writing) diffPart() part {
	p := part{title: "Changes so far", trim: trimDiff, file: "diff.patch"}
	if w.m.Diff == "" {
		return p
	}
	w.context["diff.patch"] = []byte(w.m.Diff)
	if w.hat.Writes() {
		var lines []string
		for _, f := range w.m.Changed {
			if f.Added < 0 || f.Removed < 0 {
				lines = append(lines, "- "+f.Path+" (binary)")
				continue
			}
			lines = append(lines, fmt.Sprintf("- %s +%d −%d", f.Path, f.Added, f.Removed))
		}
		p.text = strings.Join(append(lines, "The diff against the attempt's start: ../CONTEXT/diff.patch."), "\n")
		return p
	}
	p.text, p.data = strings.TrimRight(w.m.Diff, "\n"), true
	if whole := p; len(p.text) > maxDiffBytes {
		p.text, p.note = p.head(maxDiffBytes)
		p.full, p.cut = len(whole.body()), true
	}
	return p
}
