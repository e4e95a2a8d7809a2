package backlogmd

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/task/form"
)

// fields are the top-level keys of a YAML text, each with its own lines. Only the
// values that somebody asks for are decoded: a mistake in any other one, such as the
// unquoted "assignee: @ann" that Backlog.md writes itself, does not matter.
type fields struct {
	data []byte
	at   map[string]field
	*form.Findings
}

type field struct {
	line  int       // 1-based
	span  form.Span // its lines
	value form.Span // what follows the colon in its first line
}

// keyLine matches the line of a top-level key.
var keyLine = regexp.MustCompile(`^["']?([A-Za-z_][A-Za-z0-9_]*)["']?[ \t]*:(?:[ \t]|\r?\n?$)`)

// readFields splits the lines of data in span; line is the number of the first.
func readFields(data []byte, span form.Span, line int, findings *form.Findings) fields {
	f := fields{data: data, at: map[string]field{}, Findings: findings}
	last := ""
	for at := span.Start; at < span.End; line++ {
		end := at + lineLength(data[at:span.End])
		if m := keyLine.FindSubmatchIndex(data[at:end]); m != nil {
			last = string(data[at+m[2] : at+m[3]])
			if first, twice := f.at[last]; twice {
				f.Error(line, fmt.Sprintf("%s is there twice: line %d and line %d", last, first.line, line), "Remove one of them")
			}
			f.at[last] = field{line: line, span: form.Span{Start: at, End: end}, value: form.Span{Start: at + m[1], End: end}}
		} else if v, ok := f.at[last]; ok {
			v.span.End = end
			f.at[last] = v
		}
		at = end
	}
	return f
}

// lineLength returns the length of the first line of a text, with its end.
func lineLength(text []byte) int {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return n + 1
	}
	return len(text)
}

// node decodes the value of a key, nil without one.
func (f fields) node(key string) *yaml.Node {
	at, ok := f.at[key]
	if !ok {
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(f.data[at.span.Start:at.span.End], &doc); err != nil || len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 {
		f.Error(at.line, key+" is no YAML", "Put its value into quotes")
		return nil
	}
	value := doc.Content[0].Content[1]
	if value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
		return nil
	}
	return value
}

// text returns the value of a key as one line, "" without one.
func (f fields) text(key string) string {
	switch v := f.node(key); {
	case v == nil:
		return ""
	case v.Kind != yaml.ScalarNode:
		f.Error(f.at[key].line, key+" is a list: expected one value", "Write one value")
		return ""
	default:
		return strings.Join(strings.Fields(v.Value), " ")
	}
}

// list returns the values of a key; one that is no list counts as its only one.
func (f fields) list(key string) []string {
	v := f.node(key)
	if v == nil {
		return nil
	}
	items := v.Content
	if v.Kind == yaml.ScalarNode {
		items = []*yaml.Node{v}
	}
	var out []string
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || v.Kind == yaml.MappingNode {
			f.Error(f.at[key].line, key+": expected a list of words", "Write it like "+key+": [one, two]")
			return nil
		}
		if text := strings.Join(strings.Fields(item.Value), " "); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// word returns where the one-line value of a key stands, without its quotes, and the
// quote around it, 0 for none. ok is false for a value in any other form.
func (f fields) word(key, value string) (span form.Span, quote byte, ok bool) {
	at := f.at[key]
	span = at.value
	for span.Start < span.End && (f.data[span.Start] == ' ' || f.data[span.Start] == '\t') {
		span.Start++
	}
	if span.Start == span.End {
		return span, 0, false
	}
	if quote = f.data[span.Start]; quote == '"' || quote == '\'' {
		span.Start++
		n := bytes.IndexByte(f.data[span.Start:span.End], quote)
		if n < 0 {
			return span, quote, false
		}
		span.End = span.Start + n
	} else {
		quote = 0
		if n := bytes.Index(f.data[span.Start:span.End], []byte(" #")); n >= 0 {
			span.End = span.Start + n
		}
		span.End = span.Start + len(bytes.TrimRight(f.data[span.Start:span.End], " \t\r\n"))
	}
	return span, quote, strings.Join(strings.Fields(string(f.data[span.Start:span.End])), " ") == value
}

// scalar returns a text as a YAML value with the given quotes; 0 takes quotes only
// where the text needs them.
func scalar(text string, quote byte) string {
	switch quote {
	case '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
	case '\'':
		return strings.ReplaceAll(text, "'", "''")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("k: "+text+"\n"), &doc); err == nil && len(doc.Content) == 1 && len(doc.Content[0].Content) == 2 {
		if v := doc.Content[0].Content[1]; v.Kind == yaml.ScalarNode && v.Tag == "!!str" && v.Value == text && v.Style == 0 && v.LineComment == "" {
			return text
		}
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// frontMatter returns the lines between the rules at the beginning of a text, and
// where the rest begins. ok is false for a text without.
func frontMatter(data []byte) (front form.Span, body int, ok bool) {
	at := 0
	if bytes.HasPrefix(data, form.BOM) {
		at = len(form.BOM)
	}
	isRule := func(line []byte) bool { return string(bytes.TrimRight(line, " \t\r\n")) == "---" }
	n := lineLength(data[at:])
	if !isRule(data[at : at+n]) {
		return front, 0, false
	}
	front.Start = at + n
	for at = front.Start; at < len(data); {
		n := lineLength(data[at:])
		if isRule(data[at : at+n]) {
			front.End = at
			return front, at + n, true
		}
		at += n
	}
	return front, 0, false
}
