package backlog

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

var (
	quoted    = regexp.MustCompile("`([^`\n]+)`")
	forbidden = regexp.MustCompile(`(?i)^\W*(?:forbidden|do not (?:touch|modify|change)|not allowed|read[- ]only|out of scope|запрещено)`)
	// leadIn matches a line that introduces another list: "**New files allowed:**".
	leadIn    = regexp.MustCompile(`^(?:\*\*|__)[^*_]+(?:\*\*|__):?\s*$|^#{3,6}\s`)
	lineRange = regexp.MustCompile(`:[0-9]+(?:-[0-9]+)?$`)
	between   = regexp.MustCompile(`^[\s,;+&/*]*(?:and\s+\**)?$`)
)

// readScope reads the files that a section allows: lists with numbers or bullets and
// tables, with paths in backticks or as the first word. What stands below "FORBIDDEN"
// is not allowed.
func (sp *Spec) readScope(data []byte, s section, findings *form.Findings) {
	var paths, outside []string
	first := 0
	seen := map[string]bool{}
	denied := false
	fileColumn := -1
	fenced := false
	var cells []form.Span
	for start, n := s.at.Start, s.line+1; start < s.at.End; n++ {
		line, next := lineAt(data, start)
		start = next
		line = trimSpan(data, line)
		text := string(data[line.Start:line.End])
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			fenced = !fenced
			continue
		}
		if forbidden.MatchString(text) {
			denied = true
			continue
		}
		if leadIn.MatchString(text) {
			denied, fileColumn = false, -1
			continue
		}
		if denied || text == "" {
			continue
		}
		var named []string
		if cells = cellsOf(data, line, cells); fenced {
			word, _, _ := strings.Cut(strings.TrimLeft(text, "-*+ "), " ")
			named = leadingPaths(word)
		} else if len(cells) > 1 {
			if isDelimiter(data, line) {
				continue
			}
			header := fileHeader(data, cells)
			if header >= 0 && fileColumn < 0 {
				fileColumn = header
				continue
			}
			named = pathsOfCells(data, cells, fileColumn)
		} else if m := listItem.FindStringSubmatch(text); m != nil {
			named = leadingPaths(m[2])
		}
		for _, p := range named {
			if p = cleanPath(p); p != "" && !seen[p] {
				seen[p] = true
				switch kind := scopeKind(p); kind {
				case "":
				case ledger.ScopeBad:
					if outside = append(outside, p); first == 0 {
						first = n
					}
				case ledger.ScopeProse:
					findings.Warn(n, "allows `"+clip(p, 80)+"`, which is no path: it permits no file", "Name files, folders or globs")
				default:
					paths = append(paths, "`"+p+"`")
				}
			}
		}
	}
	if len(outside) > 0 {
		text := "allows `" + clip(outside[0], 80) + "`, which is not a path below the repository"
		if more := len(outside) - 1; more > 0 {
			text += fmt.Sprintf(", and %d more like it", more)
		}
		findings.Error(first, text, "Write paths relative to the repository's top folder")
	}
	if len(paths) > 0 {
		sp.Scope = strings.Join(append(nonEmpty(sp.Scope), paths...), ", ")
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// scopeKind returns what a text in backticks is as an item of a scope, "" for nothing.
func scopeKind(p string) ledger.ScopeKind {
	if strings.Contains(p, " -") || strings.Contains(p, "()") {
		return ledger.ScopeProse // a command or a function
	}
	items := ledger.ParseScope("`" + p + "`")
	if len(items) != 1 {
		return ""
	}
	return items[0].Kind
}

// fileHeader returns the column of a table's header that names files, or -1.
func fileHeader(data []byte, cells []form.Span) int {
	for n, c := range cells {
		switch strings.ToLower(plainText(cellText(data, c))) {
		case "file", "files", "path", "paths", "файл", "datei", "fichier", "archivo":
			return n
		}
	}
	return -1
}

// pathsOfCells returns the paths in a row's cell of files, or in its first cell with
// something in backticks.
func pathsOfCells(data []byte, cells []form.Span, column int) []string {
	if column >= 0 && column < len(cells) {
		return leadingPaths(cellText(data, cells[column]))
	}
	for _, c := range cells {
		if text := cellText(data, c); strings.Contains(text, "`") {
			return leadingPaths(text)
		}
	}
	return nil
}

// leadingPaths returns the paths with which an item begins: those in backticks with
// nothing but commas between, or else its first word if it looks like a path. What
// follows is a remark.
func leadingPaths(text string) []string {
	text = strings.TrimPrefix(strings.TrimSpace(text), "**")
	var found []string
	at := 0
	for _, m := range quoted.FindAllStringSubmatchIndex(text, -1) {
		gap := text[at:m[0]]
		if len(found) > 0 && !between.MatchString(gap) || len(found) == 0 && len(strings.Fields(gap)) > 2 {
			break
		}
		found = append(found, text[m[2]:m[3]])
		at = m[1]
	}
	if len(found) > 0 {
		return found
	}
	if m := link.FindStringSubmatch(text); m != nil && strings.HasPrefix(text, m[0]) {
		return []string{m[2]}
	}
	word, _, _ := strings.Cut(text, " ")
	word = strings.TrimRight(word, ",;:*")
	if items := ledger.ParseScope(word); len(items) == 1 && (items[0].Kind == ledger.ScopePath || items[0].Kind == ledger.ScopeGlob) {
		return []string{word}
	}
	return nil
}

// cleanPath returns a path without a range of lines and without a remark.
func cleanPath(p string) string {
	p = strings.TrimSpace(p)
	if before, _, ok := strings.Cut(p, " ("); ok {
		p = before
	}
	return lineRange.ReplaceAllString(p, "")
}
