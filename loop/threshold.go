package loop

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// A threshold is learned per kind of task, by one severity at a time, and only after a
// person agreed (docs/spec 2.6). A kind is the pattern that builds its tasks: all else
// that is known of a task differs from task to task.

// Figures from which on a change is proposed. They are small enough for a project of a
// few nights, and a person reads them before anything changes.
const (
	leastTasks     = 8 // done tasks of the kind
	leastRuns      = 2 // that they were done in
	leastWasted    = 3 // fixes that changed nothing, or little
	leastRegretted = 3 // tasks that ended with such issues open
)

// Learning is what a project knows about thresholds.
type Learning struct {
	Tasks []ReviewedTask           `json:"tasks,omitempty"` // the last done ones of each kind
	Set   map[string]ThresholdRule `json:"set,omitempty"`   // that people agreed to, by kind
	Asked []ledger.ThresholdChange `json:"asked,omitempty"` // that people were ever asked about
}

// ThresholdRule is a threshold that a person agreed to.
type ThresholdRule struct {
	Pattern   []ledger.Severity `json:"pattern"` // threshold of the pattern's file, for which it holds
	Threshold []ledger.Severity `json:"threshold"`
	Question  string            `json:"question,omitempty"`
	By        string            `json:"by,omitempty"`
}

// Threshold is the threshold that is in force for a task.
type Threshold struct {
	Severities []ledger.Severity
	Own        bool           // the task itself sets it
	Learned    *ThresholdRule // nil = the task or its pattern sets it
}

// ThresholdOf returns the threshold in force for a task in a run with the settings: the
// task's own, else the one that was learned for its kind, else its pattern's. A learned
// one holds as long as the pattern's file has the threshold that it was learned under:
// who edits the file means what it says.
func (p Project) ThresholdOf(s ledger.Settings, t ledger.Task) Threshold {
	if len(t.Threshold) > 0 {
		return Threshold{Severities: t.Threshold, Own: true}
	}
	return p.ThresholdFor(s.For(t).Pattern)
}

// ThresholdFor returns the threshold in force for tasks of a pattern that set none.
func (p Project) ThresholdFor(pattern ledger.Pattern) Threshold {
	if rule, ok := p.Learning.Set[pattern.Name]; ok && ledger.SameThreshold(rule.Pattern, pattern.Threshold) {
		return Threshold{Severities: rule.Threshold, Learned: &rule}
	}
	return Threshold{Severities: pattern.Threshold}
}

// question returns the id of the question whose answer set the threshold, "" for one
// that was not learned.
func (t Threshold) question() string {
	if t.Learned == nil {
		return ""
	}
	return t.Learned.Question
}

// applyLearning folds an entry about thresholds.
func (p Project) applyLearning(e ledger.Entry) Project {
	switch b := e.Body.(type) {
	case ledger.QuestionAsked:
		if c := b.Question.Threshold; c != nil && !slices.Contains(p.Learning.Asked, c.ThresholdChange) {
			p.Learning.Asked = append(slices.Clip(p.Learning.Asked), c.ThresholdChange)
		}
	case ledger.ThresholdSet:
		if b.Threshold != nil {
			p.Learning.Set = with(p.Learning.Set, b.Kind, ThresholdRule{Pattern: b.Pattern, Threshold: b.Threshold, Question: b.Question, By: b.By})
			break
		}
		p.Learning.Set = maps.Clone(p.Learning.Set)
		delete(p.Learning.Set, b.Kind)
	}
	return p.applyReviewed(e)
}

// above reports whether the review that the task's session made sends the task back.
// Guidance that was not followed counts by the threshold that people wrote down: what
// was learned of reviewers' issues says nothing about their words.
func (d *decision) above(t TaskState, issues []ledger.Issue) bool {
	s := d.run().Settings
	th := d.Project.ThresholdOf(s, t.Task)
	if th.Learned == nil {
		return ledger.Reaches(th.Severities, issues)
	}
	said, found := issues[:0:0], issues[:0:0]
	for _, i := range issues {
		if ofGuidance(i) {
			said = append(said, i)
		} else {
			found = append(found, i)
		}
	}
	return ledger.Reaches(th.Severities, found) || ledger.Reaches(s.For(t.Task).Pattern.Threshold, said)
}

// figures counts what the ledger has about issues of one severity in tasks of a kind.
// Tasks of the given run are left out: nobody had the time to regret them.
func (l Learning) figures(kind string, severity ledger.Severity, run string) (f ledger.ThresholdProposal) {
	var runs []string
	for _, t := range l.Tasks {
		if t.Kind != kind || t.Run == run {
			continue
		}
		f.Tasks++
		if !slices.Contains(runs, t.Run) {
			runs = append(runs, t.Run)
		}
		for _, fix := range t.Fixes {
			if fix.Severity != severity {
				continue
			}
			f.Rounds++
			switch {
			case !fix.Passed || t.Regret != "":
			case fix.Lines == 0:
				f.Unchanged++
			case fix.Lines <= ledger.SmallFix && severity.Rank() > ledger.Major.Rank(): // one line can mend a major issue
				f.Small++
			}
		}
		if slices.Contains(t.Open, severity) {
			f.Open++
			if t.Regret != "" {
				f.Regretted++
			}
		}
	}
	f.Runs = len(runs)
	return f
}

