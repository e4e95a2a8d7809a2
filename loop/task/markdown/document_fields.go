package markdown

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// fieldLines are the fields in a task's lines: their texts, with the line of each.
type fieldLines map[field][]fieldItem

// fieldItem is one item of a field's list, or the text behind its name.
type fieldItem struct {
	text string
	line int
}

// docFields maps the spellings found in documents to fields.
var docFields = map[string]field{
	"files": fieldScope, "file": fieldScope, "scope": fieldScope, "allowed files": fieldScope, "files to modify": fieldScope,
	"files to change": fieldScope, "files modified": fieldScope,
	"depends on": fieldDepends, "dependencies": fieldDepends, "dependency": fieldDepends, "blocked by": fieldDepends,
	"acceptance": fieldAcceptance, "acceptance criteria": fieldAcceptance, "done when": fieldAcceptance, "success criteria": fieldAcceptance,
	"priority": fieldPriority, "complexity": fieldComplexity,
}

// fields collects the fields of a task from its lines: "**Files:**", "- Depends on: …",
// with the list below each.
func (d *document) fields(start, end int) fieldLines {
	var found fieldLines
	cur, level, blank := fieldUnknown, 0, false
	for i := start; i < end; i++ {
		if d.code[i] {
			continue
		}
		indent, at := d.measure(i)
		if at.Start == at.End {
			blank = true
			continue
		}
		text := d.string(at)
		bullet := listMark(text)
		wasBlank := blank
		blank = false
		if f, value, named := docField(text); named {
			cur, level = f, indent
			if f != fieldUnknown && value != "" {
				found = found.add(f, fieldItem{value, i})
			}
			continue
		}
		switch {
		case cur == fieldUnknown:
		case bullet == "" && indent <= level && wasBlank, headingLevel([]byte(text)) > 0:
			cur = fieldUnknown
		case bullet == "":
			if items := found[cur]; len(items) > 0 {
				items[len(items)-1].text += " " + text
			}
		case indent < level:
			cur = fieldUnknown
		default:
			found = found.add(cur, fieldItem{strings.TrimSpace(text[len(bullet):]), i})
		}
	}
	return found
}

func (f fieldLines) add(name field, item fieldItem) fieldLines {
	if f == nil {
		f = fieldLines{}
	}
	f[name] = append(f[name], item)
	return f
}

// docField splits a line that names a field. Bold names of others, such as
// "**Step 1:**", end the field above them. A name without emphasis counts only in a
// list item.
func docField(text string) (f field, value string, named bool) {
	mark := listMark(text)
	rest := text[len(mark):]
	bold := strings.HasPrefix(rest, "**") || strings.HasPrefix(rest, "__")
	if !bold && (mark == "" || strings.Contains(mark, "[")) {
		return fieldUnknown, "", false
	}
	_, value, ok := fieldLine(text)
	if !ok {
		return fieldUnknown, "", false
	}
	name, after, _ := strings.Cut(strings.TrimLeft(rest, "*_"), ":")
	name = strings.ToLower(oneLine(strings.Trim(name, "*_ ")))
	if f, ok := docFields[name]; ok {
		return f, strings.TrimSpace(strings.Trim(strings.TrimSpace(after), "*_")), true
	}
	return fieldUnknown, value, bold && mark == ""
}

var (
	barePath    = regexp.MustCompile(`^(?:(?i:create|modify|test|tests|delete|remove|move|rename|update|new|edit|add)[ \t]*:[ \t]*)?([\w@.][\w@.*/-]*)`)
	lineOfPath  = regexp.MustCompile(`(?::[0-9]+(?:[-–,][0-9]+)*|#L[0-9]+(?:-L?[0-9]+)?)$`)
	onlyForRead = regexp.MustCompile(`(?i)^\**(?:reference|read|see|refs?|context)\**[ \t]*:`)
)

