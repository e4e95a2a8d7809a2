package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/guidance"
)

// Limits of what goes into a prompt (SPEC 4.7).
const (
	bytesPerToken = 3.5       // an estimate, and called one
	maxIssues     = 100       // issues in the prompt itself
	maxIssueBytes = 32 << 10  // of them
	maxDiffBytes  = 100 << 10 // of the diff that a reviewer is given
)

// Material is what a prompt needs besides the state: what the engine looked
// up in the repository and the progress log.
type Material struct {
	Conventions []File // AGENTS.md, CLAUDE.md of the start commit
	Loaded      []File // the hat's load list
	Diff        string // of the attempt so far
	Changed     []FileChange
	Progress    string // last entry of the progress log
}

// File is one file's path and text.
type File struct {
	Path string
	Text string
}

// Prompt is what a session is given: the prompt itself, and the files of its
// CONTEXT folder.
type Prompt struct {
	Text    string
	Context map[string][]byte
	Parts   []Part // size of each part, in the order of the text
}

// Part is one section of a prompt.
type Part struct {
	Title  string
	Tokens int // estimated
	Cut    bool
}

// part is a section while the prompt is built. Sections with a trim number
// are left out when the prompt is too large, the lowest first.
type part struct {
	title string
	text  string
	trim  int    // 0 = never left out
	whole string // where it can be read when it is left out
}

// BuildPrompt builds the prompt of a session that is planned in the state
// (SPEC 4.7). It is deterministic: the same state and material give the same
// text, also after a crash.
func BuildPrompt(s State, session string, m Material) (Prompt, error) {
	ses, ok := s.Project.Session(session)
	if !ok {
		return Prompt{}, fmt.Errorf("session %s is not in flight", session)
	}
	t, ok := s.Project.Find(ses.Task)
	if !ok || t.Work == nil || s.Project.Run == nil {
		return Prompt{}, fmt.Errorf("session %s has no attempt", session)
	}
	r := s.Project.Run
	hat := r.Settings.Hats[ses.Planned.Hat]
	context := map[string][]byte{}
	parts := []part{
		{title: "Role", text: strings.TrimSpace(hat.Prompt)},
		{title: "Task", text: taskText(t.Task)},
		{title: "Acceptance", text: bullets(t.Task.Acceptance)},
		{title: "Scope", text: scopeText(t.Task, r.Settings.Layout, hat)},
		{title: "Plan", text: planText(t.Work.Plan), trim: 4, whole: "; it is in ../CONTEXT/plan.json"},
		{title: "What happened so far", text: historyText(s.Project, t), trim: 5},
		{title: "Note well", text: noteText(ses)},
		{title: "Issues of the last review", text: issuesText(t.Work.Issues, hat, context)},
		{title: "Verification", text: verifiedText(t.Work.Verified)},
		{title: "Changes so far", text: diffText(hat, m, context), trim: 6, whole: "; it is in ../CONTEXT/diff.patch"},
		{title: "Guidance", text: guidanceText(s.Project.Guidance, ses.Planned.Guidance)},
		{title: "Answers", text: strings.Join(t.Words, "\n\n")},
		{title: "Memory", text: filesText(m.Loaded), trim: 2},
		{title: "Last progress", text: m.Progress, trim: 3},
		{title: "Conventions", text: filesText(m.Conventions), trim: 1, whole: "; read AGENTS.md and CLAUDE.md yourself"},
		{title: "How to end", text: howToEnd(hat, s.Project.Guidance, ses)},
	}
	context["task.md"] = []byte("# " + t.Task.ID + ": " + t.Task.Title + "\n\n" + t.Task.Body + "\n")
	if len(t.Work.Plan) > 0 {
		context["plan.json"] = t.Work.Plan
	}
	p := assemble(parts, hat.MaxTokens)
	p.Context = context
	return p, nil
}