// proposals returns the changes that the ledger speaks for in the threshold of a
// pattern: the mildest severity leaves it, or the worst one that is missing joins it.
// Critical never leaves.
func (p Project) proposals(pattern ledger.Pattern, run string) (found []ledger.ThresholdProposal) {
	now := p.ThresholdFor(pattern).Severities
	propose := func(severity ledger.Severity, add bool, speaks func(ledger.ThresholdProposal) bool) {
		f := p.Learning.figures(pattern.Name, severity, run)
		f.ThresholdChange = ledger.ThresholdChange{Kind: pattern.Name, Severity: severity, Add: add}
		if f.Tasks < leastTasks || f.Runs < leastRuns || !speaks(f) || slices.Contains(p.Learning.Asked, f.ThresholdChange) {
			return
		}
		f.Pattern = slices.Clone(pattern.Threshold)
		for _, s := range ledger.Severities() {
			if s == severity && add || s != severity && slices.Contains(now, s) {
				f.Threshold = append(f.Threshold, s)
			}
		}
		found = append(found, f)
	}
	all := ledger.Severities()
	if n := slices.IndexFunc(all, func(s ledger.Severity) bool { return !slices.Contains(now, s) }); n >= 0 && all[n] != ledger.Critical {
		propose(all[n], true, func(f ledger.ThresholdProposal) bool {
			return f.Regretted >= leastRegretted && 2*f.Regretted >= f.Open
		})
	}
	slices.Reverse(all)
	if n := slices.IndexFunc(all, func(s ledger.Severity) bool { return slices.Contains(now, s) }); n >= 0 && all[n] != ledger.Critical && slices.Contains(now, ledger.Critical) {
		propose(all[n], false, func(f ledger.ThresholdProposal) bool {
			wasted := f.Unchanged + f.Small
			return wasted >= leastWasted && 4*wasted >= 3*f.Rounds && f.Regretted == 0
		})
	}
	return found
}

// askThreshold asks about one change that the ledger speaks for, after run r of the
// source has ended. A person who stops a run wants quiet.
func (d *decision) askThreshold(r *Run, e ledger.RunEnded) {
	switch e.Reason {
	case ledger.ReasonStopped, ledger.ReasonReplaced, ledger.ReasonInternal:
		return
	}
	if r.Settings.NoLearning || r.Check || r.Started.IsZero() || r.Aside() ||
		slices.ContainsFunc(d.Project.Questions, func(q ledger.Question) bool { return q.Kind == ledger.AskThreshold }) {
		return
	}
	patterns := maps.Clone(r.Settings.Roles)
	if patterns == nil {
		patterns = map[string]ledger.Pattern{}
	}
	patterns[r.Settings.Pattern.Name] = r.Settings.Pattern
	for _, kind := range sortedKeys(patterns) {
		found := d.Project.proposals(patterns[kind], r.ID)
		if len(found) == 0 {
			continue
		}
		change := found[0]
		d.add(scope{}, ledger.QuestionAsked{Question: ledger.Question{
			ID: d.nextID("q"), Kind: ledger.AskThreshold, Run: r.ID, Title: kind, Text: thresholdFigures(change),
			Threshold: &change, Asked: d.in.Time,
		}})
		return
	}
}

// thresholdFigures returns what speaks for a change, for people.
func thresholdFigures(c ledger.ThresholdProposal) string {
	of := fmt.Sprintf("%s, %d tasks of %d runs: ", c.Kind, c.Tasks, c.Runs)
	if c.Add {
		return of + fmt.Sprintf("%d of %d that were done with %s issues open are reverted, redone or sent back", c.Regretted, c.Open, c.Severity)
	}
	of += fmt.Sprintf("of %d fixes for %s issues alone, %d changed nothing", c.Rounds, c.Severity, c.Unchanged)
	if c.Small > 0 {
		of += fmt.Sprintf(" and %d at most %d lines", c.Small, ledger.SmallFix)
	}
	return of
}

func applyThreshold(d *decision, a answerGiven) {
	c := a.q.Threshold
	if c == nil {
		return
	}
	if a.choice != "use" {
		d.say("%s stays as it is; that is not asked again", c.Kind)
		return
	}
	d.add(scope{}, ledger.ThresholdSet{Kind: c.Kind, Pattern: c.Pattern, Threshold: c.Threshold, Question: a.q.ID, By: d.by()})
	d.say("%s: %s from now on", c.Kind, severities(c.Threshold))
}

// resetThreshold takes a learned threshold back.
func (d *decision) resetThreshold(b ResetThreshold) {
	kind, ok := "", false
	for _, k := range sortedKeys(d.Project.Learning.Set) {
		if strings.EqualFold(k, strings.TrimSpace(b.Kind)) || b.Kind == "" && len(d.Project.Learning.Set) == 1 {
			kind, ok = k, true
		}
	}
	known := sortedKeys(d.Project.Learning.Set)
	switch {
	case ok:
	case len(known) == 0:
		d.refuse(ledger.CodeNothing, "%s has no learned threshold\nEach pattern's own is in force.", d.in.Project)
		return
	case b.Kind == "":
		d.refuse(ledger.CodeNothing, "which one?\nLearned are those of %s.", strings.Join(known, ", "))
		return
	default:
		d.refuse(ledger.CodeNothing, "%s has no learned threshold\nThere are those of %s.", strings.TrimSpace(b.Kind), strings.Join(known, ", "))
		return
	}
	rule := d.Project.Learning.Set[kind]
	d.add(scope{}, ledger.ThresholdSet{Kind: kind, By: d.by()})
	d.say("%s: its own threshold again\nIts file says %s.", kind, severities(rule.Pattern))
}

// severities lists a threshold for people: "critical, major".
func severities(list []ledger.Severity) string {
	var names []string
	for _, s := range list {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
