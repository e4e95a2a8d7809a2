package markdown

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// fieldLines are the fields in a task's lines: their texts, with the line of each. Tasks
// have a few, so a list is faster than a map, and far smaller.
type fieldLines []namedItems

type namedItems struct {
	name  field
	items []fieldItem
}

// of returns the items of a field.
func (f fieldLines) of(name field) []fieldItem {
	for n := range f {
		if f[n].name == name {
			return f[n].items
		}
	}
	return nil
}

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
// with the list below each. The next task's fields use their room.
func (d *document) fields(start, end int) fieldLines {
	found := d.fieldRoom[:0]
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
			if items := found.of(cur); len(items) > 0 {
				items[len(items)-1].text += " " + text
			}
		case indent < level:
			cur = fieldUnknown
		default:
			found = found.add(cur, fieldItem{strings.TrimSpace(text[len(bullet):]), i})
		}
	}
	d.fieldRoom = found
	return found
}

// add adds an item to a field. A new field uses the room of one that was in the list
// before.
func (f fieldLines) add(name field, item fieldItem) fieldLines {
	n := slices.IndexFunc(f, func(o namedItems) bool { return o.name == name })
	if n < 0 {
		n = len(f)
		f = slices.Grow(f, 1)[:n+1]
		f[n] = namedItems{name, f[n].items[:0]}
	}
	f[n].items = append(f[n].items, item)
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
	if _, _, ok := splitField(rest); !ok {
		return fieldUnknown, "", false
	}
	name, after, _ := strings.Cut(strings.TrimLeft(rest, "*_"), ":")
	if f, ok := fieldNamed(docFields, oneLine(strings.Trim(name, "*_ "))); ok {
		return f, strings.TrimSpace(strings.Trim(strings.TrimSpace(after), "*_")), true
	}
	return fieldUnknown, "", bold && mark == ""
}

var (
	barePath   = regexp.MustCompile(`^(?:(?i:create|modify|test|tests|delete|remove|move|rename|update|new|edit|add)[ \t]*:[ \t]*)?([\w@.][\w@.*/-]*)`)
	lineOfPath = regexp.MustCompile(`(?::[0-9]+(?:[-–,][0-9]+)*|#L[0-9]+(?:-L?[0-9]+)?)$`)
)

