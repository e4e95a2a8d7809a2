package markdown

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// maxDepends limits the dependencies of a file's tasks together: each of n tasks can
// name a range of all.
const maxDepends = 1_000_000

// noneWords holds the notations for "no dependencies".
var noneWords = map[string]bool{"": true, "none": true, "-": true, "–": true, "—": true, "n/a": true, "nothing": true, "none.": true}

// saysNone reports whether a list of dependencies says that there are none. Most begin
// with another letter, which saves the expression.
func saysNone(s string) bool {
	if s != "" && s[0] < utf8.RuneSelf && s[0] != '-' && s[0]|0x20 != 'n' {
		return false
	}
	return noneWords[strings.ToLower(s)] || dependsNone.MatchString(s)
}

// dependsOn is a task's field of dependencies.
type dependsOn struct {
	text string // "" = none
	line int    // index of its line
}

// dependencies are the indices of the tasks that one task depends on, each once. The set
// is used for one task after the other.
type dependencies struct {
	list []int
	of   []int32 // per task: 1 + the task that has it in the list
	task int32
}

// begin empties the set for the task with an index, of n.
func (s *dependencies) begin(task, n int) {
	if s.of == nil {
		s.of = make([]int32, n)
	}
	s.list, s.task = s.list[:0], int32(task+1) //nolint:gosec // a file has at most form.MaxBytes
}

func (s *dependencies) add(n int) {
	if s.of[n] != s.task {
		s.of[n], s.list = s.task, append(s.list, n)
	}
}

// remove takes a task out, and reports whether it was in the set.
func (s *dependencies) remove(n int) bool {
	if s.of[n] != s.task {
		return false
	}
	s.list = slices.DeleteFunc(s.list, func(o int) bool { return o == n })
	return true
}

// sorted returns a copy of the list in the order of the tasks.
func (s *dependencies) sorted() []int {
	list := slices.Clone(s.list)
	slices.Sort(list)
	return list
}

// resolveDependencies resolves the dependencies of the tasks, and reports
// duplicate ids, unknown ids and cycles.
func (p *plan) resolveDependencies(tasks []ledger.Task, deps []dependsOn) {
	first := make(map[string]int, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		key := ledger.FoldID(t.ID)
		if n, ok := first[key]; ok {
			p.finding(t.Line-1, fmt.Sprintf("%s is there twice: line %d and line %d", t.ID, tasks[n].Line, t.Line), "Give one of them another number")
			continue
		}
		first[key] = i
	}
	var counted *countedTasks // made when a range needs it
	var graph [][]int         // per task those that it depends on; nil where none does
	left := maxDepends
	var on dependencies
	for i := range tasks {
		if deps[i].text == "" {
			continue
		}
		t, line := &tasks[i], deps[i].line
		refs, bad := parseDepends(deps[i].text)
		if bad != "" {
			p.finding(line, fmt.Sprintf("%s depends on %q: expected none, or task numbers", t.ID, clip(bad, 60)),
				"Write it like: Depends on: Task 3, Task 4")
		}
		on.begin(i, len(tasks))
		for _, r := range refs {
			for _, id := range []string{r.from, r.to} {
				if id == "" {
					continue
				}
				if _, ok := first["task "+strings.ToLower(id)]; !ok {
					p.finding(line, fmt.Sprintf("%s depends on Task %s, which this plan lacks", t.ID, id), "Correct the number, or remove it")
				}
			}
			if r.to == "" {
				if n, ok := first["task "+strings.ToLower(r.from)]; ok {
					on.add(n)
				}
				continue
			}
			if compareIDs(r.from, r.to) > 0 {
				p.finding(line, fmt.Sprintf("%s depends on Tasks %s-%s, which runs backwards", t.ID, r.from, r.to), "Write the smaller number first")
			}
			if counted == nil {
				counted = countTasks(tasks)
			}
			for _, n := range counted.between(r.from, r.to) {
				on.add(n)
			}
		}
		if on.remove(i) {
			p.finding(line, t.ID+" depends on itself", "Remove it from its own Depends on")
		}
		if left -= len(on.list); left < 0 {
			p.finding(line, fmt.Sprintf("more than %d dependencies", maxDepends), "Name fewer tasks, or split the file")
			return
		}
		if len(on.list) == 0 {
			continue
		}
		if graph == nil {
			graph = make([][]int, len(tasks))
		}
		graph[i] = on.sorted()
		t.DependsOn = make([]string, 0, len(graph[i]))
		for _, n := range graph[i] {
			t.DependsOn = append(t.DependsOn, tasks[n].ID)
		}
	}
	if graph != nil {
		p.ReportCycles(graph, func(n int) *ledger.Task { return &tasks[n] })
	}
}

