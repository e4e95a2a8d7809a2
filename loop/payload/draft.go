package payload

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Bounds of a drafted task. Those of its text are the bounds at which `tasks --lint`
// calls a task large (docs/spec 3.3).
const (
	maxDraftTasks = 20
	maxDraftTitle = 80
	maxDraftBody  = 600
	maxDraftTests = 8
)

// DraftTask is one task of a draft. Its id and DependsOn hold within the draft.
type DraftTask struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Body       string   `json:"body"`
	Scope      []string `json:"scope"`
	Acceptance []string `json:"acceptance"`
	DependsOn  []string `json:"depends_on"`
	Priority   int      `json:"priority"`
	Complexity int      `json:"complexity"`
}

// ReadDraft returns the tasks in the data of an accepted draft.complete, each behind
// those that it depends on, and otherwise in their order.
func ReadDraft(data json.RawMessage) (tasks []ledger.Task) {
	var list []DraftTask
	_ = json.Unmarshal(Field(data, "tasks"), &list)
	placed := map[string]bool{}
	for len(tasks) < len(list) {
		n := slices.IndexFunc(list, func(t DraftTask) bool {
			return !placed[ledger.FoldID(t.ID)] && !slices.ContainsFunc(t.DependsOn, func(id string) bool { return !placed[ledger.FoldID(id)] })
		})
		if n < 0 {
			return nil // a circle, which checkDraft refuses
		}
		t := list[n]
		placed[ledger.FoldID(t.ID)] = true
		tasks = append(tasks, ledger.Task{
			ID: strings.TrimSpace(t.ID), Title: strings.Join(strings.Fields(t.Title), " "), Body: strings.TrimSpace(t.Body), Scope: draftScope(t.Scope),
			Acceptance: t.Acceptance, DependsOn: t.DependsOn, Priority: t.Priority, Complexity: t.Complexity, Mark: ledger.MarkOpen,
		})
	}
	return tasks
}

// draftScope writes paths as a source has them: "`a.go`, `b/`".
func draftScope(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "`" + strings.Join(paths, "`, `") + "`"
}

// checkDraft refuses a draft whose tasks a source could not have: ids that are missing
// or there twice, unknown or circular dependencies, and tasks that are too large.
func checkDraft(data json.RawMessage) string {
	var list []DraftTask
	if err := json.Unmarshal(Field(data, "tasks"), &list); err != nil {
		return `each of "tasks" is an object with strings for id, title and body, lists of strings for scope, acceptance and depends_on, and numbers for priority and complexity`
	}
	switch {
	case len(list) == 0:
		return "a plan has a task at least; if nothing should be done, end with " + ledger.EventBlocked + " and say why"
	case len(list) > maxDraftTasks:
		return fmt.Sprintf("the plan has %d tasks; %d are the most. Leave the later ones for another plan", len(list), maxDraftTasks)
	}
	ids, titles := map[string]bool{}, map[string]string{}
	for n, t := range list {
		name := fmt.Sprintf("task %d", n+1)
		if strings.TrimSpace(t.ID) == "" {
			return name + ` has no "id"; name it "a", "b" and so on`
		}
		if name = fmt.Sprintf("task %q", t.ID); ids[ledger.FoldID(t.ID)] {
			return name + " is there twice; every task needs an id of its own"
		}
		ids[ledger.FoldID(t.ID)] = true
		if other, twice := titles[ledger.TitleKey(t.Title)]; twice {
			return fmt.Sprintf("%s has the title of task %q; say what differs, or leave one out", name, other)
		}
		titles[ledger.TitleKey(t.Title)] = t.ID
		switch title := utf8.RuneCountInString(strings.TrimSpace(t.Title)); {
		case title == 0:
			return name + " has no title"
		case title > maxDraftTitle:
			return fmt.Sprintf("%s has a title of %d characters; %d are the most", name, title, maxDraftTitle)
		case len(t.Acceptance) == 0:
			return name + " has no acceptance: say what to run or look at, and what is seen then"
		case len(t.Acceptance) > maxDraftTests:
			return fmt.Sprintf("%s is large: it has %d acceptance criteria, and %d are the most. Split it", name, len(t.Acceptance), maxDraftTests)
		case utf8.RuneCountInString(t.Body) > maxDraftBody:
			return fmt.Sprintf("%s is large: its body has %d characters where two or three sentences should do (%d are the most). Split it", name, utf8.RuneCountInString(t.Body), maxDraftBody)
		}
		if i := slices.IndexFunc(t.Scope, func(p string) bool { return strings.TrimSpace(p) == "" || strings.ContainsAny(p, "`\r\n") }); i >= 0 {
			return fmt.Sprintf("%s has %q in its scope, which is no path", name, t.Scope[i])
		}
	}
	for _, t := range list {
		for _, id := range t.DependsOn {
			if !ids[ledger.FoldID(id)] {
				return fmt.Sprintf("task %q depends on %q, which this plan lacks; name ids of the plan", t.ID, id)
			}
		}
	}
	if ReadDraft(data) == nil {
		return "some tasks wait for each other in a circle: " + strings.Join(circle(list), ", ") + ". Leave one of the dependencies out"
	}
	return ""
}

// circle returns the ids of the tasks that can never begin.
func circle(list []DraftTask) (ids []string) {
	free := map[string]bool{}
	for range list {
		for _, t := range list {
			free[ledger.FoldID(t.ID)] = !slices.ContainsFunc(t.DependsOn, func(id string) bool { return !free[ledger.FoldID(id)] })
		}
	}
	for _, t := range list {
		if !free[ledger.FoldID(t.ID)] {
			ids = append(ids, t.ID)
		}
	}
	return ids
}
