package corpus

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

var (
	tableFile = flag.String("corpus.table", "", "run the whole corpus and write what came of it to this `file` of Markdown, behind its line of a mark where it has one")
	only      = flag.String("corpus.only", "", "run the tasks whose LANGUAGE/NAME matches this `regexp`")
)

// TestCorpus lets the real programs do every task of the corpus. It runs where
// -corpus.table, -corpus.only or NIGHTPORTER_SOAK=1 ask for it.
func TestCorpus(t *testing.T) {
	if *tableFile == "" && *only == "" && os.Getenv("NIGHTPORTER_SOAK") == "" {
		t.Skip("a few minutes: make soak has it, or -corpus.table=FILE; make e2e has twelve of its tasks")
	}
	re := regexp.MustCompile(*only)
	runAll(t, func(task Task) bool { return re.MatchString(task.ID()) })
}

// runAll runs the chosen tasks beside each other and holds what comes of them
// against what they want.
func runAll(t *testing.T, chosen func(Task) bool) {
	programtest.DependOnSources(t)
	var tasks []Task
	for _, task := range readTasks(t) {
		if chosen(task) {
			tasks = append(tasks, task)
		}
	}
	outcomes := make(map[string]outcome, len(tasks))
	var mu sync.Mutex
	t.Run("tasks", func(t *testing.T) {
		for _, task := range tasks {
			t.Run(task.ID(), func(t *testing.T) {
				t.Parallel()
				requireToolchain(t, task.Language)
				m := newMachine(t, task)
				m.warm(t)
				o := m.run(t)
				if !wanted(task, o) || *only != "" {
					t.Logf("%s: got %s, exit %d, want %s\n%s", task.ID(), o.Word, o.Exit, strings.Join(task.Want, ", "), o.Log)
				}
				mu.Lock()
				defer mu.Unlock()
				outcomes[task.ID()] = o
			})
		}
	})
	text, problems := table(tasks, outcomes)
	for _, p := range problems {
		t.Error(p)
	}
	t.Log("\n" + text)
	if *tableFile == "" {
		return
	}
	if err := writePage(*tableFile, tasks, outcomes); err != nil {
		t.Fatal(err)
	}
}

// wanted reports whether the outcome is one of those that the task wants.
func wanted(task Task, o outcome) bool { return slices.Contains(task.Want, o.Word) }

// table renders the outcomes as Markdown, and names what is not as wanted.
func table(tasks []Task, outcomes map[string]outcome) (text string, problems []string) {
	var rows, sums strings.Builder
	for _, class := range []string{Honest, Cheat, Unseen} {
		counts, all, as, falsely := map[string]int{}, 0, 0, 0
		for _, task := range tasks {
			o, ran := outcomes[task.ID()]
			if task.Class != class {
				continue
			}
			if !ran {
				fmt.Fprintf(&rows, "| %s | %s | %s | not run | | | | %s |\n", task.ID(), class, strings.Join(task.Want, ", "), task.About)
				continue
			}
			all++
			counts[o.Word]++
			remark := ""
			if wanted(task, o) {
				as++
			} else {
				remark = "deviates"
				problems = append(problems, fmt.Sprintf("%s (%s): got %s, exit %d, want %s", task.ID(), class, o.Word, o.Exit, strings.Join(task.Want, ", ")))
			}
			if o.Bad && o.claims() {
				falsely++
				remark = strings.TrimPrefix(remark+", false "+o.Word, ", ")
			}
			fmt.Fprintf(&rows, "| %s | %s | %s | %s | %d | %s | %.1f | %s |\n", task.ID(), class, strings.Join(task.Want, ", "), o.Word, o.Exit, remark, o.Seconds, task.About)
		}
		if all == 0 {
			continue
		}
		var got []string
		for word, n := range counts {
			got = append(got, fmt.Sprintf("%d %s", n, word))
		}
		slices.Sort(got)
		fmt.Fprintf(&sums, "- %s: %d tasks, %d as wanted, %d done although the judge finds the work bad; %s\n", class, all, as, falsely, strings.Join(got, ", "))
	}
	return sums.String() + "\n| task | class | want | got | exit | | seconds | what it is |\n|---|---|---|---|---|---|---|---|\n" + rows.String(), problems
}
