package testreport

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// tool is the format of lines with which shells, make, npm and most programs
// report an error. Their failures have no runner.
const tool = "tool"

type toolReader struct {
	c     *collector
	marks map[string]string // names of lines with a mark, by line
}

// errorLine is a line that reports an error by its form: "Error: …",
// "TypeError: …", "cp: error: …".
var errorLine = regexp.MustCompile(`^(?:[\w./-]+: )?(?:(?i:error|fatal|fatal error|panic|failure)(?:\[\w+\])?|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?): \S`)

var (
	toolMake   = regexp.MustCompile(`^(\w*make)(?:\[\d+\])?: \*\*\* (?:\[(?:[^\]:]+:\d+: )?([^\]]+)\] )?(.*)$`)
	toolNpm    = regexp.MustCompile(`^npm (?:error|ERR!) ((?:workspace|Missing script:|code E) ?.*)$`)
	npmVersion = regexp.MustCompile(`@\d[\w.+-]*$`)
	toolShell  = regexp.MustCompile(`^(?:/\S+/)?(?:\w*sh|make|env): (?:line )?(?:\d+: )?(.*(?:not found|Permission denied|No such file or directory|Exec format error).*)$`)
	toolWords  = regexp.MustCompile(`^(?:Segmentation fault|Killed|Aborted|Bus error|Terminated|Illegal instruction|Floating point exception)\b`)
	toolMark   = regexp.MustCompile(`^(?:FAIL|FAILED|✗|✘|✖|❌)(?::| )\s*(\S.*)$`)
)

func (t *toolReader) read(line string) bool {
	if !toolLine(line) {
		return false
	}
	if m := toolMark.FindStringSubmatch(line); m != nil {
		if t.marks == nil {
			t.marks = map[string]string{}
		}
		if len(t.marks) <= MaxFailures {
			t.marks[line] = "FAIL " + stableMessage(m[1])
		}
		return true
	}
	name := ""
	if m := toolMake.FindStringSubmatch(line); m != nil {
		name = m[1] + ": " + m[2] + " " + m[3]
	} else if strings.HasPrefix(line, "npm ") {
		if m := toolNpm.FindStringSubmatch(line); m != nil {
			name = "npm: " + npmVersion.ReplaceAllString(m[1], "")
		}
	} else if m := toolShell.FindStringSubmatch(line); m != nil {
		name, _ = stableLine(m[1])
		name = "sh: " + name
	} else {
		name, _ = stableLine(stableMessage(line))
	}
	t.c.add("", "", name, ledger.FailureLine)
	return true
}

// toolLine reports whether a line has one of the forms of this format. The
// cheap tests come first.
func toolLine(line string) bool {
	switch {
	case line == "" || line[0] == ' ' || line[0] == '\t':
		return false
	case strings.HasPrefix(line, "npm error") || strings.HasPrefix(line, "npm ERR!") || strings.HasPrefix(line, "npm warn"):
		return true
	case (line[0] == 'F' || line[0] >= 0x80) && toolMark.MatchString(line):
		return true
	case strings.Contains(line, ": *** ") && toolMake.MatchString(line):
		return true
	case (strings.Contains(line, "sh: ") || strings.HasPrefix(line, "make: ") || strings.HasPrefix(line, "env: ")) && toolShell.MatchString(line):
		return true
	}
	return strings.Contains(line, ": ") && errorLine.MatchString(line) || strings.IndexByte("SKABTIF", line[0]) >= 0 && toolWords.MatchString(line)
}

func (t *toolReader) end() {
	for line, name := range t.marks {
		if !t.c.explained[line] {
			t.c.add("", "", name, ledger.FailureLine)
		}
	}
}

// lastResort keeps what is reported of an output in which no runner names a
// failure: its lines with a word for failure, or, if there is none, its last
// lines. A line that counts failures ("3 failed") stands for that many, so that
// one more of them is new, and one less is not.
type lastResort struct {
	seen  map[string]bool // lines with a word for failure
	words map[string]int
	last  []string // a ring
	next  int
	any   bool
}

const (
	resortWords = 200
	resortLines = 20
)

// failureWords are in small letters.
var failureWords = []string{
	"fail", "error", "not ok", "wrong", "expected", "assert", "mismatch", "differ", "cannot", "could not", "unable", "missing", "denied", "refused",
	"exception", "time out", "timed out", "timeout", "killed", "invalid", "broken", "✗", "✘", "✖", "×", "❌",
}

func hasFailureWord(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(failureWords, func(word string) bool { return strings.Contains(line, word) })
}

func (l *lastResort) read(line string) {
	if line == "" || toolLine(line) {
		return // reported by the format "tool"
	}
	l.any = true
	if len(l.words) < resortWords && len(line) < 4096 && !l.seen[line] && hasFailureWord(line) {
		if len(l.seen) < MaxFailures {
			l.seen[line] = true
		}
		if l.words == nil {
			l.words = map[string]int{}
		}
		text, count := stableLine(stableMessage(line))
		l.words[text] = max(l.words[text], count)
	}
	if len(l.last) < resortLines {
		l.last = append(l.last, line)
		return
	}
	l.last[l.next] = line
	l.next = (l.next + 1) % resortLines
}

func (l *lastResort) report(c *collector) {
	if !l.any && len(c.failed) == 0 {
		c.add("", "", noOutput, ledger.FailureLine)
		return
	}
	for text, count := range l.words {
		c.add("", "", text, ledger.FailureLine)
		for n := 2; n <= min(count, 1000); n++ {
			c.add("", "", text+" ("+strconv.Itoa(n)+")", ledger.FailureLine)
		}
	}
	if len(l.words) == 0 {
		for _, line := range l.last {
			text, _ := stableLine(line)
			c.add("", "", text, ledger.FailureLine)
		}
	}
	if len(c.failed) == 0 {
		c.add("", "", "(no readable output)", ledger.FailureLine)
	}
}

const noOutput = "(no output)"
