package demo

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// sections are the titles that the agent reads, in the order of a prompt
// (docs/spec 4.7). A line that looks like an earlier title is text of a later
// section.
var sections = [...]string{
	"Role", "Task", "Acceptance", "Scope", "Plan", "What happened so far", "Issues", "Verification",
	"Changes so far", "Review passes", "Guidance", "Answers", "Memory",
}

// parsedPrompt is a parsed prompt.
type parsedPrompt struct {
	section map[string]string // text by title
	end     string            // text of the section "How to end"
}

const howToEnd = "\n## How to end\n"

// parsePrompt parses a prompt. It never fails: a missing section is empty.
func parsePrompt(text string) parsedPrompt {
	p := parsedPrompt{section: map[string]string{}}
	text = "\n" + strings.ReplaceAll(text, "\r\n", "\n")
	// The last one counts, because quoted files before it may contain the same
	// heading.
	if n := strings.LastIndex(text, howToEnd); n >= 0 {
		text, p.end = text[:n], text[n+len(howToEnd):]
	}
	at, fence := -1, ""
	for _, line := range strings.Split(text, "\n") {
		switch {
		case fence != "":
			if line == fence {
				fence = ""
			}
		case strings.HasPrefix(line, "```"):
			fence = line[:len(line)-len(strings.TrimLeft(line, "`"))]
		}
		if title, ok := strings.CutPrefix(line, "## "); ok && fence == "" {
			if n := slices.Index(sections[:], title); n > at {
				at = n
				continue
			}
		}
		if at >= 0 {
			p.section[sections[at]] += line + "\n"
		}
	}
	for title, text := range p.section {
		p.section[title] = strings.TrimSpace(text)
	}
	return p
}

// task returns the id and the title of the task.
func (p parsedPrompt) task() (id, title string) {
	line, _, _ := strings.Cut(p.section["Task"], "\n")
	id, title, _ = strings.Cut(line, ": ")
	return id, strings.TrimSpace(title)
}

var emitLine = regexp.MustCompile(`(?m)^\s*hat emit (\S+)`)

// event returns the type of the hat's own event: the first one that "How to
// end" names.
func (p parsedPrompt) event() string {
	if m := emitLine.FindStringSubmatch(p.end); m != nil {
		return m[1]
	}
	return ""
}

// redLine does not match a command that already failed before the task: such a
// line has a remark behind the exit code.
var redLine = regexp.MustCompile("(?m)^- `.*` FAILED \\(exit -?[0-9]+\\)$")

// verificationFailed reports whether verification failed after the previous
// session.
func (p parsedPrompt) verificationFailed() bool {
	return redLine.MatchString(p.section["Verification"])
}

// outOfScope reports whether changes of an earlier session were undone.
func (p parsedPrompt) outOfScope() bool {
	return strings.Contains(p.section["What happened so far"], "out of scope")
}

// answer returns a person's answer to a question, or "".
func (p parsedPrompt) answer(question string) string {
	answer := ""
	_, rest, found := strings.Cut(p.section["Answers"], "asked: "+question)
	for found {
		for _, line := range strings.Split(rest, "\n") {
			if text, ok := strings.CutPrefix(line, "Answer: "); ok {
				answer = strings.TrimSpace(text)
				break
			}
		}
		_, rest, found = strings.Cut(rest, "asked: "+question)
	}
	return answer
}

// reportLine stands above each report that a triager decides about.
var reportLine = regexp.MustCompile("(?m)^(`+) ?(.+?) ?`+, open gates [0-9, ]+:$")

// reports returns the ids of the reports that a triager decides about.
func (p parsedPrompt) reports() (ids []string) {
	for _, m := range reportLine.FindAllStringSubmatch(p.section["Task"], -1) {
		ids = append(ids, m[2])
	}
	return ids
}

// passLine is one pass of a review.
var passLine = regexp.MustCompile(`(?m)^- ([a-z]+): `)

// passes returns the passes that a reviewer has to answer.
func (p parsedPrompt) passes() (names []string) {
	for _, m := range passLine.FindAllStringSubmatch(p.section["Review passes"], -1) {
		names = append(names, m[1])
	}
	return names
}

// directive is one guidance in the prompt.
type directive struct {
	id       string
	text     string
	shown    bool // for information only: this session need not report on it
	reported bool // an earlier session has reported on it
}

var (
	directiveLine = regexp.MustCompile(`^- (g[0-9]+): ?(.*)$`)
	reportedLine  = regexp.MustCompile(`^  \((?:addressed|set aside) so far: `)
	owedID        = regexp.MustCompile(`\{"id":"(g[0-9]+)"`)
)

// guidance returns the guidance in the prompt, in order.
func (p parsedPrompt) guidance() []directive {
	var list []directive
	shown := false
	for _, line := range strings.Split(p.section["Guidance"], "\n") {
		if strings.HasPrefix(line, "For your information;") {
			shown = true
			continue
		}
		if m := directiveLine.FindStringSubmatch(line); m != nil {
			list = append(list, directive{id: m[1], text: m[2], shown: shown})
			continue
		}
		if n := len(list) - 1; n >= 0 {
			if reportedLine.MatchString(line) {
				list[n].reported = true
			} else if !list[n].reported {
				list[n].text += "\n" + line
			}
		}
	}
	return list
}

// owedReports returns the ids of guidance on which the event must report,
// according to "How to end".
func (p parsedPrompt) owedReports() []string {
	var ids []string
	for _, m := range owedID.FindAllStringSubmatch(p.end, -1) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	return ids
}
