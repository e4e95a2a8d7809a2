package testreport

import (
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

const (
	compiler = "compiler"
	tsc      = "tsc"
	eslint   = "eslint"
	lint     = "lint"
)

// compilerReader reads errors of compilers whose form is unmistakable.
type compilerReader struct {
	c *collector
}

var (
	tscPlain  = regexp.MustCompile(`^(\S.*?)\(\d+,\d+\): error (TS\d+: .*)$`)
	tscPretty = regexp.MustCompile(`^(\S.*?):\d+:\d+ - error (TS\d+: .*)$`)
	tscAlone  = regexp.MustCompile(`^error (TS\d+: .*)$`)
	ccError   = regexp.MustCompile(`^([^\s:][^:]*\.\w+):\d+:(?:\d+:)? (?:fatal )?error: (.+)$`)
	ldError   = regexp.MustCompile("(undefined reference to .*|multiple definition of [^;]*|cannot find -l\\S+)")
)

func (k *compilerReader) read(line string) bool {
	if strings.Contains(line, "error TS") {
		for _, form := range []*regexp.Regexp{tscPlain, tscPretty} {
			if m := form.FindStringSubmatch(line); m != nil {
				k.c.add(tsc, m[1], stableMessage(m[2]), ledger.FailureBuild)
				return true
			}
		}
		if m := tscAlone.FindStringSubmatch(line); m != nil {
			k.c.add(tsc, "", stableMessage(m[1]), ledger.FailureBuild)
			return true
		}
	}
	if strings.Contains(line, "error: ") {
		if m := ccError.FindStringSubmatch(line); m != nil && xctestError.MatchString(line) {
			return true // reported by the test's result
		} else if m != nil {
			kind := ledger.FailureBuild
			if slices.Contains([]string{".py", ".pyi", ".rb", ".sh"}, path.Ext(m[1])) {
				kind = ledger.FailureLine // of a checker: nothing is built there
			}
			k.c.add(compiler, m[1], stableMessage(m[2]), kind)
			return true
		}
	}
	if indent(line) == 0 && (strings.Contains(line, ":(.text") || strings.Contains(line, "/ld: ")) {
		if m := ldError.FindStringSubmatch(line); m != nil {
			k.c.add(compiler, "", m[1], ledger.FailureBuild)
			return true
		}
	}
	return false
}

func (k *compilerReader) end() {}

// eslintReader reads eslint's format "stylish": a file, and its problems below.
type eslintReader struct {
	c    *collector
	file string
}

var (
	eslintRow = regexp.MustCompile(`^  +\d+:\d+  +(error|warning)  +(.*)$`)
	eslintSum = regexp.MustCompile(`^✖ \d+ problems? \(`)
)

func (e *eslintReader) read(line string) bool {
	if strings.HasPrefix(line, "✖ ") && eslintSum.MatchString(line) {
		return true
	}
	if indent(line) == 0 {
		e.file = ""
		if !strings.ContainsAny(line, " :") || strings.HasPrefix(line, "/") {
			e.file = line
		}
		return false
	}
	if e.file == "" {
		return false
	}
	m := eslintRow.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	if m[1] == "error" {
		e.c.add(eslint, e.file, stableMessage(m[2]), ledger.FailureLine)
	}
	return true
}

func (e *eslintReader) end() {}

// lintReader reads "file:line: message" of linters, without the line.
type lintReader struct {
	c *collector
}

var (
	lintRow  = regexp.MustCompile(`^([\w./@+-]*\w\.[A-Za-z]\w{0,7}):\d+:(?:\d+:)? ?(.+)$`)
	lintNote = regexp.MustCompile(`(?i)^(?:warning|note|info|debug|hint|in function)\b`)
)

func (l *lintReader) read(line string) bool {
	if !strings.Contains(line, ":") {
		return false
	}
	m := lintRow.FindStringSubmatch(line)
	if m == nil || lintNote.MatchString(m[2]) {
		return false
	}
	l.c.add(lint, m[1], stableMessage(m[2]), ledger.FailureLine)
	return true
}

func (l *lintReader) end() {}
