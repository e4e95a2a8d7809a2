package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// taskText renders the task as its source has it. For a part, it adds the task
// that it belongs to and the other parts.
func (b *builder) taskText() string {
	t := b.task.Task
	text, body := fmt.Sprintf("%s: %s", t.ID, t.Title), strings.Trim(t.Body, "\n")
	if b.project.TaintedText(b.task) {
		text, body = t.ID, strings.TrimSpace(t.Title+"\n\n"+body)
	}
	if b.isPart {
		text += fmt.Sprintf("\nPart %s of %s: %s", partName(t), b.parent.Task.ID, b.title(b.parent))
		if others := b.otherParts(); others != "" {
			text += "\nSessions of their own build its other parts, so leave those alone: " + others
			if t.Joins {
				text += "\nThey may be at work now, in other folders. The changes of all parts are merged, and then verified as one: what needs another part may fail here, and is not yours to supply."
			}
		}
	}
	if strings.TrimSpace(body) != "" {
		text += "\n\n" + b.quoted(b.task, "This text", body)
	}
	if details := reportDetails(t.Report); details != "" {
		text += "\n\n" + b.quoted(b.task, "What the report says besides", details)
	}
	if t.Notes != "" && !strings.Contains(t.Body, t.Notes) {
		text += "\n\nNotes: " + t.Notes
	}
	if r := t.Repeat; r != nil && strings.TrimSpace(r.Precondition) != "" {
		text += "\n\nThis task comes back from time to time. Do it only if this holds; otherwise end with no_change and say why:\n" + b.quoted(b.task, "It", strings.TrimSpace(r.Precondition))
	}
	if pictures := b.picturesOfTask(false); len(pictures) > 0 {
		text += "\n\n" + strings.Join(pictures, "\n")
	}
	list := t.Material
	if b.isPart && len(list) == 0 {
		list = b.parent.Task.Material
	}
	if len(list) > 0 {
		text += "\n\nRead first, as far as the task needs it: `" + strings.Join(list, "`, `") + "`."
	}
	text += b.artefactText()
	if r := b.task.Returned; r != nil {
		findings := bullets(r.Findings)
		if b.project.TaintedFindings(b.task) {
			findings = Tainted("The following", findings)
		}
		text += fmt.Sprintf("\n\nThis task was done before (%s) and sent back by %s. Its commit stays: mend what is wrong on top of it.\n%s", b.task.Commit, r.By, findings)
	}
	if emits(b.hat, ledger.EventEvaluation) {
		text += b.judgedText()
	}
	text += b.reportsText()
	if body := strings.TrimSpace(b.parent.Task.Body); body != "" && !strings.Contains(t.Body, body) {
		text += "\n\nThe whole task, for orientation:\n\n" + b.quoted(b.parent, "It", body)
	}
	return text
}