// countedTasks are tasks in counting order: 2 < 2a < 2.5 < 3. A range of numbers is
// found in them without a look at every task.
type countedTasks struct {
	numbers []string
	index   []int // of the task of each number
}

func countTasks(tasks []ledger.Task) *countedTasks {
	c := &countedTasks{}
	for n := range tasks {
		c.index = append(c.index, n)
	}
	number := func(n int) string { return strings.TrimPrefix(ledger.FoldID(tasks[n].ID), "task ") }
	slices.SortStableFunc(c.index, func(a, b int) int { return compareIDs(number(a), number(b)) })
	for _, n := range c.index {
		c.numbers = append(c.numbers, number(n))
	}
	return c
}

// between returns the indices of the tasks from one number to another, both
// included.
func (c *countedTasks) between(from, to string) []int {
	start, _ := slices.BinarySearchFunc(c.numbers, from, compareIDs)
	end := start
	for end < len(c.numbers) && compareIDs(c.numbers[end], to) <= 0 {
		end++
	}
	return c.index[start:end]
}

// taskRef is a reference to one task, or with to set, to a range of tasks.
type taskRef struct{ from, to string }

var (
	dependsMarkup = strings.NewReplacer("`", "", "**", "")
	dependsNone   = regexp.MustCompile(`^(?i:none|n/a|nothing)[ \t]*(?:[-–—:;,.].*)?$`)
	dependsRemark = regexp.MustCompile(`\([^()]*\)`)
	dependsToken  = regexp.MustCompile(`^(?i:tasks?[ \t]*)?#?([0-9]+(?:\.[0-9]+)*[A-Za-z]?)(?:[ \t]*(?:-|–|—|\.\.\.?|…|(?i:through|to))[ \t]*(?i:tasks?[ \t]*)?#?([0-9]+(?:\.[0-9]+)*[A-Za-z]?))?\b`)
	dependsJoint  = regexp.MustCompile(`^(?:[ \t,;&+.]+|(?i:and|plus)\b)+`)
)

// withoutMarkup returns a list of ids without remarks in parentheses and emphasis.
func withoutMarkup(s string) string {
	if strings.Contains(s, "(") {
		s = dependsRemark.ReplaceAllString(s, "")
	}
	if strings.ContainsAny(s, "`*") {
		s = dependsMarkup.Replace(s)
	}
	return s
}

// parseDepends reads "none", "Task 8, Task 9", "Tasks 7, 8", "Tasks 1-13", "#3
// and #4" and mixtures of these. A text that it cannot read is returned as bad
// in full: it must not guess at "all but Task 3".
func parseDepends(s string) (refs []taskRef, bad string) {
	s = strings.TrimSpace(withoutMarkup(s))
	if len(s) > 5 && s[3]|0x20 == 'k' && taskIDLength([]byte(s)) == len(s) {
		return []taskRef{{from: strings.TrimSpace(s[4:])}}, "" // "Task 8", as most are
	}
	if saysNone(s) {
		return nil, ""
	}
	ranges := 0
	for rest := s; ; {
		rest = rest[len(dependsJoint.FindString(rest)):]
		if rest == "" {
			return refs, ""
		}
		m := dependsToken.FindStringSubmatch(rest)
		if m != nil && m[2] != "" {
			ranges++
		}
		if m == nil || len(refs) == form.MaxTasks || ranges > 20 { // no plan has that many
			return refs, s
		}
		refs = append(refs, taskRef{m[1], m[2]})
		rest = rest[len(m[0]):]
	}
}

// compareIDs orders task numbers in counting order: 2 < 2a < 2.5 < 3 < 10.
func compareIDs(a, b string) int {
	as, al := splitID(a)
	bs, bl := splitID(b)
	for i := range min(len(as), len(bs)) {
		// The digits are compared as text, because a number may be too long for
		// an integer.
		x, y := strings.TrimLeft(as[i], "0"), strings.TrimLeft(bs[i], "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(as), len(bs)), cmp.Compare(al, bl))
}

func splitID(id string) (numbers []string, letter string) {
	id = strings.ToLower(id)
	if n := len(id); n > 0 && (id[n-1] < '0' || id[n-1] > '9') {
		id, letter = id[:n-1], id[n-1:]
	}
	return strings.Split(id, "."), letter
}
