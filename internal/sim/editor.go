package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// editor is a session that edits the lines of text files, or a command that judges
// them. What it does follows from the seed, its task and how many sessions that had
// before.
type editor struct {
	n      *gitNight
	launch ledger.Launch
	began  time.Time
	exit   ledger.Exit
	over   chan struct{} // closed at its end
	rnd    *rand.Rand
	ids    int // lines it wrote
}

// drawn returns random numbers that are the same whenever the parts are.
func drawn(seed uint64, parts ...string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(parts, "\x00")))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// between draws a time that no two sessions are likely to share.
func (s *editor) between(a, b time.Duration) time.Duration {
	return a + time.Duration(s.rnd.Int64N(int64(b-a)))
}

// live is the session's whole life.
func (s *editor) live() {
	n := s.n
	s.exit = ledger.Exit{Session: s.launch.Session, Reason: ledger.ExitSelf, Turns: -1, Tokens: -1, CostUSD: -1, Boundary: 3}
	if s.launch.Kind == ledger.KindAgent {
		s.exit.Turns, s.exit.Tokens = 3, 1000
		s.agent()
	} else {
		s.command()
	}
	s.exit.Started, s.exit.Ended = s.began, n.wall()
	close(s.over)
}

// command verifies the files in its folder: no line is broken, and no two claim the
// same thing, which two changes that each pass can do together.
func (s *editor) command() {
	n := s.n
	files := n.filesIn(s.launch.Work)
	s.rnd = drawn(n.seed, s.launch.Command, files.hash())
	n.all.sleep(s.between(5*time.Second, 2*time.Minute))
	if s.launch.Kind == ledger.KindSetup {
		return
	}
	failed := files.failing()
	n.book.checked(s.launch, files, len(failed) == 0)
	if len(failed) == 0 {
		return
	}
	n.counts["red checks"]++
	s.exit.Code, s.exit.Tail = 1, "FAIL "+strings.Join(failed, "\nFAIL ")
	s.exit.Failures = &ledger.Failures{Runners: []string{"go test"}, Passed: -1, Skipped: -1, Exit: 1}
	for _, name := range failed {
		s.exit.Failures.Failed = append(s.exit.Failures.Failed, ledger.Failure{Runner: "go test", Name: name, Kind: ledger.FailureAssertion})
	}
}

// agent edits, says so, and ends.
func (s *editor) agent() {
	n := s.n
	n.counts["sessions"]++
	number := n.book.sessionOf(s.launch.Task)
	s.rnd = drawn(n.seed, s.launch.Task, fmt.Sprint(number))
	n.book.begins(s, n.filesIn(s.launch.Work))
	n.all.sleep(s.between(time.Minute, 20*time.Minute))
	typ, data := ledger.EventReview, map[string]any{"summary": "read it", "issues": []ledger.Issue{}}
	if s.launch.Hat != "reviewer" {
		s.edit(number)
		typ = map[string]string{"builder": "build.complete", "fixer": ledger.EventFix}[s.launch.Hat]
		data = map[string]any{"summary": "wrote lines", "files_modified": []string{sharedFile(0)}, "issues": []ledger.Issue{}, "resolved": []string{}}
		if s.rnd.IntN(14) == 0 {
			n.counts["crashed sessions"]++
			s.exit.Code = 1
			return
		}
	} else if s.rnd.IntN(4) == 0 {
		data["issues"] = []ledger.Issue{{Severity: ledger.Major, File: sharedFile(0), Rule: fmt.Sprintf("r%d", number), Text: "wrong"}}
	}
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	for {
		a, is := n.do(loop.Input{Project: gitProject, Actor: "agent", Body: loop.Emit{Session: s.launch.Session, Type: typ, Data: raw}})
		if is && !a.OK {
			n.fail("event", "%s of %s is refused: %s", typ, s.launch.Session, a.Text)
		}
		if is {
			break
		}
	}
	n.book.ends(s, n.filesIn(s.launch.Work))
}

