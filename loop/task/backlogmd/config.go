package backlogmd

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Config is what a folder's config.yml says of its tasks.
type Config struct {
	Prefix   string   // of ids, as written: "task"
	Digits   int      // to which numbers of ids are filled up; 0 = none
	Statuses []string // as configured, in the order of the board
	Folder   string   // of the backlog, where a file in the repository's root names it; else ""

	open string // the status of new tasks
}

// DefaultStatuses are those of a folder that configures none.
var DefaultStatuses = []string{"To Do", "In Progress", "Done"}

// ReadConfig reads a config.yml; data may be nil where there is none. Mistakes in what
// is read are a *ledger.InputError.
func ReadConfig(file string, data []byte) (Config, error) {
	findings := &form.Findings{File: file}
	c := Config{Prefix: "task", Statuses: DefaultStatuses}
	if bad := form.CheckText(file, "configuration", data, maxConfig); bad != nil {
		return c, &ledger.InputError{Diagnostics: []ledger.Diagnostic{*bad}}
	}
	f := readFields(data, form.Span{End: len(data)}, 1, findings)
	if statuses := f.list("statuses"); len(statuses) > 0 {
		c.Statuses = statuses
	}
	if prefix := f.text("task_prefix"); prefix != "" {
		c.Prefix = prefix
	} else if v := f.node("prefixes"); v != nil && v.Kind == yaml.MappingNode {
		for n := 0; n+1 < len(v.Content); n += 2 {
			if v.Content[n].Value == "task" && v.Content[n+1].Value != "" {
				c.Prefix = v.Content[n+1].Value
			}
		}
	}
	if n, err := strconv.Atoi(f.text("zero_padded_ids")); err == nil && n > 0 && n <= 9 {
		c.Digits = n
	}
	if c.Folder = f.text("backlog_directory"); c.Folder == "" {
		c.Folder = f.text("backlogDirectory")
	}
	c.open = c.openWord(c.configured(f.text("default_status")))
	line := f.at["statuses"].line
	if c.open == "" {
		findings.Error(line, "statuses: none of "+strings.Join(c.Statuses, ", ")+" is for tasks that wait to be worked on", "Name the first one To Do")
	}
	if c.word(done) == "" {
		findings.Error(line, "statuses: none of "+strings.Join(c.Statuses, ", ")+" is for finished tasks", "Name the last one Done")
	}
	return c, findings.Err()
}

// IsConfig reports whether a text is a configuration of Backlog.md: it names a project,
// or statuses.
func IsConfig(data []byte) bool {
	f := readFields(data, form.Span{End: len(data)}, 1, &form.Findings{})
	_, named := f.at["project_name"]
	_, columns := f.at["statuses"]
	return named || columns
}

// maxConfig is the size above which a file is no configuration.
const maxConfig = 1 << 20

// configured returns a status as the configuration writes it, "" for one that it
// lacks.
func (c Config) configured(status string) string {
	n := slices.IndexFunc(c.Statuses, func(s string) bool { return strings.EqualFold(s, status) })
	if n < 0 {
		return ""
	}
	return c.Statuses[n]
}

// openWord returns the status of tasks to be worked on, "" for none. A first column for what is not
// planned yet has no task, where a later one says To Do.
func (c Config) openWord(preset string) string {
	if n := slices.IndexFunc(c.Statuses, func(s string) bool { return classWords[letters(s)] == open }); n >= 0 {
		return c.Statuses[n]
	}
	for _, s := range append([]string{preset}, c.Statuses[:len(c.Statuses)-1]...) {
		if s != "" && classWords[letters(s)] == aside {
			return s
		}
	}
	return ""
}

// class is what a status means.
type class int

// Classes of statuses.
const (
	aside   class = iota // nothing that is known: no task yet
	open                 // to be worked on
	working              // somebody is at it
	blocked
	dropped // not to be done; reads as blocked, and is never written
	review
	done
)

// classWords are the words of a class in letters. What the configuration lists first
// and last needs none of them.
var classWords = map[string]class{
	"todo": open, "open": open, "ready": open, "queued": open, "planned": open, "selected": open, "next": open, "readyfordev": open, "readyfordevelopment": open,
	"inprogress": working, "doing": working, "working": working, "wip": working, "active": working, "started": working, "indevelopment": working, "progress": working,
	"blocked": blocked, "onhold": blocked, "hold": blocked, "waiting": blocked, "stuck": blocked, "paused": blocked,
	"cancelled": dropped, "canceled": dropped, "wontdo": dropped, "wontfix": dropped, "rejected": dropped, "abandoned": dropped, "deferred": dropped, "duplicate": dropped, "obsolete": dropped,
	"review": review, "inreview": review, "needsreview": review, "codereview": review, "testing": review, "intesting": review, "test": review, "qa": review, "verify": review, "verification": review, "manualverify": review,
	"done": done, "complete": done, "completed": done, "closed": done, "finished": done, "resolved": done, "fixed": done, "released": done, "shipped": done, "merged": done,
}

// letters returns the letters of a status, in lower case.
func letters(status string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, status)
}

// class returns what a configured status means. The last one is that of finished
// tasks, as in Backlog.md itself, unless its words say something else.
func (c Config) class(status string) class {
	known := classWords[letters(status)]
	switch {
	case known != aside:
		return known
	case strings.EqualFold(status, c.open):
		return open
	case strings.EqualFold(status, c.Statuses[len(c.Statuses)-1]):
		return done
	}
	return aside
}

// word returns the configured status for a class, "" for none.
func (c Config) word(of class) string {
	if of == open {
		return c.open
	}
	n := slices.IndexFunc(c.Statuses, func(s string) bool { return c.class(s) == of })
	if n < 0 {
		return ""
	}
	return c.Statuses[n]
}

// marks are the classes of marks.
var marks = map[ledger.Mark]class{
	ledger.MarkOpen: open, ledger.MarkDone: done, ledger.MarkBlocked: blocked, ledger.MarkManualVerify: review, ledger.MarkWorking: working,
}

// mark returns what a status means as a mark. A task at work reads as open.
func (of class) mark() ledger.Mark {
	switch of {
	case done:
		return ledger.MarkDone
	case blocked, dropped:
		return ledger.MarkBlocked
	case review:
		return ledger.MarkManualVerify
	}
	return ledger.MarkOpen
}
