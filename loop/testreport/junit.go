package testreport

import (
	"html"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

const junit = "junit"

// junitReader reads JUnit's XML, wherever it stands in the output. It looks at
// tags only, so that other text around them and a cut document do no harm.
type junitReader struct {
	c     *collector
	test  *junitCase
	body  bool // inside of failure or error, whose text may tell more
	carry string

	passed, failed, skipped int
}

type junitCase struct {
	file, class, name string
	kind              ledger.FailureKind // "" = passed
	skipped           bool
	unsure            bool // the text of the failure says its kind
}

func (j *junitReader) read(line string) bool {
	if j.carry == "" && j.test == nil && !strings.Contains(line, "<test") {
		return false
	}
	text := line
	if j.carry != "" {
		text, j.carry = j.carry+" "+line, ""
	}
	for text != "" {
		n := strings.IndexByte(text, '<')
		if n < 0 {
			j.text(text)
			break
		}
		j.text(text[:n])
		tag, rest, whole := cutTag(text[n:])
		if !whole {
			if len(text)-n < maxLine && j.known(text[n:]) {
				j.carry = text[n:]
				return true
			}
			j.text(text[n:])
			break
		}
		j.tag(tag)
		text = rest
	}
	return true
}

// known reports whether the tag at the start of s, whose end is missing, is one
// to wait for.
func (j *junitReader) known(s string) bool {
	for _, name := range []string{"<testcase ", "<failure ", "<error ", "<testsuite "} {
		if strings.HasPrefix(s, name) {
			return true
		}
	}
	return false
}

// cutTag cuts the tag at the start of s. A ">" inside of quotes does not end it.
func cutTag(s string) (tag, rest string, whole bool) {
	quote := byte(0)
	for n := 1; n < len(s); n++ {
		switch {
		case quote != 0:
			if s[n] == quote {
				quote = 0
			}
		case s[n] == '"' || s[n] == '\'':
			quote = s[n]
		case s[n] == '>':
			return s[1:n], s[n+1:], true
		}
	}
	return "", "", false
}

func (j *junitReader) tag(tag string) {
	closed := strings.HasSuffix(tag, "/")
	tag = strings.TrimSuffix(tag, "/")
	name, attrs, _ := strings.Cut(tag, " ")
	switch name {
	case "testcase":
		j.flush()
		j.test = &junitCase{file: attribute(attrs, "file"), class: attribute(attrs, "classname"), name: attribute(attrs, "name")}
		if closed {
			j.flush()
		}
	case "/testcase":
		j.flush()
	case "failure", "error", "rerunFailure":
		if j.test == nil {
			return
		}
		j.body = !closed
		j.test.unsure = attribute(attrs, "type") == ""
		j.test.kind = junitKind(name, attribute(attrs, "type"), attribute(attrs, "message"))
	case "/failure", "/error":
		j.body = false
	case "skipped":
		if j.test != nil {
			j.test.skipped = true
		}
	}
}

func junitKind(tag, typ, message string) ledger.FailureKind {
	switch {
	case cannotLoad(message) || strings.HasPrefix(message, "collection failure"):
		return ledger.FailureBuild
	case isAssertion(typ) || isAssertion(message):
		return ledger.FailureAssertion
	case tag == "error" || strings.HasSuffix(typ, "Error") || strings.HasSuffix(typ, "Exception") || strings.HasPrefix(typ, "testCode"):
		return ledger.FailureError
	case errorLine.MatchString(message):
		return ledger.FailureError
	}
	return ledger.FailureAssertion
}

// text reads the text of a failure: runners that leave out the type say there
// which exception it was.
func (j *junitReader) text(s string) {
	if !j.body || j.test == nil || s == "" || j.test.kind != ledger.FailureError && !j.test.unsure {
		return
	}
	s = strings.TrimPrefix(strings.TrimSpace(html.UnescapeString(s)), "cause: ")
	switch {
	case isAssertion(s):
		j.test.kind, j.test.unsure = ledger.FailureAssertion, false
	case j.test.unsure && errorLine.MatchString(s):
		j.test.kind, j.test.unsure = ledger.FailureError, false
	}
}

func (j *junitReader) flush() {
	t := j.test
	j.test, j.body = nil, false
	switch {
	case t == nil:
	case t.kind != "":
		j.failed++
		file, name := t.file, t.name
		if file == "" {
			file = t.class
		} else if t.class != "" && t.class != t.name {
			name = t.class + " > " + t.name
		}
		if file == name && (isScript(name) || strings.HasSuffix(name, ".py")) {
			name = "(file)"
		}
		j.c.add(junit, strings.TrimSpace(file), name, t.kind)
	case t.skipped:
		j.skipped++
		j.c.skip(1)
	default:
		j.passed++
		j.c.pass(1)
	}
}

func (j *junitReader) end() {
	j.flush()
	j.c.countShown(junit, j.passed, j.failed, j.skipped)
}

// attribute returns the value of an attribute, without its entities.
func attribute(attrs, name string) string {
	for rest := attrs; rest != ""; {
		key, after, ok := strings.Cut(rest, "=")
		if !ok || after == "" || after[0] != '"' && after[0] != '\'' {
			return ""
		}
		value, more, ok := strings.Cut(after[1:], after[:1])
		if !ok {
			return ""
		}
		if strings.TrimSpace(key) == name {
			return html.UnescapeString(value)
		}
		rest = more
	}
	return ""
}
