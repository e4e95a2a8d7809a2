package guidance

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// State of one item, as the person who sent it sees it (SPEC 5.1).
type State string

// States of an item.
const (
	Queued      State = "queued"
	Injected    State = "injected"     // in the prompt of a session that has to say what it did with it
	Addressed   State = "addressed"    // that session says it was done
	SetAside    State = "set_aside"    // that session says why not
	NotReported State = "not_reported" // that session did not say
	Expired     State = "expired"
	Dropped     State = "dropped"
)

// Word is the state as people are told it.
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

// Limits of SPEC 4.7 and 5.1.
const (
	MaxText   = 4000 // characters of one item
	MaxTokens = 16000
	Lifetime  = 72 * time.Hour
	maxShown  = 50 // sessions that an item remembers that it was shown to
)

// Item is one human directive.
type Item struct {
	ID       string    `json:"id"` // g9
	Text     string    `json:"text"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	Hat      string    `json:"hat,omitempty"`    // only a session of this hat, read-only ones too
	Task     string    `json:"task,omitempty"`   // only a session of this task (folded id)
	Sticky   bool      `json:"sticky,omitempty"` // every writing session until dropped
	State    State     `json:"state"`
	Session  string    `json:"session,omitempty"` // the session it is or was bound to last
	Bound    string    `json:"bound,omitempty"`   // the task it holds for since it was bound (folded id)
	Note     string    `json:"note,omitempty"`    // what the session said, or why it expired
	Reported time.Time `json:"reported,omitzero"` // when the session said so; zero where nobody knows
	Shown    []string  `json:"shown,omitempty"`   // read-only sessions that had it for information
	Judged   *Judged   `json:"judged,omitempty"`  // what the last of those found
}

// Judged is what a session that only reads found of an item: whether the work
// follows it.
type Judged struct {
	Session  string `json:"session"`
	Hat      string `json:"hat"`
	Followed bool   `json:"followed"`
	Note     string `json:"note,omitempty"`
}

// Over reports whether nothing will become of the item any more.
func (i Item) Over() bool { return i.State == Expired || i.State == Dropped }

// Open reports whether the item still has to be reported on by a session.
func (i Item) Open() bool { return i.State == Queued || i.State == Injected }

// tokens is the estimate of SPEC 4.7.
func (i Item) tokens() int { return int(float64(len(i.Text))/3.5) + 1 }

// Address is what precedes the words of a directive: "@builder", "#12",
// "!sticky", in any order.
type Address struct {
	Hat    string
	Task   string // as typed: "12" of "#12", or "TECH-069"
	Sticky bool
}

// Parse splits the address off the text of a directive. A "#" or "@" in the
// words themselves is left alone.
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

// Target is a session that is being planned.
type Target struct {
	Session string
	Hat     string
	Task    string // folded id
	Parent  string // of a part: the task that it is a part of, folded id
	Writes  bool
}

// holds is the task for which a new item holds from this session on. What is
// said while a part is at work is said of the whole task, unless it names the
// part.
func (t Target) holds(i Item) string {
	if t.Parent != "" && i.Task != t.Task {
		return t.Parent
	}
	return t.Task
}

// of reports whether the session is of a task, or of a part of it.
func (t Target) of(task string) bool { return task == t.Task || t.Parent != "" && task == t.Parent }

// reaches reports whether the item binds to the target, and whether it is
// shown there for information only.
func (i Item) reaches(t Target) (binds, shows bool) {
	if i.Over() || (i.Task != "" && !t.of(i.Task)) || (i.Bound != "" && !t.of(i.Bound)) {
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
	return i
}
