package guidance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// State is the state of an item.
type State string

// States of an item. It begins as Queued, becomes Injected, and then Addressed,
// SetAside or NotReported. Expired and Dropped end it.
const (
	Queued      State = "queued"
	Injected    State = "injected"     // in the prompt of a session that has to report on it
	Addressed   State = "addressed"    // reported as done
	SetAside    State = "set_aside"    // reported as not done, with a reason
	NotReported State = "not_reported" // the session ended without a report on it
	Expired     State = "expired"
	Dropped     State = "dropped"
)

// Word returns the state in the words of messages: "in use" for Injected.
func (s State) Word() string {
	switch s {
	case Injected:
		return "in use"
	case SetAside:
		return "set aside"
	case NotReported:
		return "not reported"
	}
	return string(s)
}

// Limits of a queue.
const (
	MaxText   = 4000 // characters of an item
	MaxTokens = 16000
	MaxSticky = MaxTokens / 2 // tokens of sticky items that can be in one session; more are not accepted
	Lifetime  = 72 * time.Hour
	maxShown  = 50 // sessions recorded in Item.Shown
)

// Item is one directive. The zero value is not valid: ID and Text are required.
type Item struct {
	ID       string    `json:"id"` // "g9"; given by the caller
	Text     string    `json:"text"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	Hat      string    `json:"hat,omitempty"`    // only for sessions of this hat, read-only ones included
	Task     string    `json:"task,omitempty"`   // only for sessions of this task (folded id)
	Source   string    `json:"source,omitempty"` // only for sessions of this source, in which Task and Bound are; "" = of any
	Sticky   bool      `json:"sticky,omitempty"` // for every writing session until dropped
	Since    time.Time `json:"since,omitzero"`   // when its lifetime began anew, after it rested; zero: At
	State    State     `json:"state"`
	Session  string    `json:"session,omitempty"` // session that has or last had the item bound
	Bound    string    `json:"bound,omitempty"`   // task to which the item is bound (folded id); "-" once that task has ended
	Note     string    `json:"note,omitempty"`    // the session's report, or why the item expired
	Reported time.Time `json:"reported,omitzero"` // time of the report; zero if unknown
	Shown    []string  `json:"shown,omitempty"`   // ids of read-only sessions that were shown the item
	Judged   *Judged   `json:"judged,omitempty"`  // the last verdict of a read-only session
	Origin   *Origin   `json:"origin,omitempty"`  // nil: said to nightporter itself
}

// Origin is the comment on a merge request that an item was made of. Such an item is
// only for sessions that work on the request's branch.
type Origin struct {
	Run     string    `json:"run"`            // that made the branch, or the id of its branch for one task
	Of      string    `json:"of,omitempty"`   // with a branch for one task: the run
	Number  int       `json:"number"`         // of the request
	Comment string    `json:"comment"`        // the forge's id
	Path    string    `json:"path,omitempty"` // file that it is about
	Line    int       `json:"line,omitempty"` // 0 = unknown
	Time    time.Time `json:"time"`           // by the forge
	Cut     int       `json:"cut,omitempty"`  // characters at its end that the item lacks
}

// branch returns the run whose sessions work on what the comment is about.
func (o Origin) branch() string { return cmp.Or(o.Of, o.Run) }

// Place names what the comment is about: "PR 48", "cart.go:12 of PR 48".
func (o Origin) Place() string {
	place := fmt.Sprintf("PR %d", o.Number)
	switch {
	case o.Path != "" && o.Line > 0:
		return fmt.Sprintf("%s:%d of %s", o.Path, o.Line, place)
	case o.Path != "":
		return o.Path + " of " + place
	}
	return place
}

// Judged is the verdict of a read-only session: whether the work follows an
// item.
type Judged struct {
	Session  string `json:"session"`
	Hat      string `json:"hat"`
	Followed bool   `json:"followed"`
	Note     string `json:"note,omitempty"`
}

// Said returns the words as a session reads them: "on cart.go:12 of PR 48, ann writes:
// …" for a comment.
func (i Item) Said() string {
	if i.Origin == nil {
		return i.Text
	}
	return fmt.Sprintf("on %s, %s writes: %s", i.Origin.Place(), i.By, i.Text)
}

// Over reports whether the item has ended: it is Expired or Dropped.
func (i Item) Over() bool { return i.State == Expired || i.State == Dropped }

// Open reports whether a session still has to report on the item.
func (i Item) Open() bool { return i.State == Queued || i.State == Injected }

// elsewhere reports whether the item is for sessions of another source.
func (i Item) elsewhere(source string) bool { return i.Source != "" && i.Source != source }

// Astray reports whether the item is for another branch than that of a run, "" = no
// branch. Once a task has the item in force, it goes along with the task.
func (i Item) Astray(branch string) bool {
	return i.Origin != nil && i.Bound == "" && i.Origin.branch() != branch
}

// waits returns when a queued item began to wait for a session.
func (i Item) waits() time.Time {
	if i.Since.After(i.At) {
		return i.Since
	}
	return i.At
}

// meets reports whether one session can have both items.
func (i Item) meets(o Item) bool {
	apart := func(a, b string) bool { return a != "" && b != "" && a != b }
	return !apart(i.Hat, o.Hat) && !apart(i.Task, o.Task) && !apart(i.Source, o.Source)
}

// tokens estimates the item's tokens: 3.5 bytes each.
func (i Item) tokens() int { return int(float64(len(i.Text))/3.5) + 1 }

// Address is the part of a directive before its text: "@builder", "#12",
// "!sticky", in any order.
type Address struct {
	Hat    string
	Task   string // as typed: "12" of "#12", or "TECH-069"
	Sticky bool
}

// Parse splits a directive into its address and the text. "#" and "@" inside
// the text are left alone. The text is empty for an address alone.
func Parse(text string) (Address, string) {
	var a Address
	rest := strings.TrimSpace(text)
	for {
		word, after := rest, ""
		if n := strings.IndexFunc(rest, unicode.IsSpace); n >= 0 {
			word, after = rest[:n], rest[n:]
		}
		word = strings.TrimSuffix(word, ":")
		switch {
		case word == "!sticky":
			a.Sticky = true
		case strings.HasPrefix(word, "@") && len(word) > 1 && a.Hat == "":
			a.Hat = strings.ToLower(word[1:])
		case strings.HasPrefix(word, "#") && strings.Trim(word, "#") != "" && a.Task == "":
			a.Task = word[1:]
		default:
			return a, rest
		}
		rest = strings.TrimSpace(after)
	}
}

// Target describes a session that is being planned.
type Target struct {
	Session string
	Hat     string
	Source  string // that Task is in
	Branch  string // run whose branch the session works on
	Task    string // folded id
	Parent  string // folded id of the task of which Task is a part; "" for a whole task
	Writes  bool
}

// holds returns the task to which the item is bound by this session. An item
// given while a part is at work is bound to the whole task, unless it names the
// part.
func (t Target) holds(i Item) string {
	if t.Parent != "" && i.Task != t.Task {
		return t.Parent
	}
	return t.Task
}

// of reports whether the session works on the task or on a part of it.
func (t Target) of(task string) bool { return task == t.Task || t.Parent != "" && task == t.Parent }

// reaches reports whether the target has to report on the item (binds), or is
// only shown it (shows).
func (i Item) reaches(t Target) (binds, shows bool) {
	if i.Over() || i.elsewhere(t.Source) || i.Astray(t.Branch) || (i.Task != "" && !t.of(i.Task)) || (i.Bound != "" && !t.of(i.Bound)) {
		return false, false
	}
	if i.Hat != "" {
		return i.Hat == t.Hat, i.Bound != "" && i.Hat != t.Hat
	}
	return t.Writes, !t.Writes
}

func (i Item) clone() Item {
	i.Shown = slices.Clone(i.Shown)
	if i.Judged != nil {
		j := *i.Judged
		i.Judged = &j
	}
	if i.Origin != nil {
		o := *i.Origin
		i.Origin = &o
	}
	return i
}