// assemble joins the parts, and leaves out trimmable ones while the whole is
// over the hat's budget.
func assemble(parts []part, budget int) Prompt {
	size := 0
	for _, p := range parts {
		size += tokens(p.text)
	}
	cut := map[int]bool{}
	for trim := 1; budget > 0 && size > budget && trim <= 6; trim++ {
		for n, p := range parts {
			if p.trim == trim && p.text != "" {
				size -= tokens(p.text)
				cut[n] = true
			}
		}
	}
	var out Prompt
	var b strings.Builder
	for n, p := range parts {
		if p.text == "" {
			continue
		}
		out.Parts = append(out.Parts, Part{Title: p.title, Tokens: tokens(p.text), Cut: cut[n]})
		text := p.text
		if cut[n] {
			text = "(left out: the prompt would be too long" + p.whole + ")"
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", p.title, text)
	}
	out.Text = strings.TrimRight(b.String(), "\n") + "\n"
	return out
}

func tokens(s string) int { return int(float64(len(s))/bytesPerToken) + 1 }

func taskText(t Task) string {
	text := fmt.Sprintf("%s: %s", t.ID, t.Title)
	if body := strings.TrimSpace(t.Body); body != "" {
		text += "\n\n" + body
	}
	if t.Notes != "" && !strings.Contains(t.Body, t.Notes) {
		text += "\n\nNotes: " + t.Notes
	}
	return text
}

func scopeText(t Task, layout []string, h Hat) string {
	if !h.Writes() {
		return "You only read: nothing that you change in the folder is kept."
	}
	scope := t.Scope
	if len(ParseScope(scope)) == 0 { // SPEC 4.1: the task's, else the project's, else the hat's
		scope = strings.Join(h.WriteAllowed, ", ")
		if len(layout) > 0 {
			scope = strings.Join(layout, ", ")
		}
	}
	text := "You may change: " + scope
	if len(h.WriteDenied) > 0 {
		text += "\nNot: " + strings.Join(h.WriteDenied, ", ") + " (unless the line above names it)"
	}
	return text + "\nWhat you change elsewhere is undone. The plan file is not yours to change."
}

func planText(plan json.RawMessage) string {
	if len(plan) == 0 {
		return ""
	}
	var p struct {
		Summary string
		Steps   []json.RawMessage
	}
	if json.Unmarshal(plan, &p) != nil {
		return string(plan)
	}
	var b strings.Builder
	b.WriteString(p.Summary)
	for n, step := range p.Steps {
		var text string
		if json.Unmarshal(step, &text) != nil {
			text = string(step)
		}
		fmt.Fprintf(&b, "\n%d. %s", n+1, text)
	}
	if len(p.Steps) == 0 {
		b.WriteString("\nWhole plan: ../CONTEXT/plan.json.")
	}
	return strings.TrimSpace(b.String())
}

// noteText is what led to this session where it does one over. It is never
// left out: without it the same mistake is made again.
func noteText(ses Session) string {
	var lines []string
	if ses.Planned.Replaces != "" {
		lines = append(lines, fmt.Sprintf("This session does over what session %s did not settle.", ses.Planned.Replaces))
	}
	if ses.Planned.Note != "" {
		lines = append(lines, ses.Planned.Note)
	}
	return strings.Join(lines, "\n")
}

// historyText says where the run stands and what this attempt did.
func historyText(p Project, t TaskState) string {
	var lines []string
	done, total := p.Count()
	lines = append(lines, fmt.Sprintf("Task %d of %d (%d done), attempt %d.", p.index(t.Task.ID)+1, total, done, t.Work.N))
	if t.LastFail != "" {
		lines = append(lines, fmt.Sprintf("Attempt %d came to nothing: %s. Its changes are gone; do not repeat it.", t.Work.N-1, t.LastFail))
	}
	for _, s := range t.Work.History {
		line := fmt.Sprintf("- %s: %s", s.Hat, s.Event)
		if s.Summary != "" {
			line += " – " + s.Summary
		}
		lines = append(lines, line)
	}
	if t.Work.NoChange != "" {
		lines = append(lines, "The session before changed nothing on purpose: "+t.Work.NoChange)
	}
	if disputed := disputedText(t.Work.Disputed); disputed != "" {
		lines = append(lines, "Disputed by the session before; uphold or drop each:\n"+disputed)
	}
	if p.Progress != "" {
		lines = append(lines, "Last ended attempt of the run: "+p.Progress)
	}
	return strings.Join(lines, "\n")
}

// disputedText lists the issues that a fixer says are none, with its reasons.
func disputedText(raw json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var lines []string
	for _, d := range list {
		var text string
		if json.Unmarshal(d, &text) != nil {
			issue, reason := stringOf(d, "issue"), stringOf(d, "reason")
			if text = trimColon(issue, reason); text == "" {
				text = string(d)
			}
		}
		lines = append(lines, "- "+text)
	}
	return strings.Join(lines, "\n")
}

func trimColon(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ": " + b
}

// issuesText gives the fixer every issue whole; what would not fit is in a
// file, with the count here.
func issuesText(issues []Issue, h Hat, context map[string][]byte) string {
	if len(issues) == 0 || !h.Writes() && len(h.Emits) > 0 && h.Emits[0] != "review.verdict" {
		return ""
	}
	all, err := json.MarshalIndent(issues, "", "  ")
	if err != nil {
		return ""
	}
	context["issues.json"] = all
	shown := issues
	var b strings.Builder
	for n, i := range shown {
		line := fmt.Sprintf("%d. %s\n", n+1, i.line())
		if n >= maxIssues || b.Len()+len(line) > maxIssueBytes {
			fmt.Fprintf(&b, "… %d issues in all: ../CONTEXT/issues.json has every one.\n", len(issues))
			break
		}
		b.WriteString(line)
	}
	return strings.TrimSpace(b.String())
}

func verifiedText(v *Verified) string {
	if v == nil {
		return ""
	}
	var lines []string
	for _, res := range v.Results {
		sign, note := "passed", ""
		if !res.OK {
			sign, note = fmt.Sprintf("FAILED (exit %d)", res.Exit), ""
		}
		if res.Flaky {
			note = " (only on the second try)"
		}
		if res.Advisory {
			note = " (failed before this task too; not counted)"
		}
		lines = append(lines, fmt.Sprintf("- `%s` %s%s", res.Run, sign, note))
		if !res.OK && res.Tail != "" {
			lines = append(lines, fence(res.Tail))
		}
	}
	return strings.Join(lines, "\n")
}

func diffText(h Hat, m Material, context map[string][]byte) string {
	if m.Diff == "" {
		return ""
	}
	context["diff.patch"] = []byte(m.Diff)
	if h.Writes() {
		var lines []string
		for _, f := range m.Changed {
			if f.Added < 0 || f.Removed < 0 {
				lines = append(lines, "- "+f.Path+" (binary)")
				continue
			}
			lines = append(lines, fmt.Sprintf("- %s +%d −%d", f.Path, f.Added, f.Removed))
		}
		return strings.Join(append(lines, "The diff against the attempt's start: ../CONTEXT/diff.patch."), "\n")
	}
	diff := m.Diff
	if len(diff) > maxDiffBytes {
		diff = strings.ToValidUTF8(diff[:maxDiffBytes], "") + "\n… the whole diff: ../CONTEXT/diff.patch"
	}
	return fence(diff)
}

// fence sets text apart as data, in a fence longer than any in it.
func fence(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "\n" + strings.TrimRight(text, "\n") + "\n" + mark
}

// guidanceText renders exactly the items that were bound to the session, or
// shown to it, when it was planned.
func guidanceText(q guidance.Queue, b guidance.Binding) string {
	var lines []string
	item := func(id, lead string) {
		i, ok := q.Get(id)
		if !ok {
			return
		}
		line := fmt.Sprintf("- %s%s: %s", id, lead, i.Text)
		switch i.State {
		case guidance.Addressed, guidance.SetAside:
			line += fmt.Sprintf("\n  (%s so far: %s)", strings.ReplaceAll(string(i.State), "_", " "), i.Note)
		}
		lines = append(lines, line)
	}
	for _, id := range b.Bound {
		item(id, "")
	}
	if len(b.Bound) > 0 {
		lines = append([]string{"The owner says. Follow it, before anything else; where you cannot, say why in your event."}, lines...)
	}
	if len(b.Shown) > 0 {
		lines = append(lines, "The owner says to the sessions that write; hold what you do or judge against it:")
		for _, id := range b.Shown {
			item(id, "")
		}
	}
	return strings.Join(lines, "\n")
}

func filesText(files []File) string {
	var b strings.Builder
	for _, f := range files {
		if strings.TrimSpace(f.Text) != "" {
			fmt.Fprintf(&b, "### %s\n\n%s\n\n", f.Path, strings.TrimSpace(f.Text))
		}
	}
	return strings.TrimSpace(b.String())
}

func bullets(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "- " + strings.Join(list, "\n- ")
}

// howToEnd is the exact way to end, with the guidance that has to be reported.
func howToEnd(h Hat, q guidance.Queue, ses Session) string {
	var lines []string
	lines = append(lines, "End this session with exactly one event, then stop. Run one of these commands:", "")
	owed := q.Owed(ses.Planned.Guidance.Bound)
	for _, typ := range slices.Concat(h.Emits, []string{EventQuestion, EventBlocked}) {
		shape := EventShape(typ)
		if len(owed) > 0 && slices.Contains(h.Emits, typ) {
			var reports []string
			for _, id := range owed {
				reports = append(reports, fmt.Sprintf(`{"id":"%s","done":true,"note":"how"}`, id))
			}
			shape = strings.TrimSuffix(shape, "}") + `,"guidance":[` + strings.Join(reports, ",") + "]}"
		}
		lines = append(lines, fmt.Sprintf("    hat emit %s --data '%s'", typ, shape))
	}
	lines = append(lines, "")
	if len(owed) > 0 {
		lines = append(lines, `Report every guidance: "done":true with how, or "set_aside":true with why.`)
	}
	if h.Writes() {
		lines = append(lines, `If nothing has to change, add "no_change":"REASON".`)
	}
	if slices.Contains(h.Emits, "build.complete") {
		lines = append(lines, `If a person has to look at the result, add "manual_verify":"what to look at".`)
	}
	lines = append(lines,
		fmt.Sprintf("%s is for what only a person can decide; its choice is the option you would take if nobody answers, leave it out where nobody but a person may take one. %s is for what cannot be done at all.", EventQuestion, EventBlocked),
		"Data with an apostrophe, or long data: write it to a file in $TMPDIR and use --data @FILE. A refused event says what to change; send it again.",
		"Without an event the session counts as failed. Nothing you say is believed without it being checked.")
	return strings.Join(lines, "\n")
}

// Needs says what a session's prompt has to look up, and where.
type Needs struct {
	Load     []string // the hat's load list
	Rev      string   // commit whose conventions and load list are read
	From, To string   // trees of the diff; empty = none
}

// PromptNeeds returns what BuildPrompt wants as Material.
func PromptNeeds(s State, session string) (Needs, bool) {
	ses, ok := s.Project.Session(session)
	if !ok || s.Project.Run == nil {
		return Needs{}, false
	}
	t, ok := s.Project.Find(ses.Task)
	if !ok || t.Work == nil {
		return Needs{}, false
	}
	n := Needs{Load: s.Project.Run.Settings.Hats[ses.Planned.Hat].Load, Rev: t.Work.Base}
	if t.Work.Tree != t.Work.Start {
		n.From, n.To = t.Work.Start, t.Work.Tree
	}
	return n, true
}
