package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pageFile is the page for readers, whose second part a run of the whole corpus
// writes.
const (
	pageFile = "../../docs/corpus.md"
	pageMark = "<!-- What stands below is written by -corpus.table. -->\n"
)

// headings are the sections of the page, by class.
var headings = map[string]string{Honest: "## Honest work", Cheat: "## Cheats", Unseen: "## What no machine sees"}

// writePage writes what came of the tasks into a file, behind its mark if it has
// one.
func writePage(file string, tasks []Task, outcomes map[string]outcome) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	head, _, _ := strings.Cut(string(old), pageMark)
	return os.WriteFile(file, []byte(head+pageMark+page(tasks, outcomes)), 0o644)
}

// page renders the tasks by class, with the word that each of them got.
func page(tasks []Task, outcomes map[string]outcome) string {
	var sums, rows strings.Builder
	sums.WriteString("\n| class | tasks | " + strings.Join(words, " | ") + " |\n|---|---" + strings.Repeat("|---", len(words)) + "|\n")
	for _, class := range []string{Honest, Cheat, Unseen} {
		count, all := map[string]int{}, 0
		rows.WriteString("\n" + headings[class] + "\n\n| task | what it is | word |\n|---|---|---|\n")
		for _, task := range tasks {
			if task.Class != class {
				continue
			}
			word := "not run"
			if o, ran := outcomes[task.ID()]; ran {
				word = o.Word
			}
			all++
			count[word]++
			fmt.Fprintf(&rows, "| `%s` | %s | %s |\n", task.ID(), task.About, word)
		}
		fmt.Fprintf(&sums, "| %s | %d", class, all)
		for _, word := range words {
			fmt.Fprintf(&sums, " | %d", count[word])
		}
		sums.WriteString(" |\n")
	}
	return sums.String() + rows.String()
}

var pageRow = regexp.MustCompile("^\\| `([a-z0-9/-]+)` \\| (.+) \\| (.+) \\|$")

// TestPage: every task stands on the page below its class, with its sentence and
// a word that it wants; the page has no other ones, and its sums are right.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	tasks, outcomes, class := readTasks(t), map[string]outcome{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		for c, heading := range headings {
			if line == heading {
				class = c
			}
		}
		m := pageRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n := slices.IndexFunc(tasks, func(task Task) bool { return task.ID() == m[1] })
		switch {
		case n < 0:
			t.Errorf("no task %s is in testdata", m[1])
		case tasks[n].Class != class || tasks[n].About != m[2]:
			t.Errorf("%s: the page has class %q, %q", m[1], class, m[2])
		case !wanted(tasks[n], outcome{Word: m[3]}):
			t.Errorf("%s: the page says %s, it wants %s", m[1], m[3], strings.Join(tasks[n].Want, ", "))
		}
		outcomes[m[1]] = outcome{Word: m[3]}
	}
	for _, task := range tasks {
		if _, ok := outcomes[task.ID()]; !ok {
			t.Errorf("%s is missing in docs/corpus.md: run it, and write it there with -corpus.table (doc.go)", task.ID())
		}
	}
	if _, written, ok := strings.Cut(string(text), pageMark); !t.Failed() && (!ok || written != page(tasks, outcomes)) {
		t.Errorf("the page is not as a run writes it:\n%s", page(tasks, outcomes))
	}
}