// edit changes lines of the files that the task writes.
func (s *editor) edit(number int) {
	n := s.n
	work := n.filesIn(s.launch.Work)
	changed := maps.Clone(work)
	paths := s.paths(work)
	repairs := strings.Contains(s.launch.Prompt, "Verification failed") || n.book.redBefore(s.launch.Task)
	for path, lines := range changed { // what it broke before
		if repairs {
			changed[path] = slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
				return strings.Contains(l, "BROKEN") && strings.HasPrefix(l, "["+lineTask(s.launch.Task)+".")
			})
		}
	}
	for range 2 + s.rnd.IntN(5) {
		path := paths[s.rnd.IntN(len(paths))]
		lines, ok := changed[path]
		if !ok {
			continue
		}
		at := s.rnd.IntN(len(lines) + 1)
		switch s.rnd.IntN(12) {
		case 0, 1, 2, 3:
			lines = slices.Insert(slices.Clone(lines), at, s.lines(number, 1+s.rnd.IntN(3))...)
		case 4, 5:
			lines = append(slices.Clone(lines), s.lines(number, 1)...)
		case 6, 7, 8:
			if end := min(at+1+s.rnd.IntN(2), len(lines)); end > at {
				lines = slices.Replace(slices.Clone(lines), at, end, s.lines(number, 1+s.rnd.IntN(2))...)
			}
		case 9, 10:
			if end := min(at+1+s.rnd.IntN(2), len(lines)); len(lines) > 4 {
				lines = slices.Delete(slices.Clone(lines), at, end)
			}
		case 11:
			if strings.HasPrefix(path, "notes/") && len(paths) > 1 && s.rnd.IntN(2) == 0 { // renamed, and edited by others meanwhile
				delete(changed, path)
				path = fmt.Sprintf("notes/%s-%d.txt", lineTask(s.launch.Task), number)
				paths = s.paths(changed)
			}
		}
		changed[path] = lines
	}
	path := slices.Sorted(maps.Keys(changed))[0]
	if own := s.paths(changed); len(own) > 0 {
		path = own[s.rnd.IntN(len(own))]
	}
	add := func(text string) {
		lines := slices.Clone(changed[path])
		line := strings.Replace(s.lines(number, 1)[0], "written", text, 1)
		changed[path] = slices.Insert(lines, s.rnd.IntN(len(lines)+1), line)
	}
	add("written")
	if s.rnd.IntN(4) == 0 { // the next free number, which another may take at the same time
		free := 1
		for changed.has(fmt.Sprintf("CLAIM %d", free)) {
			free++
		}
		add(fmt.Sprintf("CLAIM %d", free))
	}
	if s.rnd.IntN(10) == 0 && !repairs {
		add("BROKEN")
	}
	for path := range work {
		if _, is := changed[path]; !is {
			if err := os.Remove(filepath.Join(s.launch.Work, path)); err != nil {
				n.fail("edit", "%v", err)
			}
		}
	}
	for path, lines := range changed {
		if slices.Equal(lines, work[path]) && work[path] != nil {
			continue
		}
		if err := writeLines(filepath.Join(s.launch.Work, path), lines); err != nil {
			n.fail("edit", "%v", err)
		}
	}
}

// paths returns the files that the session's task writes, sorted: its own, or the shared
// ones.
func (s *editor) paths(in gitFiles) (paths []string) {
	own := "notes/"
	for at, t := range s.n.plan.Tasks {
		if t.ID == s.launch.Task && t.Scope != "" {
			own = filepath.Dir(ownFile(at+1)) + "/"
		}
	}
	for path := range in {
		if strings.HasPrefix(path, own) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// lines returns new lines, each with an id of its own.
func (s *editor) lines(number, count int) (lines []string) {
	for range count {
		s.ids++
		lines = append(lines, fmt.Sprintf("[%s.%d.%d] written", lineTask(s.launch.Task), number, s.ids))
	}
	return lines
}

// lineTask is a task in the id of a line.
func lineTask(task string) string { return strings.ReplaceAll(task, " ", "") }
