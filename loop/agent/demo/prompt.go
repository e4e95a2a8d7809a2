package demo

import (
	"regexp"
	"slices"
	"strings"
)

// sections are the titles that the agent reads, in the order in which a
// prompt has them (docs/spec 4.7). A line that looks like an earlier title is text
// of a later section.
var sections = [...]string{
	"Role", "Task", "Acceptance", "Scope", "Plan", "What happened so far", "Issues", "Verification",
	"Changes so far", "Guidance", "Answers", "Memory",
}

// parsedPrompt is a session's prompt, taken apart.
type parsedPrompt struct {
	section map[string]string // by title
	end     string            // "How to end"
}

const howToEnd = "\n## How to end\n"

// parsePrompt takes a prompt apart. It never fails: what is not found is empty.
func parsePrompt(text string) parsedPrompt {
	p := parsedPrompt{section: map[string]string{}}
	text = "\n" + strings.ReplaceAll(text, "\r\n", "\n")
	// The last one: files that are quoted before it may have any heading.
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

// task returns the id and the title of the first line of the Task section.
func (p parsedPrompt) task() (id, title string) {
	line, _, _ := strings.Cut(p.section["Task"], "\n")
	id, title, _ = strings.Cut(line, ": ")
	return id, strings.TrimSpace(title)
}

var emitLine = regexp.MustCompile(`(?m)^\s*hat emit (\S+)`)

// event is the type of the hat's own event: the first one that it may end with.
func (p parsedPrompt) event() string {
	if m := emitLine.FindStringSubmatch(p.end); m != nil {
		return m[1]
	}
	return ""
}

// A command that failed before the task too is marked behind the exit code,
// and does not count.
var redLine = regexp.MustCompile("(?m)^- `.*` FAILED \\(exit -?[0-9]+\\)$")

// red reports whether verification failed after the session before.
func (p parsedPrompt) red() bool { return redLine.MatchString(p.section["Verification"]) }

// outOfScope reports whether what an earlier session wrote was undone.
func (p parsedPrompt) outOfScope() bool {
	return strings.Contains(p.section["What happened so far"], "out of scope")
}

// answer returns what a person said to a question, "" where nobody was asked.
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

// directive is one guidance in the prompt.
type directive struct {
	id       string
	text     string
	shown    bool // for information: this session has nothing to report on it
	reported bool // an earlier session did
}

var (
	directiveLine = regexp.MustCompile(`^- (g[0-9]+): ?(.*)$`)
	reportedLine  = regexp.MustCompile(`^  \((?:addressed|set aside) so far: `)
	owedID        = regexp.MustCompile(`\{"id":"(g[0-9]+)"`)
)

// guidance returns the guidance that the prompt shows, in order.
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

// owed returns the ids that the event has to report on, as "How to end" lists
// them.
func (p parsedPrompt) owed() []string {
	var ids []string
	for _, m := range owedID.FindAllStringSubmatch(p.end, -1) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	return ids
}
