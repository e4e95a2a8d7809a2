package bot

import (
	"errors"
	"regexp"
	"strings"

	"github.com/nightporter/nightporter/internal/nearest"
)

// ErrEmpty says that a line holds nothing.
var ErrEmpty = errors.New("nothing was typed")

var (
	projectPrefix = regexp.MustCompile(`^([A-Za-z0-9-]{1,32}):(?:\s+|$)`)
	projectName   = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	handle        = regexp.MustCompile(`^[qgQG][0-9]{1,9}$`) // of a question or of guidance
	idLike        = regexp.MustCompile(`^(?:[qQ][0-9]{1,9}|#\S+|[0-9]{1,9}(?:/[a-z0-9-]+)?|[A-Za-z]+-[0-9]+[a-z]*)$`)
)

// Parse reads one line that a person typed or a button stands for:
//
//	/cmd args   /cmd@bot   /cmd_8   shop: /cmd   q5 retry   g14 keep   plain words
//
// in any case. "_" stands for a space within the command word, because a chat
// makes only one word tappable. Errors are ErrEmpty, *UnknownError and
// *UsageError.
func Parse(line string) (Command, error) {
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
	c := Command{Line: line}
	if m := projectPrefix.FindStringSubmatch(line); m != nil && !handle.MatchString(m[1]) {
		c.Project, line = strings.ToLower(m[1]), strings.TrimSpace(line[len(m[0]):])
	}
	if line == "" {
		return c, ErrEmpty
	}
	word, rest := cutWord(line)
	if strings.HasPrefix(word, "/") {
		word, _, _ = strings.Cut(word[1:], "@")
		// "/task_8": the command, and what belongs to its arguments.
		head, tail, joined := strings.Cut(word, "_")
		if joined {
			rest = strings.TrimSpace(strings.ReplaceAll(tail, "_", " ") + " " + rest)
		}
		if handle.MatchString(head) {
			return c.short(head, rest)
		}
		return c.slash(head, rest)
	}
	if w := strings.TrimSuffix(word, ":"); handle.MatchString(w) {
		return c.short(w, rest)
	}
	// A command whose slash was forgotten must not become guidance.
	if f, ok := find(word); ok && (rest == "" || strings.EqualFold(rest, "now")) {
		meant := f.verb
		if meant == VerbStart { // the word of a platform, not ours
			meant = VerbRun
		}
		return c, &UnknownError{Word: word, Meant: "/" + string(meant), Rest: rest}
	}
	c.Verb, c.Words = VerbWords, line
	return c, nil
}

// IsCommand reports whether a line says by itself what it is: a command, or the
// id of a question or of guidance, open or over, with what is said to it. Where
// words are awaited, in a reply or in a box for guidance, such a line is none
// of them: an answer that comes too late must not reach a session as words.
func IsCommand(line string) bool {
	line = strings.TrimSpace(line)
	word, _ := cutWord(line)
	if strings.HasPrefix(word, "/") || handle.MatchString(strings.TrimSuffix(word, ":")) {
		return true
	}
	c, err := Parse(line)
	return c.Project != "" && err == nil && c.Verb != VerbWords // "shop: /stop"
}

// slash reads what follows a command word.
func (c Command) slash(word, rest string) (Command, error) {
	f, ok := find(word)
	if !ok {
		return c, &UnknownError{Word: "/" + word, Meant: nearestCommand(word), Rest: rest}
	}
	c.Verb = f.verb
	switch f.takes {
	case takesWords:
		c.Words = rest
	case takesTarget:
		c.Target = rest
	case takesID:
		c.Target, c.Words = takeID(rest)
	case takesPlan:
		word, after := cutWord(rest)
		if c.Redo = strings.EqualFold(word, "redo"); c.Redo {
			c.Target, c.Words = takeID(after)
			break
		}
		c.Target = rest
	case takesRun:
		return c.start(rest)
	case takesSpan:
		for _, w := range strings.Fields(rest) {
			switch lower := strings.ToLower(w); {
			case IsSpan(lower) && c.Target == "":
				c.Target = lower
			case projectName.MatchString(lower) && c.Project == "":
				c.Project = lower
			default:
				return c, &UsageError{Verb: f.verb, Use: f.use, Got: w}
			}
		}
	case takesAgent:
		words := strings.Fields(rest)
		if len(words) > 0 && projectName.MatchString(strings.ToLower(words[0])) && c.Project == "" {
			c.Project, words = strings.ToLower(words[0]), words[1:] // an agent's, where it is no project's: pick knows
		}
		if len(words) > 0 {
			c.Target, words = words[0], words[1:]
		}
		if len(words) > 0 {
			return c, &UsageError{Verb: f.verb, Use: f.use, Got: words[0]}
		}
	case takesProject, takesNow:
		for _, w := range strings.Fields(rest) {
			switch lower := strings.ToLower(w); {
			case lower == "now" && f.takes == takesNow && !c.Now:
				c.Now = true
			case projectName.MatchString(lower) && c.Project == "":
				c.Project = lower
			default:
				return c, &UsageError{Verb: f.verb, Use: f.use, Got: w}
			}
		}
	}
	return c, nil
}

// start reads what follows /run: a project's name, then what the run shall
// differ in. Words keeps the latter, in a form that ParseRun reads.
func (c Command) start(rest string) (Command, error) {
	if word, after := cutWord(rest); c.Project == "" && !runWord(word) && projectName.MatchString(strings.ToLower(word)) {
		c.Project, rest = strings.ToLower(word), after
	}
	f, err := ParseRun(rest)
	c.Words = f.String()
	return c, err
}

// short reads "q5 retry" and "g14 keep".
func (c Command) short(id, rest string) (Command, error) {
	c.Target = strings.ToLower(id)
	if c.Target[0] == 'q' {
		c.Verb, c.Words = VerbAnswer, rest
		return c, nil
	}
	switch strings.ToLower(rest) {
	case "keep", "k":
		c.Verb = VerbKeep
	case "drop", "d":
		c.Verb = VerbDrop
	case "":
		c.Verb, c.Target = VerbQueue, ""
	default:
		return c, &UnknownError{Word: id + " " + rest, Meant: c.Target + " keep"}
	}
	return c, nil
}

// takeID parts an id from the words after it. "Task 8" is one, too.
func takeID(rest string) (id, words string) {
	word, after := cutWord(rest)
	if strings.EqualFold(word, "task") {
		if n, more := cutWord(after); idLike.MatchString(n) {
			return n, more
		}
	}
	if idLike.MatchString(word) {
		return word, after
	}
	return "", rest
}

func cutWord(s string) (word, rest string) {
	if i := strings.IndexFunc(s, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

func find(word string) (form, bool) {
	for _, f := range forms {
		if f.typed() && strings.EqualFold(word, string(f.verb)) {
			return f, true
		}
	}
	return form{}, false
}

// nearestCommand returns the command that a word was probably meant to be, with
// its slash, "" when none is near.
func nearestCommand(word string) string {
	var names []string
	for _, f := range forms {
		if f.typed() && f.verb != VerbStart { // the word of a platform, not ours
			names = append(names, string(f.verb))
		}
	}
	if near := nearest.Of(word, names); near != "" {
		return "/" + near
	}
	return ""
}