// reportDetails returns what a bug report says beside its text, a line each; "" where it
// says nothing, or is none.
func reportDetails(r *ledger.Report) string {
	if r == nil {
		return ""
	}
	var lines []string
	for _, f := range []struct{ name, value string }{
		{"Page", r.Page}, {"Address", r.URL}, {"Severity", r.Severity}, {"Browser", r.UserAgent}, {"Picture", r.Screenshot}, {"Tags", strings.Join(r.Tags, ", ")},
	} {
		if value := strings.TrimSpace(f.value); value != "" {
			lines = append(lines, f.name+": "+value)
		}
	}
	for _, line := range r.Console {
		lines = append(lines, "Console: "+strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// judgedText lists the tasks that an evaluator judges.
func (b *builder) judgedText() string {
	judged := b.project.Judged(b.task)
	if len(judged) == 0 {
		return "\n\nNo task is done that you could judge."
	}
	list := ""
	for _, t := range judged {
		list += fmt.Sprintf("\n- %s: %s", t.Task.ID, t.Task.Title)
		if t.Commit != "" {
			list += " (commit " + t.Commit + ")"
		}
		for _, a := range t.Task.Acceptance {
			list += "\n  - " + a
		}
	}
	if slices.ContainsFunc(judged, b.project.TaintedText) {
		list = "\n" + Tainted("Some of this list", strings.TrimSpace(list))
	}
	return "\n\nYou judge these tasks, which are done:" + list
}

// quoted returns a task's text unchanged if the user wrote it. Text of a foreign source
// can be by anybody, and gets the mark of outside.
func (b *builder) quoted(t loop.TaskState, what, text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return text
	case b.run.TasksForeign():
		return outside(what, text)
	case b.project.TaintedText(t):
		return Tainted(what, text)
	}
	return text
}

// partName returns the name of a part within its task: "b" of "Task 5/b".
func partName(t ledger.Task) string {
	return strings.TrimPrefix(t.ID, t.Parent+"/")
}

func (b *builder) otherParts() string {
	var list []string
	for _, id := range b.parent.Parts {
		if ledger.SameID(id, b.task.Task.ID) {
			continue
		}
		if o, ok := b.project.Find(id); ok {
			list = append(list, fmt.Sprintf("%s %s (%s)", partName(o.Task), b.title(o), strings.ReplaceAll(string(o.Status), "_", " ")))
		}
	}
	return strings.Join(list, " · ")
}

// acceptanceText lists the acceptance criteria. A hat that says of each whether it holds
// gets them with the numbers that it names them by.
func (b *builder) acceptanceText() string {
	text := b.acceptanceOf(b.task)
	if criteria := b.criteria(); len(criteria) > 0 {
		text = numbered(criteria)
		if b.project.TaintedText(b.task) {
			text = Tainted("This", text)
		}
	}
	if whole := b.acceptanceOf(b.parent); whole != "" {
		text = strings.TrimSpace(text + "\n\nOf the whole task, for orientation:\n" + whole)
	}
	return text
}

// criteria returns the criteria of which the hat's verdict says whether they hold, nil for
// a hat without such a verdict.
func (b *builder) criteria() payload.Criteria {
	if !emits(b.hat, ledger.EventPassed) {
		return nil
	}
	return b.task.Criteria()
}

func (b *builder) acceptanceOf(t loop.TaskState) string {
	text := bullets(t.Task.Acceptance)
	if text != "" && b.project.TaintedText(t) {
		return Tainted("This", text)
	}
	return text
}

// scopeText says which changes of the session will be kept. It agrees with the
// check of its files (docs/spec 4.1). A scope in prose permits no path, but is
// shown because it tells the intent.
func (b *builder) scopeText() string {
	if !b.hat.Writes() {
		text := "You only read: nothing that you change in the folder is kept."
		if scope := b.task.Task.Scope; len(ledger.ParseScope(scope)) > 0 {
			text += "\nWhat is built has to stay in the task's scope: " + b.scopeOf(b.task)
		} else if len(b.run.Settings.Layout) > 0 {
			text += "\nWhat is built has to stay in: " + strings.Join(b.run.Settings.Layout, ", ")
		}
		return text + b.allowedText()
	}
	task := b.scopeOf(b.task)
	named := slices.ContainsFunc(ledger.ParseScope(b.task.Task.Scope), func(i ledger.ScopeItem) bool { return i.Kind != ledger.ScopeProse })
	own := strings.Join(b.hat.WriteAllowed, ", ")
	var lines []string
	switch {
	case b.hat.OwnScope && named:
		lines = append(lines, "You may change: "+own, "and what the task names: "+task)
	case b.hat.OwnScope:
		lines = append(lines, "You may change: "+own)
	case named:
		lines = append(lines, "You may change: "+task)
	case len(b.run.Settings.Layout) > 0:
		lines = append(lines, "You may change: "+strings.Join(b.run.Settings.Layout, ", "))
	default:
		lines = append(lines, "You may change: "+own)
	}
	if task != "" && !named && len(ledger.ParseScope(b.task.Task.Scope)) > 0 {
		lines = append(lines, "The task's own words for its scope: "+task)
	}
	if denied := b.hat.WriteDenied; len(denied) > 0 {
		not := "Not: " + strings.Join(denied, ", ")
		if named && b.hat.Shipped {
			not += " (unless the task's scope names it)"
		}
		lines = append(lines, not)
	}
	if whole := b.parent.Task.Scope; b.isPart && len(ledger.ParseScope(whole)) > 0 {
		lines = append(lines, fmt.Sprintf("And nothing outside the scope of the whole %s: %s", b.parent.Task.ID, b.scopeOf(b.parent)))
	}
	return strings.Join(lines, "\n") + b.allowedText() + "\nWhat you change elsewhere is undone. The plan file is not yours to change."
}

// scopeOf and title return one line of a task as its source has it, or as code if it is
// tainted.
func (b *builder) scopeOf(t loop.TaskState) string { return b.line(t, strings.TrimSpace(t.Task.Scope)) }
func (b *builder) title(t loop.TaskState) string   { return b.line(t, t.Task.Title) }

func (b *builder) line(t loop.TaskState, text string) string {
	if text != "" && b.project.TaintedText(t) {
		return code(text)
	}
	return text
}

// allowedText lists the paths that a person allowed in addition. A part also
// has those of its task.
func (b *builder) allowedText() string {
	list := slices.Concat(b.parent.Allowed, b.task.Allowed)
	slices.Sort(list)
	if list = slices.Compact(list); len(list) == 0 {
		return ""
	}
	return "\nA person also allowed: " + strings.Join(list, ", ")
}

// answersText lists people's answers about the task, and for a part also about
// its task. These people are paired, so their words are not marked as data.
func (b *builder) answersText() string {
	words := slices.Clone(b.parent.Words)
	for _, said := range b.task.Words {
		if !slices.Contains(words, said) {
			words = append(words, said)
		}
	}
	if pictures := b.picturesOfTask(true); len(pictures) > 0 {
		words = append(words, strings.Join(pictures, "\n"))
	}
	return strings.Join(words, "\n\n")
}

func numbered(list []string) string {
	lines := make([]string, len(list))
	for n, text := range list {
		lines[n] = fmt.Sprintf("%d. %s", n+1, text)
	}
	return strings.Join(lines, "\n")
}

func bullets(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "- " + strings.Join(list, "\n- ")
}
