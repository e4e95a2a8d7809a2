package guard

import (
	"slices"
	"strings"
)

// Rules are the rules of one session.
type Rules struct {
	Hat       string   `json:"hat,omitempty"`       // for the text of a refusal
	Denied    []string `json:"denied,omitempty"`    // tools.denied of hat and configuration
	Deploying []string `json:"deploying,omitempty"` // rules against deploying and publishing
	Allowed   []string `json:"allowed,omitempty"`   // calls that Deploying does not concern
	Protected []string `json:"protected,omitempty"` // branches that no session pushes to, as names or globs
	Roots     []string `json:"roots,omitempty"`     // the session's own folders, as real paths
}

// kind is the way in which a rule is applied.
type kind int

const (
	notACall kind = iota // rule that no wrapper can apply, because it concerns no call of a program
	call                 // program, words and flags
	push                 // git push that overwrites or deletes
	remove               // rm -r outside the session's folders
	format               // mkfs and its variants
	device               // write to a device
	sql                  // words in a database client's arguments
)

// rule is one parsed line of Denied.
type rule struct {
	text    string
	kind    kind
	program string   // for call
	words   []string // of a call; of SQL in lower case
	flags   []string // of a call, as flagsOf spells them
}

// parse parses a rule. Every text is a valid rule; a rule that no wrapper can
// apply is of kind notACall.
func parse(text string) rule {
	words := strings.Fields(text)
	r := rule{text: strings.Join(words, " ")}
	anywhere := len(words) > 1 && words[len(words)-1] == "*"
	if anywhere {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return r
	}
	if isSQL(words) {
		for _, w := range words {
			r.words = append(r.words, strings.ToLower(w))
		}
		r.kind = sql
		return r
	}
	if !isProgram(words[0]) || strings.ContainsAny(text, "|&;<>()`$\x00") {
		return r
	}
	r.kind, r.program = call, words[0]
	args := splitFlags(words[1:])
	r.flags = flagsOf(r.program, args)
	r.words = slices.DeleteFunc(args, isFlag)
	switch {
	case r.program == "git" && slices.Equal(r.words, []string{"push"}) && slices.Equal(r.flags, []string{"--force"}):
		r.kind = push
	case r.program == "rm" && len(r.words) == 0 && slices.Contains(r.flags, "--recursive") && !anywhere:
		r.kind = remove
	case r.program == "mkfs" && len(words) == 1:
		r.kind = format
	case r.program == "dd" && len(r.words) == 1 && strings.HasPrefix(r.words[0], "of=/dev"):
		r.kind = device
	}
	return r
}

// isProgram reports whether a word can be the name of a program on PATH. It is
// false for hat: a session could not end without it.
func isProgram(w string) bool {
	for i, c := range w {
		lower := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !lower && (i == 0 || !strings.ContainsRune("._+-", c) && (c < 'A' || c > 'Z')) {
			return false
		}
	}
	return w != "" && w != "hat"
}

// programs returns the names of the programs that the rule concerns.
func (r rule) programs() []string {
	switch r.kind {
	case call:
		return []string{r.program}
	case push:
		return []string{"git"}
	case remove:
		return []string{"rm"}
	case format:
		return formatters
	case device:
		return diskTools
	case sql:
		return append(slices.Clone(sqlClients), sqlTools(r.words)...)
	}
	return nil
}

// rules parses every line of Denied.
func (r Rules) rules() []rule {
	var out []rule
	for _, d := range r.Denied {
		out = append(out, parse(d))
	}
	return out
}

// Programs returns the names of all programs that need a wrapper, sorted.
func (r Rules) Programs() []string {
	var out []string
	for _, d := range r.rules() {
		out = append(out, d.programs()...)
	}
	for _, d := range r.Deploying {
		out = append(out, parse(d).programs()...)
	}
	if len(r.Protected) > 0 {
		out = append(out, "git")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Unseen returns the rules that no wrapper can apply: pipes, tools of an agent
// itself.
func (r Rules) Unseen() []string {
	var out []string
	for _, d := range r.rules() {
		if d.kind == notACall && d.text != "" {
			out = append(out, d.text)
		}
	}
	return out
}

// IsRemoval reports whether a rule forbids recursive deletes outside of the
// session's folders, in any spelling. An agent's own rules cannot express it,
// because they compare text and know no folders.
func IsRemoval(denied string) bool { return parse(denied).kind == remove }