// filesOf returns the paths that a list of files names, without line numbers. Files
// that are only to be read are none of the scope.
func filesOf(items []fieldItem) []string {
	var paths []string
	for _, item := range items {
		if first := strings.TrimLeft(item.text, "*"); first != "" && (first[0] >= utf8.RuneSelf || strings.IndexByte("rRsScC", first[0]) >= 0) && onlyForRead.MatchString(item.text) {
			continue
		}
		var named []string
		for s := item.text; ; {
			path, rest := nextQuoted(s)
			if path == "" {
				break
			}
			named, s = append(named, path), rest
		}
		if len(named) == 0 {
			if m := barePath.FindStringSubmatch(item.text); m != nil {
				named = append(named, m[1])
			}
		}
		for _, p := range named {
			if strings.ContainsAny(p, ":#") {
				p = lineOfPath.ReplaceAllString(p, "")
			}
			plain := strings.Trim(p, "./*")
			if plain == "" || !strings.ContainsAny(p, "/.") || strings.ContainsAny(p, "(){}<>=;$") || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || strings.Contains(p, "..") {
				continue
			}
			if quoted := "`" + p + "`"; !slices.Contains(paths, quoted) {
				paths = append(paths, quoted)
			}
		}
	}
	return paths
}

// nextQuoted returns the first text in backticks that has no white space, and what is
// behind it; "" without any.
func nextQuoted(s string) (text, rest string) {
	for {
		n := strings.IndexByte(s, '`')
		if n < 0 {
			return "", ""
		}
		s = s[n+1:]
		end := strings.IndexAny(s, "` \t\n\f\r")
		if end < 0 {
			return "", ""
		}
		if end > 0 && s[end] == '`' {
			return s[:end], s[end+1:]
		}
		s = s[end:]
	}
}

// readFields gives a task what its fields say. What they say otherwise stays in its
// body, where the sessions read it.
func (d *document) readFields(t *docTask) {
	t.Scope = strings.Join(filesOf(t.value[fieldScope]), ", ")
	for _, item := range t.value[fieldAcceptance] {
		t.Acceptance = append(t.Acceptance, plainText(item.text))
	}
	for _, item := range t.value[fieldPriority] {
		if n, ok := priorities[strings.ToLower(strings.Trim(item.text, "*_` ."))]; ok {
			t.Priority = n
		}
	}
	for _, item := range t.value[fieldComplexity] {
		if n, err := strconv.Atoi(item.text); err == nil && n >= 1 && n <= 10 {
			t.Complexity = n
		}
	}
}

// plainText removes a box, comments and the emphasis around a whole text.
func plainText(s string) string {
	if strings.Contains(s, "<!--") {
		s = comment.ReplaceAllString(s, "")
	}
	s = strings.TrimSpace(s)
	for _, e := range []string{"**", "__", "~~"} {
		if inner, ok := strings.CutPrefix(s, e); ok {
			if inner, ok = strings.CutSuffix(inner, e); ok && inner != "" && !strings.Contains(inner, e) {
				s = strings.TrimSpace(inner)
			}
		}
	}
	return s
}

var (
	inlineDepends = regexp.MustCompile(`(?i)\bdepends?[ \t]+on:?[ \t]+([^();\n]*)`)
	refRange      = regexp.MustCompile(`^(.+?)[ \t]*(?:-|–|—|\.\.|…|through|to)[ \t]*(.+)$`)
	refSplit      = regexp.MustCompile(`[,;&+]|\b(?:and|plus)\b|\bund\b`)
	refForm       = regexp.MustCompile(`^(?:(?i:tasks?|iterations?|steps?|plan)[ \t]*#?)?([A-Za-z]{0,9}-?[0-9]+(?:[.-][0-9]+)*[A-Za-z]?)$`)
)

