package backlogmd

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Limits of one file.
const (
	maxFile = 1 << 20 // bytes, above which a file is no task
	maxBody = 12 << 10
	maxID   = 64
)

// File is a task's file as it stands.
type File struct {
	Path      string // slash-separated, below the repository
	Completed bool   // it lies in the folder of completed tasks
	ID        string // as written

	title, status   string
	priority        string
	parent          string
	depends, labels []string
	material        []string
	ordinal         float64 // NaN without one
	body            string
	acceptance      []string
	line            int       // of its status, 1-based
	word            form.Span // of its status
	quote           byte      // around the status; 0 = none
	boxes           []form.Span
	warnings        []ledger.Diagnostic
}

// taskName matches names of tasks' files: "task-12.1 - Zoom on a tap.md".
var taskName = regexp.MustCompile(`^[A-Za-z]+-[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*(?: - .*)?\.md$`)

// IsTaskName reports whether a file's name is that of a task.
func IsTaskName(name string) bool { return taskName.MatchString(name) }

// IsTask reports whether a text is that of a task's file: its front matter has an id,
// a title and a status.
func IsTask(data []byte) bool {
	front, _, ok := frontMatter(data)
	if !ok {
		return false
	}
	f := readFields(data, front, 2, &form.Findings{})
	for _, key := range []string{"id", "title", "status"} {
		if _, has := f.at[key]; !has {
			return false
		}
	}
	return true
}

// ReadFile reads the file of a task; file is its path below the repository. Mistakes
// are a *ledger.InputError.
func ReadFile(file string, data []byte) (*File, error) {
	name := path.Base(file)
	findings := &form.Findings{File: name}
	if bad := form.CheckText(name, "task", data, maxFile); bad != nil {
		return nil, &ledger.InputError{Diagnostics: []ledger.Diagnostic{*bad}}
	}
	front, body, ok := frontMatter(data)
	if !ok {
		findings.Error(1, "has no front matter: expected a line ---, id, title and status, and a line ---", "Write it, or move the file out of the folder")
		return nil, findings.Err()
	}
	f := readFields(data, front, 2, findings)
	out := &File{Path: file, ID: f.text("id"), title: f.text("title"), status: f.text("status"), priority: f.text("priority"), parent: f.text("parent_task_id"),
		depends: f.list("dependencies"), labels: f.list("labels"), ordinal: math.NaN(), line: f.at["status"].line}
	out.check(f)
	if n, err := strconv.ParseFloat(f.text("ordinal"), 64); err == nil && !math.IsInf(n, 0) {
		out.ordinal = n
	}
	for _, at := range append(f.list("references"), f.list("documentation")...) {
		if at = path.Clean(at); !strings.Contains(at, ":") && at != "." && !path.IsAbs(at) && at != ".." && !strings.HasPrefix(at, "../") {
			out.material = append(out.material, at)
		}
	}
	sections := sectionsOf(data, body)
	out.readBody(data, sections)
	for _, c := range criteriaOf(data, sections, "acceptance criteria") {
		out.acceptance = append(out.acceptance, c.text)
		if c.box.End > c.box.Start {
			out.boxes = append(out.boxes, c.box)
		}
	}
	for _, c := range criteriaOf(data, sections, "definition of done") {
		out.acceptance = append(out.acceptance, c.text)
	}
	if err := findings.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// check reports what the front matter lacks.
func (t *File) check(f fields) {
	for _, has := range []struct{ key, value string }{{"id", t.ID}, {"title", t.title}, {"status", t.status}} {
		if has.value == "" && len(f.Errors) == 0 {
			f.Error(max(f.at[has.key].line, 1), "has no "+has.key, "Write one, like "+map[string]string{"id": "id: TASK-12", "title": "title: What is to be done", "status": "status: To Do"}[has.key])
		}
	}
	if len(t.ID) > maxID || strings.ContainsFunc(t.ID, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		f.Error(f.at["id"].line, fmt.Sprintf("the id %q: expected one word like TASK-12", clip(t.ID, 40)), "Write the id without spaces")
	}
	if t.status == "" {
		return
	}
	ok := false
	if t.word, t.quote, ok = f.word("status", t.status); !ok {
		f.Error(t.line, "the status has an unusual form: expected its words alone, behind the colon", "Write it like status: To Do")
	}
}

// readBody takes the description and the plan as the text of the task.
func (t *File) readBody(data []byte, sections []section) {
	text := textOf(data, sections, "")
	for _, title := range []string{"description", "implementation plan"} {
		own := textOf(data, sections, title)
		if title == "implementation plan" && own != "" {
			own = "Implementation plan:\n\n" + own
		}
		text = strings.Trim(text+"\n\n"+own, "\n")
	}
	text = strings.ReplaceAll(text, "\r", "")
	if len(text) > maxBody {
		cut := strings.LastIndexByte(text[:maxBody], '\n')
		text = strings.ToValidUTF8(text[:max(cut, 1)], "") + "\n… (the rest is in " + t.Path + ")"
	}
	t.body = text
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
