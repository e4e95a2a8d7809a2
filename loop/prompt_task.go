package loop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// taskText renders the task as its source has it. For a part, it adds the task
// that it belongs to and the other parts.
func (w *writing) taskText() string {
	t := w.t.Task
	text := fmt.Sprintf("%s: %s", t.ID, t.Title)
	if w.part {
		text += fmt.Sprintf("\nPart %s of %s: %s", partName(t), w.parent.Task.ID, w.parent.Task.Title)
		if others := w.otherParts(); others != "" {
			text += "\nSessions of their own build its other parts, so leave those alone: " + others
		}
	}
	if body := strings.Trim(t.Body, "\n"); strings.TrimSpace(body) != "" {
		text += "\n\n" + w.quoted("This text", body)
	}
	if t.Notes != "" && !strings.Contains(t.Body, t.Notes) {
		text += "\n\nNotes: " + t.Notes
	}
	if body := strings.TrimSpace(w.parent.Task.Body); body != "" && !strings.Contains(t.Body, body) {
		text += "\n\nThe whole task, for orientation:\n\n" + w.quoted("It", body)
	}
	return text
}

// quoted returns a task's text unchanged if the user wrote the source. Text of
// a foreign source can be by anybody, and gets the mark of outside.
func (w *writing) quoted(what, text string) string {
	if w.r.Settings.Source.Foreign {
		return outside(what, text)
	}
	return text
}

// partName returns the name of a part within its task: "b" of "Task 5/b".
func partName(t ledger.Task) string {
	return strings.TrimPrefix(t.ID, t.Parent+"/")
}

func (w *writing) otherParts() string {
	var list []string
	for _, id := range w.parent.Parts {
		if ledger.SameID(id, w.t.Task.ID) {
			continue
		}
		if o, ok := w.p.Find(id); ok {
			list = append(list, fmt.Sprintf("%s %s (%s)", partName(o.Task), o.Task.Title, strings.ReplaceAll(string(o.Status), "_", " ")))
		}
	}
	return strings.Join(list, " · ")
}

func (w *writing) acceptanceText() string {
	text := bullets(w.t.Task.Acceptance)
	if whole := bullets(w.parent.Task.Acceptance); whole != "" {
		text = strings.TrimSpace(text + "\n\nOf the whole task, for orientation:\n" + whole)
	}
	return text
}

// scopeText says which changes of the session will be kept. It agrees with the
// check of its files (docs/spec 4.1). A scope in prose permits no path, but is
// shown because it tells the intent.
func (w *writing) scopeText() string {
	if !w.hat.Writes() {
		text := "You only read: nothing that you change in the folder is kept."
		if scope := strings.TrimSpace(w.t.Task.Scope); len(ledger.ParseScope(scope)) > 0 {
			text += "\nWhat is built has to stay in the task's scope: " + scope
		} else if len(w.r.Settings.Layout) > 0 {
			text += "\nWhat is built has to stay in: " + strings.Join(w.r.Settings.Layout, ", ")
		}
		return text + w.allowedText()
	}
	task := strings.TrimSpace(w.t.Task.Scope)
	named := slices.ContainsFunc(ledger.ParseScope(task), func(i ledger.ScopeItem) bool { return i.Kind != ledger.ScopeProse })
	own := strings.Join(w.hat.WriteAllowed, ", ")
	var lines []string
	switch {
	case w.hat.OwnScope && named:
		lines = append(lines, "You may change: "+own, "and what the task names: "+task)
	case w.hat.OwnScope:
		lines = append(lines, "You may change: "+own)
	case named:
		lines = append(lines, "You may change: "+task)
	case len(w.r.Settings.Layout) > 0:
		lines = append(lines, "You may change: "+strings.Join(w.r.Settings.Layout, ", "))
	default:
		lines = append(lines, "You may change: "+own)
	}
	if task != "" && !named && len(ledger.ParseScope(task)) > 0 {
		lines = append(lines, "The task's own words for its scope: "+task)
	}
	if denied := w.hat.WriteDenied; len(denied) > 0 {
		not := "Not: " + strings.Join(denied, ", ")
		if named && w.hat.Shipped {
			not += " (unless the task's scope names it)"
		}
		lines = append(lines, not)
	}
	if whole := strings.TrimSpace(w.parent.Task.Scope); w.part && len(ledger.ParseScope(whole)) > 0 {
		lines = append(lines, fmt.Sprintf("And nothing outside the scope of the whole %s: %s", w.parent.Task.ID, whole))
	}
	return strings.Join(lines, "\n") + w.allowedText() + "\nWhat you change elsewhere is undone. The plan file is not yours to change."
}

// allowedText lists the paths that a person allowed in addition. A part also
// has those of its task.
func (w *writing) allowedText() string {
	list := slices.Concat(w.parent.Allowed, w.t.Allowed)
	slices.Sort(list)
	if list = slices.Compact(list); len(list) == 0 {
		return ""
	}
	return "\nA person also allowed: " + strings.Join(list, ", ")
}

// answersText lists people's answers about the task, and for a part also about
// its task. These people are paired, so their words are not marked as data.
func (w *writing) answersText() string {
	words := slices.Clone(w.parent.Words)
	for _, said := range w.t.Words {
		if !slices.Contains(words, said) {
			words = append(words, said)
		}
	}
	return strings.Join(words, "\n\n")
}

func bullets(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "- " + strings.Join(list, "\n- ")
}