// resolve finds what each task depends on: in its field, and in a remark "(depends on
// T003, T004)". What is no list of ids stays in its body; an id that the document
// lacks is an error.
func (d *document) resolve(tasks []docTask) {
	var ids map[string]int // made when first needed
	left := maxDepends
	for i := range tasks {
		t := &tasks[i]
		refs := t.value[fieldDepends]
		if strings.Contains(t.Title, "epend") {
			for _, m := range inlineDepends.FindAllStringSubmatch(t.Title[beforeDepend(t.Title):], -1) {
				refs = append(refs, fieldItem{m[1], t.Line - 1})
			}
		}
		if len(refs) == 0 {
			continue
		}
		if ids == nil {
			ids = make(map[string]int, len(tasks))
			for n := range tasks {
				ids[ledger.FoldID(tasks[n].ID)] = n
			}
		}
		on := map[int]bool{}
		for _, r := range refs {
			d.refer(tasks, ids, t, r, on)
		}
		if on[i] {
			d.finding(t.Line-1, t.ID+" depends on itself", "Remove it from its own dependencies")
			delete(on, i)
		}
		if left -= len(on); left < 0 {
			d.finding(t.Line-1, fmt.Sprintf("more than %d dependencies", maxDepends), "Name fewer tasks, or split the file")
			return
		}
		for _, n := range slices.Sorted(maps.Keys(on)) {
			t.DependsOn = append(t.DependsOn, tasks[n].ID)
		}
	}
}

// beforeDepend returns the position of the character before the first "dep" in a text,
// which is faster than a search by the expression; 0 without.
func beforeDepend(s string) int {
	for i := range max(0, len(s)-2) {
		if s[i]|0x20 == 'd' && s[i+1]|0x20 == 'e' && s[i+2]|0x20 == 'p' {
			return max(0, i-1)
		}
	}
	return 0
}

// refID returns the id that a reference names: 7 of "Task #7"; "" for another text.
func refID(s string) string {
	n := 0
	for n < min(len(s), 3) && s[n] >= 'A' && s[n] <= 'Z' {
		n++
	}
	if n < len(s) && strings.Trim(s[n:], "0123456789") == "" {
		return s // T003, as most are
	}
	if m := refForm.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

// refParts splits a list of references.
func refParts(s string) []string {
	if !strings.ContainsAny(s, ",;&+") && !strings.Contains(s, "and") && !strings.Contains(s, "plus") && !strings.Contains(s, "und") {
		return []string{s}
	}
	return refSplit.Split(s, -1)
}

// refer reads one list of ids into on.
func (d *document) refer(tasks []docTask, ids map[string]int, t *docTask, r fieldItem, on map[int]bool) {
	value := withoutMarkup(r.text)
	if v := strings.ToLower(strings.TrimSpace(value)); noneWords[v] || dependsNone.MatchString(v) {
		return
	}
	find := func(s string) (n int, isRef, ok bool) {
		s = strings.Trim(s, " \t.#")
		id := refID(s)
		if id == "" {
			return 0, false, false
		}
		if n, ok := ids[ledger.FoldID(s)]; ok {
			return n, true, true
		}
		for _, word := range []string{"", "task ", "iteration ", "phase "} {
			if n, ok := ids[ledger.FoldID(word+id)]; ok {
				return n, true, true
			}
		}
		return 0, true, false
	}
	for _, part := range refParts(value) {
		if strings.Trim(part, " \t.") == "" {
			continue
		}
		n, isRef, ok := find(part)
		if ok {
			on[n] = true
			continue
		}
		if m := refRange.FindStringSubmatch(strings.TrimSpace(part)); m != nil {
			from, _, ok1 := find(m[1])
			to, _, ok2 := find(m[2])
			if ok1 && ok2 && from <= to && len(on)+to-from < maxDepends {
				for n := from; n <= to; n++ {
					on[n] = true
				}
				continue
			}
		}
		if prefix := idPrefix(part); isRef && (prefix == idPrefix(t.ID) || prefix == "" && idPrefix(t.ID) == "task") {
			d.finding(r.line, fmt.Sprintf("%s depends on %s, which this file lacks", t.ID, strings.TrimSpace(part)), "Correct the number, or remove it")
		}
	}
}

// idPrefix returns the letters that an id begins with, folded: "t" of T003, "" of 1.2.
func idPrefix(id string) string {
	id = strings.Trim(ledger.FoldID(id), ".#")
	return strings.TrimSpace(id[:len(id)-len(strings.TrimLeft(id, "abcdefghijklmnopqrstuvwxyz -"))])
}
