package backlogmd

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Mark returns the text of a task's file with a status. Only the characters of the
// status change, and for a task that is done those in the boxes of its acceptance
// criteria. A word that says it already stays; one that the configuration lacks is
// written as open.
func Mark(c Config, file string, data []byte, mark ledger.Mark) ([]byte, error) {
	f, err := ReadFile(file, data)
	if err != nil {
		return nil, err
	}
	want := marks[mark]
	word := c.word(want)
	if word == "" {
		want, word = open, c.open
	}
	var edits []form.Edit
	if now := c.configured(f.status); now == "" || c.class(now) != want && (want != blocked || c.class(now) != dropped) {
		text := scalar(word, f.quote)
		edits = append(edits, form.Edit{Span: f.word, Text: text})
	}
	if want == done {
		for _, box := range f.boxes {
			if data[box.Start] == ' ' {
				edits = append(edits, form.Edit{Span: box, Text: "x"})
			}
		}
	}
	return form.Apply(data, edits), nil
}

// NewFile returns the name and text of a new task's file, as Backlog.md writes them. A
// task that could not be read from it is an error: a folder with such a file could not
// be read at all.
func NewFile(c Config, t ledger.Task, created time.Time) (name string, data []byte, err error) {
	name, data = strings.ToLower(t.ID)+" - "+slug(t.Title)+".md", fileText(c, t, created)
	f, err := ReadFile(name, data)
	if err != nil || f.ID != t.ID || f.title != oneLine(t.Title) || f.status != c.open {
		return "", nil, form.InputError(name, fmt.Sprintf("%q cannot be written so that it reads as that task", oneLine(t.Title)), "Use plain words, or write it into a file yourself")
	}
	return name, data, nil
}

// fileText returns the text of a new task's file.
func fileText(c Config, t ledger.Task, created time.Time) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nid: %s\ntitle: %s\nstatus: %s\nassignee: []\ncreated_date: '%s'\n", scalar(t.ID, 0), scalar(oneLine(t.Title), 0), scalar(c.open, 0), created.UTC().Format("2006-01-02 15:04"))
	writeList(&b, "labels", t.Labels)
	writeList(&b, "dependencies", t.DependsOn)
	for word, n := range priorities {
		if n == t.Priority && n > 0 {
			fmt.Fprintf(&b, "priority: %s\n", word)
		}
	}
	b.WriteString("---\n")
	body := strings.TrimSpace(strings.ReplaceAll(t.Body, "\r\n", "\n"))
	if t.Scope != "" {
		body = strings.TrimSpace(body + "\n\nScope: " + oneLine(t.Scope))
	}
	if body != "" {
		body = strings.ReplaceAll(body, "<!-- SECTION:", "<!-- ")
		fmt.Fprintf(&b, "\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\n%s\n<!-- SECTION:DESCRIPTION:END -->\n", body)
	}
	if len(t.Acceptance) > 0 {
		b.WriteString("\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n")
		for n, text := range t.Acceptance {
			fmt.Fprintf(&b, "- [ ] #%d %s\n", n+1, oneLine(text))
		}
		b.WriteString("<!-- AC:END -->\n")
	}
	return []byte(b.String())
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func writeList(b *strings.Builder, key string, items []string) {
	if len(items) == 0 {
		fmt.Fprintf(b, "%s: []\n", key)
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for _, item := range items {
		fmt.Fprintf(b, "  - %s\n", scalar(oneLine(item), 0))
	}
}

// maxSlug limits the title in a file's name: names have at most 255 bytes.
const maxSlug = 120

// slug returns a title as it stands in a file's name: Zoom-on-a-tap.
func slug(title string) string {
	words := strings.FieldsFunc(title, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`<>:"/\|?*-`, r)
	})
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`'(),!@#$%^&+=[]{};`, r) {
			return -1
		}
		return r
	}, strings.Join(words, "-"))
	for len(text) > maxSlug {
		cut := strings.LastIndexByte(text[:maxSlug], '-')
		if cut <= 0 {
			cut = maxSlug
		}
		text = strings.ToValidUTF8(text[:cut], "")
	}
	if text = strings.Trim(text, "-."); text == "" {
		return "task"
	}
	return text
}
