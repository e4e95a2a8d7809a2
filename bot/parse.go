package bot

import (
	"errors"
	"strings"

	"github.com/nightporter/nightporter/bot/words"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ErrEmpty reports a line without text, or with a project's name alone.
var ErrEmpty = errors.New("nothing was typed")

var (
	projectPrefix = regexp.MustCompile(`^([A-Za-z0-9-]{1,32}):(?:\s+|$)`)
	projectName   = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	handleForm    = regexp.MustCompile(`^[qgQG][0-9]{1,9}$`) // id of a question or of guidance
	idLike        = regexp.MustCompile(`^(?:[qQ][0-9]{1,9}|#\S+|[0-9]{1,9}(?:/[a-z0-9-]+)?|[A-Za-z]+-[0-9]+[a-z]*)$`)
)

// Parse reads one line that a person typed or that a button stands for:
//
//	/cmd args   /cmd@bot   /cmd_8   shop: /cmd   q5 retry   g14 keep   plain words
//
// Case does not matter in command words. "_" stands for a space within the
// command word, because a chat makes only one word tappable. An error is
// ErrEmpty, an *UnknownError or a *UsageError.
func Parse(line string) (Command, error) {
	line = strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
	c := Command{Line: line}
	if m := projectPrefix.FindStringSubmatch(line); m != nil && !handleForm.MatchString(m[1]) {
		c.Project, line = strings.ToLower(m[1]), strings.TrimSpace(line[len(m[0]):])
	}
	if line == "" {
		return c, ErrEmpty
	}
	word, rest := cutWord(line)
	if strings.HasPrefix(word, "/") {
		word, _, _ = strings.Cut(word[1:], "@")
		// "/task_8": head is the command, tail the first of its arguments.
		head, tail, joined := strings.Cut(word, "_")
		if joined {
			rest = strings.TrimSpace(strings.ReplaceAll(tail, "_", " ") + " " + rest)
		}
		if handleForm.MatchString(head) {
			return c.short(head, rest)
		}
		return c.slash(head, rest)
	}
	if w := strings.TrimSuffix(word, ":"); handleForm.MatchString(w) {
		return c.short(w, rest)
	}
	if w := strings.TrimSuffix(line, "?"); handleForm.MatchString(w) { // "q5?"
		return c.short(w, "")
	}
	// A command whose slash was forgotten must not become guidance.
	of := strings.TrimSuffix(rest, "?")
	named := idLike.MatchString(of) || itemID.MatchString(of)
	if f, ok := findCommand(word); ok && (of == "" || strings.EqualFold(of, "now") || f.takesID() && named) && words.Read(line).Intent == words.Guidance {
		if f.role == ledger.RoleView && (of == "" || named) {
			return c.slash(word, of)
		}
		return c, &UnknownError{Word: word, Meant: "/" + string(f.verb), Rest: rest}
	}
	c.Verb, c.Words = VerbWords, line
	return c, nil
}

// takesID reports whether a command is about what an id names.
func (f commandForm) takesID() bool {
	return f.takes == takesTarget || f.takes == takesID || f.takes == takesPlan
}

// IsCommand reports whether a line has the form of a command: a slash, or the
// id of a question or of guidance, open or not, also behind a project's name. A
// caller who expects free text, such as a reply to a prompt for guidance, must
// treat such a line as a command: a late answer must not reach a session as
// guidance.
func IsCommand(line string) bool {
	line = strings.TrimSpace(line)
	word, _ := cutWord(line)
	if strings.HasPrefix(word, "/") || handleForm.MatchString(strings.TrimSuffix(word, ":")) {
		return true
	}
	c, err := Parse(line)
	return c.Project != "" && err == nil && c.Verb != VerbWords // "shop: /stop"
}

// slash reads a command word and its arguments.
func (c Command) slash(word, rest string) (Command, error) {
	f, ok := findCommand(word)
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
	case takesStats:
		for _, w := range strings.Fields(strings.ToLower(rest)) {
			switch {
			case statsWord(w):
				c.Target = strings.TrimSpace(c.Target + " " + w)
			case projectName.MatchString(w) && c.Project == "":
				c.Project = w
			default:
				return c, &UsageError{Verb: f.verb, Use: f.use, Got: w}
			}
		}
	case takesAgent:
		words := strings.Fields(rest)
		if len(words) > 0 && projectName.MatchString(strings.ToLower(words[0])) && c.Project == "" {
			c.Project, words = strings.ToLower(words[0]), words[1:] // or an agent's name: pick decides which
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

// start reads the arguments of /run: a project's name, then the flags of the
// run. Words keeps the flags in the form that ParseRun reads.
func (c Command) start(rest string) (Command, error) {
	if word, after := cutWord(rest); c.Project == "" && !runWord(word) && projectName.MatchString(strings.ToLower(word)) {
		c.Project, rest = strings.ToLower(word), after
	}
	f, err := ParseRun(rest)
	c.Words = f.String()
	return c, err
}

// short parses a line without a slash that begins with an id: "q5 retry", "g14
// keep".
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
	case "not guidance":
		c.Verb = VerbTakeBack
	case "":
		c.Verb, c.Target = VerbQueue, ""
	default:
		return c, &UnknownError{Word: id + " " + rest, Meant: c.Target + " keep"}
	}
	return c, nil
}

// takeID splits an id from the words after it; id is "" if rest does not begin
// with an id. "Task 8" gives the id "8".
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

// runWord reports whether a word begins one of the flags.
func runWord(word string) bool {
	switch strings.ToLower(word) {
	case "review", "overnight", "from", "only":
		return true
	}
	return false
}

// ParseRun reads "review", "overnight", "from 5" and "only Task 5", in any order,
// each at most once. Any other text is a *UsageError.
func ParseRun(text string) (RunFlags, error) {
	var f RunFlags
	for text != "" {
		word, rest := cutWord(text)
		ok := false
		switch flag := strings.ToLower(word); flag {
		case "review", "overnight":
			ok = f.Profile == ""
			f.Profile = flag
		case "from":
			ok = f.From == ""
			f.From, rest = taskWord(rest)
			ok = ok && f.From != ""
		case "only":
			ok = f.Only == ""
			f.Only, rest = taskWord(rest)
			ok = ok && f.Only != ""
		}
		if !ok {
			use, _ := findCommand(string(VerbRun))
			return RunFlags{}, &UsageError{Verb: VerbRun, Use: use.use, Got: text}
		}
		text = rest
	}
	return f, nil
}

// taskWord splits a task's id, "5" or "Task 5", from the rest of the text; id is
// "" if the text begins with none.
func taskWord(s string) (id, rest string) {
	id, rest = cutWord(s)
	if runWord(id) {
		return "", s
	}
	if n, more := cutWord(rest); strings.EqualFold(id, "task") && n != "" && !runWord(n) {
		return id + " " + n, more
	}
	return id, rest
}
