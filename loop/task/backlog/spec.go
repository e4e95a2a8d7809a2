package backlog

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Limits of a spec and of what a prompt gets of it; the spec itself is among a task's
// material.
const (
	maxSpecBytes = 4 << 20
	maxBody      = 12 << 10
)

// Spec is a document that describes one row's task.
type Spec struct {
	Path        string // slash-separated, below the repository
	Status      Status // "" if it says none
	StatusText  string // as written, for messages
	Priority    int
	Scope       string   // the paths of "Allowed Files", in backticks
	Acceptance  []string // of the definition of done
	Environment []string // its flags: "docker: true"
	Warnings    []ledger.Diagnostic
	Errors      []ledger.Diagnostic

	depends    string    // text of its line "Depends on:"
	statusLine bool      // it has a line for its status
	word       form.Span // of its status, if that is known
	plan       string    // what is to be done
	log        form.Span // the section of the log without its heading; zero if there is none
	crlf       bool
}

// section is a part of a spec below one heading.
type section struct {
	title string // in lower case, without marks
	level int
	line  int       // of its heading, 1-based
	at    form.Span // its text, subsections included
}

var (
	specHead    = regexp.MustCompile("^[>\\s*+-]*(?:\\*\\*|__)?([\\p{L} ]{4,12}?)(?:\\*\\*|__)?\\s*:\\s*(?:\\*\\*|__)?(.*)$")
	headStatus  = map[string]bool{"status": true, "статус": true, "state": true}
	headDepends = map[string]bool{"depends on": true, "depends": true, "dependencies": true, "blocked by": true}
	specPrio    = regexp.MustCompile(`(?i)(?:priority|приоритет)\W*:\W*(\w+)`)
)

// sectionNames maps titles of sections to what they are.
var sectionNames = map[string]string{
	"allowed files": "scope", "files": "scope", "files allowed": "scope",
	"implementation plan": "plan", "detailed implementation plan": "plan", "implementation": "plan", "tasks": "plan",
	"fix approach": "plan", "solution": "plan", "the solution": "plan", "plan": "plan", "execution order": "plan",
	"why": "reason", "problem": "reason", "the problem": "reason", "symptom": "reason", "root cause": "reason", "goal": "reason",
	"context": "reason", "scope": "reason", "action": "reason",
	"definition of done": "done", "dod": "done", "acceptance criteria": "done", "acceptance": "done",
	"environment": "environment", "autopilot log": "log",
}

