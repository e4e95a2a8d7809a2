package markdown

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Sizes above which a task no longer fits into two or three sentences.
const (
	largeBody       = 600 // characters, not counting field names and indentation
	largeAcceptance = 8   // number of criteria
)

// stages lists the usual order of work (docs/spec 3.3), each stage with the
// words in a title that indicate it.
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

// Lint warns about open tasks that are too large for two or three sentences,
// and about a task that comes after tasks that usually depend on it (schema →
// service → API → UI → tests). Its warnings never stop a run.
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
	// The order compares the first task of each stage only: the schema of a
	// second feature may come after the pages of the first.
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

// stageOf returns the index of the only stage that a title indicates, -1 for
// none or several.
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

// bodySize counts the characters of a body without field names and indentation.
func bodySize(body string) int {
	n := 0
	for _, l := range strings.Split(body, "\n") {
		l = strings.TrimSpace(l)
		n += utf8.RuneCountInString(l[len(listMark(l)):])
	}
	return n
}
