package guard

import (
	"path"
	"slices"
	"strings"
)

// Call is one start of a program.
type Call struct {
	Program string   // its name, without folder
	Args    []string // behind the name, as the shell left them
	Dir     string   // working directory, absolute
	// Readlink returns what a symbolic link says, and an error for everything
	// else. nil: there are no links.
	Readlink func(string) (string, error)
}

// Refusal is why a call is denied.
type Refusal struct {
	Rule    string // as it was written, "" for a protected branch
	Why     string // what the call would do
	Instead string // what to do
}

// Check looks at a call. It reports false where no rule denies it.
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
			refusal.Why = overwrites(args)
			refusal.Instead = "add a commit to what is there; nightporter pushes the run's branch itself"
		case remove:
			refusal.Why = r.outside(c)
			refusal.Instead = "delete by name what lies in the work folder, in $TMPDIR or in $HOME"
		case format:
			refusal.Why = "it makes a file system"
		case device:
			refusal.Why = writesDevice(c)
		case sql:
			refusal.Why = d.sqlIn(c)
			refusal.Instead = "change the data by a migration that can be undone, or end with hat ask"
		}
		if refusal.Why != "" {
			return refusal, true
		}
	}
	if c.Program == "git" {
		if why := r.protected(args); why != "" {
			return Refusal{Why: why, Instead: "commit, and leave the push: nightporter pushes the run's branch itself"}, true
		}
	}
	return Refusal{}, false
}

// matches reports whether a call has the rule's flags and words.
func (r rule) matches(args []string) bool {
	args = split(args)
	have := flagsOf(r.program, args)
	for _, f := range r.flags {
		if !slices.Contains(have, f) {
			return false
		}
	}
	// The first word is the call's first: npm run publish publishes nothing.
	// What follows a flag may be the flag's value.
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

// isFlag reports whether an argument is one; "-" and "--" are none.
func isFlag(a string) bool { return len(a) > 1 && a[0] == '-' && a != "--" }

// split parts --flag=value into flag and value.
func split(args []string) []string {
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

// longs are the long names of one-letter flags, where a program has both. One
// that is listed also takes long flags by their beginnings.
var longs = map[string]map[rune]string{
	"rm":    {'r': "--recursive", 'R': "--recursive", 'f': "--force"},
	"git":   {'f': "--force"},
	"npm":   {'f': "--force"},
	"cp":    {'r': "--recursive", 'R': "--recursive", 'f': "--force"},
	"chmod": {'R': "--recursive"},
	"chown": {'R': "--recursive"},
}

// flagsOf are the flags among split arguments, each in one spelling: long
// where there is a long one, short ones apart. A group of letters is listed
// whole as well: with some programs, -auto is one flag.
func flagsOf(program string, args []string) []string {
	var out []string
	long := longs[program]
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

// abbreviates reports whether a flag is the long one or a beginning of it.
// Where that is another one's too, the program would refuse the call anyway.
func abbreviates(a, long string) bool { return len(a) >= 3 && strings.HasPrefix(long, a) }

// maxLetters is how many letters behind one dash are flags of their own, not
// the name of one or a flag with its value.
const maxLetters = 5

// links is how many symbolic links are followed; the kernel has the same limit.
const links = 40

// resolve is the absolute path that name leads to from dir, without links and
// dots, as far as it exists. follow says whether a link in the last place is
// followed too. Cleaning the text would not do: a/../b is elsewhere where a is
// a link.
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
		if c.Readlink != nil && seen < links && (follow || len(rest) > 0) {
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
