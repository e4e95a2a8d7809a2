package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

func shortIDs(ids []string) []string {
	out := make([]string, len(ids))
	for n, id := range ids {
		out[n] = ledger.ShortID(id)
	}
	return out
}

func trimJoin(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// joinFew joins at most five paths and says how many more there are.
func joinFew(paths []string) string {
	const most = 5
	if len(paths) > most {
		return fmt.Sprintf("%s and %d more", join(paths[:most]), len(paths)-most)
	}
	return join(paths)
}

func join(s []string) string {
	out := ""
	for n, p := range s {
		if n > 0 {
			out += ", "
		}
		out += p
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// endText describes an unsuccessful end of a session, both to people and to the
// session that repeats it.
func endText(end ledger.SessionOutcome, x ledger.Exit, s Session) string {
	switch end {
	case ledger.EndedSilent, ledger.EndedEarly:
		what := fmt.Sprintf("exit %d", x.Code)
		if x.Signal != "" {
			what = x.Signal
		}
		if s.Refusal != "" {
			return fmt.Sprintf("ended after its report was refused (%s): %s", what, cutText(s.Refusal, maxReason))
		}
		text := fmt.Sprintf("ended without a report (%s)", what)
		if x.Failure != "" {
			text = fmt.Sprintf("ended without a report (%s) after some work, and again", what)
		}
		if x.Text != "" {
			text += ": " + x.Text // the agent's own words: a prompt that is too long, denied tools
		}
		return text
	case ledger.EndedBudget:
		if x.OverTokens {
			return fmt.Sprintf("had used its budget of %s tokens", ledger.TokenCount(s.Planned.Reserved.MaxTokens))
		}
		return fmt.Sprintf("had spent its budget of $%.2f", s.Planned.Reserved.MaxUSD)
	case ledger.EndedLeak:
		return cmp.Or(x.Text, "sent a planted secret to a host")
	case ledger.EndedStall:
		return "silent for " + s.Planned.Stall.String()
	case ledger.EndedCircle:
		return cmp.Or(x.Text, "it went in a circle")
	case ledger.EndedWall:
		return "longer than " + s.Planned.Wall.String()
	case ledger.EndedLost:
		switch {
		case x.OverLimits() && x.Text != "":
			return "ended: " + x.Text
		case x.Reason == ledger.ExitMemory:
			return "ended by the system for memory"
		}
		return "lost without trace"
	case ledger.EndedDisk:
		return "the disk is full"
	case ledger.EndedMachine:
		return "could not be started for now: " + cutText(x.Text, maxReason)
	case ledger.EndedUnusable:
		if x.Text == "" {
			return fmt.Sprintf("ended at once with exit %d: %s", x.Code, causeOf(x.Tail))
		}
	case ledger.EndedEvent:
		return ""
	}
	if x.Text != "" {
		return x.Text
	}
	return string(end)
}

// oneLine shortens a title to one line of a chat or a log.
func oneLine(title string) string {
	const most = 200
	title = strings.Join(strings.Fields(title), " ")
	if r := []rune(title); len(r) > most {
		return string(r[:most]) + "…"
	}
	return title
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// refPart turns a task's id into a valid part of a ref name.
func refPart(id string) string {
	var b strings.Builder
	for _, c := range ledger.FoldID(id) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteRune(c)
		case c == ' ' || c == '.' || c == '/':
			b.WriteByte('-')
		default:
			fmt.Fprintf(&b, "u%x", c)
		}
	}
	return strings.Trim(b.String(), "-")
}

// runsItselfNote tells a session why files that run by themselves were undone;
// it is empty for no paths.
func runsItselfNote(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return fmt.Sprintf(" A file such as %s takes effect by itself where the branch is checked out or pushed; leave such files alone unless the task's scope names them.", paths[0])
}

// common returns the strings of a that b has too.
func common(a, b []string) []string {
	var both []string
	for _, s := range a {
		if slices.Contains(b, s) {
			both = append(both, s)
		}
	}
	return both
}

func fewOf(paths []string) []string { return slices.Clip(paths[:min(len(paths), maxUndone)]) }

// maxUndone limits the undone paths that an entry records for one session. A
// session that installs packages into a folder that git does not ignore writes
// tens of thousands of them, and so does the next session.
const maxUndone = 200

// idKinds are the types of commits that the prefixes of ids stand for, as in BUG-069.
// A title that begins with such a word counts more.
var idKinds = map[string]string{"BUG": "fix", "FIX": "fix", "TECH": "chore", "CHORE": "chore", "ARCH": "refactor", "REFACTOR": "refactor", "DOC": "docs", "DOCS": "docs", "TEST": "test"}

// subject returns a task's commit subject: "feat: Task 5 - Title" (docs/spec 9.2).
func subject(t ledger.Task) string {
	prefix, _, _ := strings.Cut(strings.ToUpper(t.ID), "-")
	kind := cmp.Or(idKinds[prefix], "feat")
	title := strings.ToLower(t.Title)
	if t.Own || t.Report != nil {
		kind = "fix"
	}
	if t.Report != nil { // its title is how somebody else began
		title = ""
	}
	for _, k := range []struct{ word, kind string }{
		{"fix", "fix"}, {"bug", "fix"}, {"document", "docs"}, {"docs", "docs"}, {"test", "test"}, {"refactor", "refactor"}, {"chore", "chore"},
	} {
		if strings.HasPrefix(title, k.word) {
			kind = k.kind
			break
		}
	}
	const most = 100
	line := strings.Join(strings.Fields(fmt.Sprintf("%s: %s - %s", kind, t.ID, t.Title)), " ")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most-3], "") + "…"
	}
	return line
}

// body returns the commit's body: the summary of the last session that completed a
// build or a fix.
func body(w *Attempt) string {
	for n := len(w.History) - 1; n >= 0; n-- {
		if s := w.History[n]; s.Event == "build.complete" || s.Event == "fix.complete" {
			return s.Summary
		}
	}
	return ""
}

// maxChanged limits the changed files that an entry records. A person may take
// hundreds of thousands of new files over, and every snapshot has the list.
const maxChanged = 1000

// boundFiles returns the changed files that an entry records, and how many it
// leaves out.
func boundFiles(files []ledger.FileChange) (kept []ledger.FileChange, more int) {
	kept = slices.Clip(files[:min(len(files), maxChanged)])
	return kept, len(files) - len(kept)
}
