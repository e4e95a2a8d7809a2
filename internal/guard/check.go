package guard

import (
	"path"
	"slices"
	"strings"
)

// Call is one start of a program.
type Call struct {
	Program string   // name without a folder
	Args    []string // arguments after the name, as the shell passed them
	Dir     string   // working directory, absolute
	// Readlink returns the target of a symbolic link, and an error for any
	// other path. nil means that there are no links.
	Readlink func(string) (string, error)
}

// Refusal explains why a call is denied.
type Refusal struct {
	Rule    string // the rule as written; "" for a protected branch
	Why     string // the effect of the call
	Instead string // the recommended alternative
}

// Check returns why a call is denied, or false if no rule denies it.
func (r Rules) Check(c Call) (Refusal, bool) {
	args := c.Args
	if c.Program == "git" {
		args = gitCommand(args)
	}
	for _, d := range r.rules() {
		if !slices.Contains(d.programs(), c.Program) {
			continue
		}
		refusal := Refusal{Rule: d.text, Instead: "leave it, or end with hat ask where it has to be done"}
		switch d.kind {
		case call:
			if d.matches(args) {
				refusal.Why = "its hat's rule is against it"
			}
		case push:
			refusal.Why = forcedPush(args)
			refusal.Instead = "add a commit to what is there; nightporter pushes the run's branch itself"
		case remove:
			refusal.Why = r.deletesOutside(c)
			refusal.Instead = "delete by name what lies in the work folder, in $TMPDIR or in $HOME"
		case format:
			refusal.Why = "it makes a file system"
		case device:
			refusal.Why = writesDevice(c)
		case sql:
			refusal.Why = d.sqlReason(c)
			refusal.Instead = "change the data by a migration that can be undone, or end with hat ask"
		}
		if refusal.Why != "" {
			return refusal, true
		}
	}
	if d, denied := r.deploys(c.Program, args); denied {
		return Refusal{
			Rule: d.text, Why: "it deploys or publishes",
			Instead: "end with hat ask where it has to be done; a person allows it by a line of the task: - Allow: `" + d.text + "`",
		}, true
	}
	if c.Program == "git" {
		if why := r.protectedPush(args); why != "" {
			return Refusal{Why: why, Instead: "commit, and leave the push: nightporter pushes the run's branch itself"}, true
		}
	}
	return Refusal{}, false
}

// matches reports whether a call has the rule's flags and words.
func (r rule) matches(args []string) bool {
	args = splitFlags(args)
	have := flagsOf(r.program, args)
	for _, f := range r.flags {
		if !slices.Contains(have, f) {
			return false
		}
	}
	// The rule's first word must be the call's first: "npm run publish" does
	// not match "npm publish". A word after a flag may be that flag's value.
	found, value, flags := 0, false, true
	for _, a := range args {
		switch {
		case flags && a == "--":
			flags = false
		case flags && isFlag(a):
			value = true
			continue
		case found < len(r.words) && (a == r.words[found] || strings.Contains(r.words[found], "=") && strings.HasPrefix(a, r.words[found])):
			found++
		case found == 0 && !value && len(r.words) > 0:
			return false
		}
		value = false
	}
	return found == len(r.words)
}

// isFlag reports whether an argument is a flag; "-" and "--" are not.
func isFlag(a string) bool { return len(a) > 1 && a[0] == '-' && a != "--" }

// splitFlags cuts --flag=value into flag and value.
func splitFlags(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i:]...)
		}
		name, value, ok := strings.Cut(a, "=")
		if !ok || !isFlag(a) {
			out = append(out, a)
			continue
		}
		out = append(out, name, value)
	}
	return out
}

// longFlags maps one-letter flags of a program to their long names. The
// programs listed here also accept unambiguous prefixes of long flags.
var longFlags = map[string]map[rune]string{
	"rm":    {'r': "--recursive", 'R': "--recursive", 'f': "--force"},
	"git":   {'f': "--force"},
	"npm":   {'f': "--force"},
	"cp":    {'r': "--recursive", 'R': "--recursive", 'f': "--force"},
	"chmod": {'R': "--recursive"},
	"chown": {'R': "--recursive"},
}

// flagsOf returns the flags among split arguments, each in one spelling: the
// long one if there is one, and short flags separately. A longer group of
// letters is kept whole, since with some programs -auto is one flag.
func flagsOf(program string, args []string) []string {
	var out []string
	long := longFlags[program]
	for _, a := range args {
		if a == "--" {
			break
		}
		if !isFlag(a) {
			continue
		}
		if strings.HasPrefix(a, "--") {
			for _, l := range long {
				if abbreviates(a, l) {
					a = l
				}
			}
			out = append(out, a)
			continue
		}
		if letters := a[1:]; len(letters) <= maxLetters {
			for _, c := range letters {
				if l := long[c]; l != "" {
					out = append(out, l)
				} else {
					out = append(out, "-"+string(c))
				}
			}
			continue
		}
		out = append(out, a)
	}
	return out
}

// abbreviates reports whether a is the long flag or a prefix of it. The program
// itself refuses an ambiguous prefix.
func abbreviates(a, long string) bool { return len(a) >= 3 && strings.HasPrefix(long, a) }

// maxLetters is the length up to which letters after a dash count as separate
// flags, not as one flag or a flag with its value.
const maxLetters = 5

// maxLinks limits the symbolic links followed, as the kernel does.
const maxLinks = 40

// resolve returns the absolute path of name, relative to dir, without links and
// dots, as far as it exists. follow applies to a link in the last element.
// Cleaning the text would be wrong: if a is a link, a/../b is not b.
func (c Call) resolve(name string, follow bool) string {
	if !strings.HasPrefix(name, "/") {
		name = c.Dir + "/" + name
	}
	at, rest := "/", strings.Split(name, "/")
	for seen := 0; len(rest) > 0; {
		step := rest[0]
		rest = rest[1:]
		switch step {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, step)
		if c.Readlink != nil && seen < maxLinks && (follow || len(rest) > 0) {
			if to, err := c.Readlink(next); err == nil {
				seen++
				if strings.HasPrefix(to, "/") {
					at = "/"
				}
				rest = append(strings.Split(to, "/"), rest...)
				continue
			}
		}
		at = next
	}
	return at
}