// ReadSpec reads a spec. file is its path below the repository; findings name its
// last element. A spec is free text: what it does not have stays empty.
func ReadSpec(file string, data []byte) *Spec {
	sp := &Spec{Path: file}
	base := path.Base(file)
	if wrong := form.CheckText(base, "spec", data, maxSpecBytes); wrong != nil {
		sp.Errors = append(sp.Errors, *wrong)
		return sp
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	sp.crlf = bytes.HasSuffix(first, []byte("\r"))
	findings := &form.Findings{File: base}
	sections := splitSections(data)
	head := form.Span{End: len(data)}
	for _, s := range sections {
		if s.level > 1 {
			head.End = s.at.Start
			break
		}
	}
	sp.readHead(data, head)
	found := map[string][]string{}
	scoped := false
	for _, s := range sections {
		kind := sectionNames[s.title]
		switch kind {
		case "scope":
			if !scoped || s.title == "allowed files" {
				sp.readScope(data, s, findings)
				scoped = true
			}
		case "done":
			sp.Acceptance = append(sp.Acceptance, listItems(string(data[s.at.Start:s.at.End]))...)
		case "environment":
			sp.readEnvironment(string(data[s.at.Start:s.at.End]))
		case "log":
			sp.log = s.at
		}
		if kind == "plan" || kind == "reason" {
			found[kind] = append(found[kind], strings.TrimSpace(string(data[s.at.Start:s.at.End])))
		}
	}
	sp.plan = plainLines(strings.Join(append(found["plan"], sp.unlessPlanned(found)...), "\n\n"))
	sp.Errors, sp.Warnings = findings.Errors, findings.Warnings
	return sp
}

// unlessPlanned returns the sections that say why, for a spec that does not say how.
func (sp *Spec) unlessPlanned(found map[string][]string) []string {
	if len(strings.TrimSpace(strings.Join(found["plan"], ""))) > 0 {
		return nil
	}
	return found["reason"]
}

// plainLines returns a text with plain line ends and without rules.
func plainLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	kept := lines[:0]
	for _, l := range lines {
		l = strings.TrimRight(l, " \t")
		if l == "---" || l == "" && (len(kept) == 0 || kept[len(kept)-1] == "") {
			continue
		}
		kept = append(kept, l)
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// body returns what the prompt says of the task beside its acceptance and scope.
func (sp *Spec) body() string {
	text := sp.plan
	if len(sp.Environment) > 0 {
		text = strings.TrimSpace(text + "\n\nEnvironment: " + strings.Join(sp.Environment, ", "))
	}
	if len(text) > maxBody {
		cut := strings.LastIndexByte(text[:maxBody], '\n')
		text = strings.ToValidUTF8(text[:max(cut, 1)], "") + "\n… (the rest is in " + sp.Path + ")"
	}
	return strings.TrimSpace("Spec: " + sp.Path + "\n\n" + text)
}

// splitSections returns the sections of a document. A section ends at the next
// heading of its level or a higher one. In a document with a code block that is never
// closed, a section that ReadSpec looks for ends the block.
func splitSections(data []byte) []section {
	found, whole := scanSections(data, false)
	if !whole {
		found, _ = scanSections(data, true)
	}
	return found
}

// scanSections returns the sections, and whether all blocks are closed. With loose
// they end at a heading that ReadSpec knows.
func scanSections(data []byte, loose bool) ([]section, bool) {
	var (
		in    blocks
		found []section
		open  []int
	)
	for start, n := len(data)-len(bytes.TrimPrefix(data, form.BOM)), 1; start < len(data); n++ {
		line, next := lineAt(data, start)
		at := start
		start = next
		line = trimSpan(data, line)
		text := data[line.Start:line.End]
		if loose && bytes.HasPrefix(text, []byte("##")) && sectionNames[sectionTitle(string(bytes.TrimLeft(text, "#")))] != "" {
			in = blocks{}
		}
		if in.skips(text, n) {
			continue
		}
		level := len(text) - len(bytes.TrimLeft(text, "#"))
		if level == 0 || level > 6 || level < len(text) && text[level] != ' ' && text[level] != '\t' {
			continue
		}
		for len(open) > 0 && found[open[len(open)-1]].level >= level {
			found[open[len(open)-1]].at.End = at
			open = open[:len(open)-1]
		}
		open = append(open, len(found))
		found = append(found, section{sectionTitle(string(text[level:])), level, n, form.Span{Start: next, End: len(data)}})
	}
	return found, !in.open()
}

// sectionTitle returns a heading as it is looked up: without numbers, pictures and
// remarks in parentheses.
func sectionTitle(s string) string {
	s, _, _ = strings.Cut(strings.TrimRight(s, "# \t"), "(")
	s = strings.TrimFunc(strings.ToLower(s), func(r rune) bool { return !isWordRune(r) })
	return strings.TrimLeft(s, "0123456789. ")
}

// readHead reads the lines before the first section: status, priority, what it
// depends on.
func (sp *Spec) readHead(data []byte, head form.Span) {
	for start, n := len(data)-len(bytes.TrimPrefix(data, form.BOM)), 1; start < head.End; n++ {
		line, next := lineAt(data, start)
		start = next
		text := data[line.Start:line.End]
		m := specHead.FindSubmatchIndex(text)
		if m == nil {
			continue
		}
		name := strings.ToLower(strings.TrimSpace(string(text[m[2]:m[3]])))
		value := form.Span{Start: line.Start + m[4], End: line.Start + m[5]}
		switch {
		case headStatus[name] && !sp.statusLine:
			if p := specPrio.FindSubmatch(text); p != nil {
				sp.Priority, _ = priorityOf(string(p[1]))
			}
			if n := bytes.IndexByte(data[value.Start:value.End], '|'); n >= 0 {
				value.End = value.Start + n
			}
			sp.statusLine = true
			sp.StatusText = plainText(string(data[value.Start:value.End]))
			sp.Status, sp.word, _ = findStatus(data, value)
		case headDepends[name]:
			sp.depends = string(data[value.Start:value.End])
		case name == "priority" && sp.Priority == 0:
			sp.Priority, _ = priorityOf(plainText(string(data[value.Start:value.End])))
		}
	}
}

var envLine = regexp.MustCompile(`^[-*+\s]*([A-Za-z][A-Za-z0-9_ .-]{0,40}?)\s*:\s*(.+)$`)

// readEnvironment reads the flags of the section Environment.
func (sp *Spec) readEnvironment(text string) {
	for line := range strings.Lines(text) {
		if m := envLine.FindStringSubmatch(strings.TrimSpace(strings.ReplaceAll(line, "**", ""))); m != nil && len(sp.Environment) < 20 {
			sp.Environment = append(sp.Environment, fmt.Sprintf("%s: %s", m[1], clip(m[2], 120)))
		}
	}
}

// Needs returns the names of what the environment's flags say is needed: "docker".
func (sp *Spec) Needs() []string {
	var needs []string
	for _, flag := range sp.Environment {
		name, value, _ := strings.Cut(flag, ": ")
		word, _, _ := strings.Cut(strings.ToLower(value), " ")
		if word == "true" || word == "yes" {
			needs = append(needs, strings.ToLower(name))
		}
	}
	return needs
}

var listItem = regexp.MustCompile(`^(\s*)(?:[-*+]|[0-9]+[.)])\s+(?:\[[ xX]\]\s*)?(.+?)\s*$`)

// listItems returns the items of the lists in a text. A nested item belongs to the
// one above it, and so does an indented line.
func listItems(text string) []string {
	var items []string
	level := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		m := listItem.FindStringSubmatch(line)
		switch {
		case m != nil && (len(items) == 0 || indent <= level):
			items, level = append(items, m[2]), indent
		case m != nil:
			items[len(items)-1] += "; " + m[2]
		case len(items) > 0 && indent > level && strings.TrimSpace(line) != "":
			items[len(items)-1] += " " + strings.TrimSpace(line)
		}
	}
	return items
}
