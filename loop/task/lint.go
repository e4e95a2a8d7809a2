package task

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
)

// What two or three sentences can hold, generously.
const (
	largeBody       = 600 // characters of text besides fields' names and indents
	largeAcceptance = 8   // criteria
)

// stages is the order in which work usually builds up (docs/spec 3.3), each with
// the words of a title that give it away.
var stages = []struct {
	name  string
	words *regexp.Regexp
}{
	{"schema", regexp.MustCompile(`(?i)\b(schemas?|migrations?|tables?|database)\b`)},
	{"service", regexp.MustCompile(`(?i)\b(services?|repository layer|business logic|domain)\b`)},
	{"API", regexp.MustCompile(`(?i)\b(apis?|endpoints?|routes?|handlers?|controllers?)\b`)},
	{"UI", regexp.MustCompile(`(?i)\b(ui|pages?|components?|screens?|frontend|forms?|views?|buttons?)\b`)},
	{"tests", regexp.MustCompile(`(?i)\b(tests?|e2e)\b`)},
}

// Lint warns of tasks that are not done yet and too large for two or three
// sentences, and of an odd order: what others usually build on (schema →
// service → API → UI → tests) coming after it. Nothing here keeps a run from
// starting.
func Lint(s ledger.Snapshot) []ledger.Diagnostic {
	file := filepath.Base(s.Path)
	var found []ledger.Diagnostic
	warn := func(line int, text, fix string) {
		found = append(found, ledger.Diagnostic{File: file, Line: line, Text: text, Remedy: fix})
	}
	for _, t := range s.Tasks {
		if t.Mark == ledger.MarkDone {
			continue
		}
		if n := bodySize(t.Body); n > largeBody {
			warn(t.Line, fmt.Sprintf("%s is large: %d characters where two or three sentences should do", t.ID, n), "Split it")
		}
		if n := len(t.Acceptance); n > largeAcceptance {
			warn(t.Line, fmt.Sprintf("%s is large: %d acceptance criteria", t.ID, n), "Split it")
		}
	}
	// The first task of each stage stands for it: a second feature's schema
	// after the first one's pages is no odd order.
	firsts := make([]*ledger.Task, len(stages))
	stage := map[string]int{}
	for i, t := range s.Tasks {
		n := stageOf(t.Title)
		if n < 0 {
			continue
		}
		stage[ledger.FoldID(t.ID)] = n
		if firsts[n] == nil {
			firsts[n] = &s.Tasks[i]
		}
	}
	for n, t := range firsts {
		if t == nil || t.Mark == ledger.MarkDone {
			continue
		}
		for m := n + 1; m < len(stages); m++ {
			if o := firsts[m]; o != nil && o.Line < t.Line {
				warn(t.Line, fmt.Sprintf("odd order: %s (%s) comes after %s (%s)", t.ID, stages[n].name, o.ID, stages[m].name),
					"Usual is schema, service, API, UI, tests")
				break
			}
		}
	}
	for _, t := range s.Tasks {
		n, ok := stage[ledger.FoldID(t.ID)]
		if !ok || t.Mark == ledger.MarkDone {
			continue
		}
		for _, id := range t.DependsOn {
			if m, ok := stage[ledger.FoldID(id)]; ok && m > n {
				warn(t.Line, fmt.Sprintf("odd order: %s (%s) depends on %s (%s)", t.ID, stages[n].name, id, stages[m].name),
					"Usual is schema, service, API, UI, tests")
			}
		}
	}
	return found
}

// stageOf is the index of the one stage that a title names, -1 for none or
// several.
func stageOf(title string) int {
	stage := -1
	for n, s := range stages {
		if s.words.MatchString(title) {
			if stage >= 0 {
				return -1
			}
			stage = n
		}
	}
	return stage
}

// bodySize counts the characters of a body that a person reads as text.
func bodySize(body string) int {
	n := 0
	for _, l := range strings.Split(body, "\n") {
		l = strings.TrimSpace(l)
		n += utf8.RuneCountInString(l[len(listItem.FindString(l)):])
	}
	return n
}
