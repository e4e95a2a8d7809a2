package jsonform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// document is a JSON text that was found to be valid. encoding/json judges it,
// which says where a mistake is, and gjson finds values in it, which says where they
// are.
type document struct {
	form.Findings
	path string // as given to Parse
	text string // without the byte order mark
	skip int    // bytes of the byte order mark
	ends []int  // offsets of line ends in text
	root gjson.Result
}

// open checks that data is text of a permitted size. what names the file's format
// in findings.
func open(file, what string, data []byte) (*document, error) {
	d := &document{path: file, Findings: form.Findings{File: filepath.Base(file)}}
	if found := form.CheckText(d.File, what, data, form.MaxBytes); found != nil {
		return nil, &ledger.InputError{Diagnostics: []ledger.Diagnostic{*found}}
	}
	text := bytes.TrimPrefix(data, form.BOM)
	d.skip = len(data) - len(text)
	d.text = string(text)
	d.ends = make([]int, 0, bytes.Count(text, []byte("\n")))
	for i := 0; ; i++ {
		n := strings.IndexByte(d.text[i:], '\n')
		if n < 0 {
			break
		}
		i += n
		d.ends = append(d.ends, i)
	}
	return d, nil
}

// openJSON reads a text that is one JSON value.
func openJSON(file, what string, data []byte) (*document, error) {
	d, err := open(file, what, data)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(d.text) == "" {
		d.Error(0, "is empty: expected "+article(what), "Write the first task, or check the path")
		return nil, d.Err()
	}
	if !d.valid(0, data[d.skip:]) {
		return nil, d.Err()
	}
	d.root = gjson.Parse(d.text)
	d.root.Raw = strings.TrimRight(d.root.Raw, " \t\r\n") // gjson leaves what follows in it
	d.root.Index = strings.IndexAny(d.text, d.root.Raw[:1])
	return d, nil
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// valid reports whether part, which begins at from in the text, is one JSON value, and
// adds a finding if not.
func (d *document) valid(from int, part []byte) bool {
	if json.Valid(part) {
		return true
	}
	var any json.RawMessage
	syntax := (*json.SyntaxError)(nil)
	if err := json.Unmarshal(part, &any); !errors.As(err, &syntax) {
		d.Error(d.line(from), fmt.Sprintf("is no JSON: %v", err), "Mend it")
		return false
	}
	at := min(max(int(syntax.Offset)-1, 0), len(part)-1)
	text, fix := explain(part, at, syntax.Error())
	d.Error(d.line(from+at), text, fix)
	return false
}

// eachLine calls read with the value of each line that is not blank, and adds a finding
// for each that is no JSON. data is the file.
func (d *document) eachLine(data []byte, read func(gjson.Result)) {
	start := 0
	for start < len(d.text) {
		end := len(d.text)
		if n := strings.IndexByte(d.text[start:], '\n'); n >= 0 {
			end = start + n
		}
		if strings.TrimSpace(d.text[start:end]) != "" && d.valid(start, data[d.skip+start:d.skip+end]) {
			v := gjson.Parse(d.text[start:end])
			v.Index = start + strings.IndexAny(d.text[start:end], v.Raw[:1])
			read(v)
		}
		start = end + 1
	}
}

// explain says in other words what is wrong at a place, for the mistakes that
// people make by hand.
func explain(text []byte, at int, reason string) (what, fix string) {
	before := bytes.TrimRight(text[:at], " \t\r\n")
	last := byte(0)
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	rest := text[at:]
	switch {
	case strings.HasPrefix(reason, "unexpected end"):
		return "ends in the middle of a value: a bracket or a quotation mark is not closed", "Close it"
	case rest[0] == '/' || rest[0] == '#':
		return "a comment: JSON has none, and the tools that share this file cannot read it", "Remove it"
	case (rest[0] == '}' || rest[0] == ']') && last == ',':
		return fmt.Sprintf("a comma before %c: JSON has none there", rest[0]), "Remove the comma"
	case rest[0] == '\'':
		return "a text in single quotation marks: expected double ones", `Write "…"`
	case rest[0] == '\n' || rest[0] == '\r':
		return "a text that runs over the end of its line", `Close it, or write the line end as \n`
	case strings.HasPrefix(string(rest), "<<<<<<<") || strings.HasPrefix(string(rest), "=======") || strings.HasPrefix(string(rest), ">>>>>>>"):
		return "a conflict of git", "Resolve it"
	case strings.Contains(reason, "after top-level value"):
		return "more text behind the end of the value", "Remove it; a file with a JSON value in each line is beads:PATH"
	case strings.Contains(reason, "after object key:value pair"), strings.Contains(reason, "after array element"):
		return fmt.Sprintf("%q where a comma or a closing bracket is expected", rest[0]), "Put a comma before it"
	}
	return "is no JSON: " + reason, "Mend the line"
}

// line returns the 1-based line of an offset in the text.
func (d *document) line(offset int) int { return 1 + sort.SearchInts(d.ends, offset) }

// lineOf returns the line of a value.
func (d *document) lineOf(v gjson.Result) int { return d.line(v.Index) }

// span returns a value's place in the file.
func (d *document) span(v gjson.Result) form.Span {
	return form.Span{Start: d.skip + v.Index, End: d.skip + v.Index + len(v.Raw)}
}

// place returns a value's place in the document's text.
func place(v gjson.Result) form.Span { return form.Span{Start: v.Index, End: v.Index + len(v.Raw)} }

// at returns the value in a place of the text.
func (d *document) at(s form.Span) gjson.Result {
	v := gjson.Parse(d.text[s.Start:s.End])
	v.Index = s.Start
	return v
}

// clip shortens a text for a message.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