// filesOf returns the paths that a list of files names, without line numbers. Files
// that are only to be read are none of the scope.
func filesOf(items []fieldItem) []string {
	var paths []string
	for _, item := range items {
		if isOnlyForRead(item.text) {
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
		if len(named) == 0 && item.text != "" && strings.IndexByte("*[(<", item.text[0]) < 0 {
			if m := barePath.FindStringSubmatch(item.text); m != nil {
				named = append(named, m[1])
			}
		}
		for _, p := range named {
			if file, lines, ok := strings.Cut(p, ":"); ok && isLineRange(lines) {
				p = file
			} else if strings.ContainsAny(p, ":#") {
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

// isOnlyForRead reports whether a line names files that are only to be read, as in
// "**Reference**: `rules.txt`".
func isOnlyForRead(text string) bool {
	word, _, ok := strings.Cut(strings.TrimLeft(text, "*"), ":")
	word = strings.TrimRight(strings.TrimRight(word, " \t"), "*")
	return ok && slices.ContainsFunc(readWords, func(w string) bool { return strings.EqualFold(w, word) })
}

var readWords = []string{"reference", "read", "see", "ref", "refs", "context"}

// isLineRange reports whether a text is 12 or 12-40, as most line numbers behind a path
// are.
func isLineRange(s string) bool {
	from, to, two := strings.Cut(s, "-")
	number := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return number(from) && (!two || number(to))
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

// readFields gives a task what the fields in its lines say. What they say otherwise stays
// in its body, where the sessions read it.
func (d *document) readFields(t *docTask, start, end int) {
	fields := d.fields(start, end)
	t.depends = slices.Clone(fields.of(fieldDepends))
	t.full.Scope = strings.Join(filesOf(fields.of(fieldScope)), ", ")
	for _, item := range fields.of(fieldAcceptance) {
		t.full.Acceptance, t.criteria = append(t.full.Acceptance, plainText(item.text)), true
	}
	for _, item := range fields.of(fieldPriority) {
		if n, ok := priorities[strings.ToLower(strings.Trim(item.text, "*_` ."))]; ok {
			t.full.Priority = n
		}
	}
	for _, item := range fields.of(fieldComplexity) {
		if n, err := strconv.Atoi(item.text); err == nil && n >= 1 && n <= 10 {
			t.full.Complexity = n
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
	refRange = regexp.MustCompile(`^(.+?)[ \t]*(?:-|–|—|\.\.|…|through|to)[ \t]*(.+)$`)
	refSplit = regexp.MustCompile(`[,;&+]|\b(?:and|plus)\b|\bund\b`)
	refForm  = regexp.MustCompile(`^(?:(?i:tasks?|iterations?|steps?|plan)[ \t]*#?)?([A-Za-z]{0,9}-?[0-9]+(?:[.-][0-9]+)*[A-Za-z]?)$`)
)

// resolve finds what each task depends on: in its field, and in a remark "(depends on
// T003, T004)". What is no list of ids stays in its body; an id that the document
// lacks is an error. ids has the tasks by folded id. The result has, for each task, those
// that it depends on; nil where none does.
func (d *document) resolve(tasks []docTask, ids map[string]int) (graph [][]int) {
	left := maxDepends
	var on dependencies
	for i := range tasks {
		t := &tasks[i]
		remark := strings.Contains(t.Title, "epend")
		if len(t.depends) == 0 && !remark {
			continue
		}
		on.begin(i, len(tasks))
		for _, r := range t.depends {
			d.refer(tasks, ids, t, r, &on)
		}
		for rest := t.Title; remark; {
			var list string
			if list, rest, remark = nextDepends(rest); remark {
				d.refer(tasks, ids, t, fieldItem{list, t.Line - 1}, &on)
			}
		}
		if on.remove(i) {
			d.finding(t.Line-1, t.ID+" depends on itself", "Remove it from its own dependencies")
		}
		if left -= len(on.list); left < 0 {
			d.finding(t.Line-1, fmt.Sprintf("more than %d dependencies", maxDepends), "Name fewer tasks, or split the file")
			return nil
		}
		if len(on.list) == 0 {
			continue
		}
		if graph == nil {
			graph = make([][]int, len(tasks))
		}
		graph[i] = on.sorted()
		t.full.DependsOn = make([]string, 0, len(graph[i]))
		for _, n := range graph[i] {
			t.full.DependsOn = append(t.full.DependsOn, tasks[n].ID)
		}
	}
	return graph
}

// nextDepends returns the list of the first remark "depends on: T003, T004" in a text, and
// what is behind it. A list ends at a parenthesis, a semicolon or the line's end. It is
// written out because every task of some lists has one; a test compares it with the
// expression.
func nextDepends(s string) (list, behind string, ok bool) {
	for i := 0; i+len("depend") <= len(s); i++ {
		if s[i]|0x20 != 'd' || i > 0 && isWord(s[i-1]) || !strings.EqualFold(s[i:i+len("depend")], "depend") {
			continue
		}
		rest := s[i+len("depend"):]
		for _, plural := range []string{"s", "S", "ſ"} { // all that are one letter where case does not matter
			if after, found := strings.CutPrefix(rest, plural); found {
				rest = after
				break
			}
		}
		on := strings.TrimLeft(rest, " \t")
		if len(on) == len(rest) || len(on) < 2 || !strings.EqualFold(on[:2], "on") {
			continue
		}
		rest = strings.TrimPrefix(on[2:], ":")
		if list = strings.TrimLeft(rest, " \t"); len(list) == len(rest) {
			continue
		}
		if end := strings.IndexAny(list, "();\n"); end >= 0 {
			return list[:end], list[end:], true
		}
		return list, "", true
	}
	return "", "", false
}

// isWord reports whether a character belongs to a word, as \b of an expression has it.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
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
func (d *document) refer(tasks []docTask, ids map[string]int, t *docTask, r fieldItem, on *dependencies) {
	value := withoutMarkup(r.text)
	if saysNone(strings.TrimSpace(value)) {
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
			on.add(n)
			continue
		}
		if m := refRange.FindStringSubmatch(strings.TrimSpace(part)); m != nil {
			from, _, ok1 := find(m[1])
			to, _, ok2 := find(m[2])
			if ok1 && ok2 && from <= to && len(on.list)+to-from < maxDepends {
				for n := from; n <= to; n++ {
					on.add(n)
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
