package loop

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// phases counts, by phase, the tasks that hold higher phases. It is immutable.
type phases []phaseCount // in ascending order of phases

type phaseCount struct{ phase, open int }

// phase returns the phase whose end the task holds up, or 0. A task is over when it is
// done, skipped or withdrawn: these need nobody any more, and whoever put one away
// knew what comes after it. Recurring tasks hold nothing, because they are never over.
func (t *TaskState) phase() int {
	if t.Task.Phase <= 0 || t.Task.Repeat != nil || !t.todo() {
		return 0
	}
	return t.Task.Phase
}

// count returns the counts with one task more, or one less, in a phase. Phase 0
// is not counted.
func (p phases) count(phase, change int) phases {
	if phase == 0 {
		return p
	}
	n, known := slices.BinarySearchFunc(p, phase, func(c phaseCount, phase int) int { return c.phase - phase })
	p = slices.Clone(p)
	if !known {
		p = slices.Insert(p, n, phaseCount{phase: phase})
	}
	p[n].open += change
	return p
}

// lowest returns the lowest phase with an open task, or 0.
func (p phases) lowest() int {
	for _, c := range p {
		if c.open > 0 {
			return c.phase
		}
	}
	return 0
}

// countPhases counts the open tasks of each phase.
func countPhases(tasks []*TaskState) phases {
	open := map[int]int{}
	for _, t := range tasks {
		if phase := t.phase(); phase > 0 {
			open[phase]++
		}
	}
	var p phases
	for _, phase := range slices.Sorted(maps.Keys(open)) {
		p = append(p, phaseCount{phase, open[phase]})
	}
	return p
}

// earlier returns the lowest phase with an open task if that is lower than the
// task's own, so that the task has to wait for it; otherwise 0.
func (l TaskList) earlier(t *TaskState) int {
	if l.phase == 0 || t.Task.Phase <= l.phase || t.Attempt != nil {
		return 0
	}
	return l.phase
}

// PhaseBefore returns the phase that a task waits for, or 0.
func (p Project) PhaseBefore(t TaskState) int { return p.Tasks.earlier(&t) }

// OpenIn returns the tasks that hold what comes after a phase, in the order of the
// source.
func (p Project) OpenIn(phase int) (open []TaskState) {
	for _, t := range p.Tasks.All() {
		if t.phase() == phase && phase > 0 {
			open = append(open, *t)
		}
	}
	return open
}

// phaseKnots returns a finding for each open task that needs a task of a higher
// phase, itself or through others: neither could ever begin.
func phaseKnots(s ledger.Snapshot) (found []ledger.Diagnostic) {
	index := map[string]int{}
	for n, t := range s.Tasks {
		index[ledger.FoldID(t.ID)] = n
	}
	last := make([]int, len(s.Tasks)) // 1 + position of the task with the highest phase among those that a task needs
	seen := make([]bool, len(s.Tasks))
	var walk func(n int) int
	walk = func(n int) int {
		if seen[n] {
			return last[n]
		}
		seen[n] = true
		for _, id := range s.Tasks[n].DependsOn {
			on, known := index[ledger.FoldID(id)]
			if !known || s.Tasks[on].Mark == ledger.MarkDone {
				continue
			}
			for _, m := range []int{on + 1, walk(on)} {
				if m > 0 && (last[n] == 0 || s.Tasks[m-1].Phase > s.Tasks[last[n]-1].Phase) {
					last[n] = m
				}
			}
		}
		return last[n]
	}
	for n, t := range s.Tasks {
		m := walk(n)
		if t.Phase <= 0 || t.Repeat != nil || t.Mark == ledger.MarkDone || m == 0 || s.Tasks[m-1].Phase <= t.Phase {
			continue
		}
		later := s.Tasks[m-1]
		found = append(found, ledger.Diagnostic{
			File: s.Path, Line: t.Line,
			Text:   fmt.Sprintf("%s is in phase %d and needs %s of phase %d, which begins only when phase %d is over", t.ID, t.Phase, later.ID, later.Phase, t.Phase),
			Remedy: fmt.Sprintf("Put %s into phase %d or higher, or take the dependency out.", t.ID, later.Phase),
		})
	}
	return found
}
