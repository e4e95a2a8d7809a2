package guard

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// gitOptionsWithValue are git's own options whose value is the next argument.
var gitOptionsWithValue = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source", "--exec-path"}

// gitCommand returns git's command and its arguments, without git's own
// options.
func gitCommand(args []string) []string {
	for len(args) > 0 && isFlag(args[0]) {
		skip := 1
		// --exec-path without a value only prints the path.
		if slices.Contains(gitOptionsWithValue, args[0]) && args[0] != "--exec-path" {
			skip = 2
		}
		args = args[min(skip, len(args)):]
	}
	return args
}

// pushArgs are the parsed arguments of a git push.
type pushArgs struct {
	overwrites string   // the argument that overwrites or deletes, "" for none
	all        string   // the option that selects all branches
	tags       bool     // whether tags are pushed
	refs       []string // arguments after the remote
}

// pushOptionsWithValue are options of git push whose value is the next
// argument.
var pushOptionsWithValue = []string{"-o", "--push-option", "--repo", "--receive-pack", "--exec", "--recurse-submodules"}

// parsePush parses the arguments of git push or of its plumbing, send-pack. It
// is false for any other command.
func parsePush(args []string) (pushArgs, bool) {
	var p pushArgs
	if len(args) == 0 || args[0] != "push" && args[0] != "send-pack" {
		return p, false
	}
	var words []string
	flags := true
	args = args[1:]
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case flags && a == "--":
			flags = false
		case flags && slices.Contains(pushOptionsWithValue, a):
			i++
		case flags && strings.HasPrefix(a, "--"):
			p.parseLong(a)
		case flags && isFlag(a):
			p.parseShort(a)
		default:
			words = append(words, a)
		}
	}
	if len(words) > 0 {
		words = words[1:] // the remote
	}
	for i := 0; i < len(words); i++ {
		if words[i] == "tag" && i+1 < len(words) {
			i++
			words[i] = "refs/tags/" + words[i]
		}
		p.refs = append(p.refs, words[i])
	}
	for _, ref := range p.refs {
		if strings.HasPrefix(ref, "+") || strings.HasPrefix(ref, ":") && ref != ":" {
			p.overwrites = ref
		}
	}
	return p, true
}

// parseLong handles a long option. git accepts prefixes of them.
func (p *pushArgs) parseLong(a string) {
	name, _, _ := strings.Cut(a, "=")
	is := func(longs ...string) bool {
		return slices.ContainsFunc(longs, func(long string) bool { return abbreviates(name, long) })
	}
	switch {
	case is("--force", "--force-with-lease", "--mirror", "--delete", "--prune"):
		p.overwrites = a
	case is("--all", "--branches"):
		p.all = a
	case is("--tags"):
		p.tags = true
	}
}

// parseShort handles a group of one-letter options. The rest after o is its
// value.
func (p *pushArgs) parseShort(a string) {
	for _, c := range a[1:] {
		switch c {
		case 'f', 'd':
			p.overwrites = "-" + string(c)
		case 'o':
			return
		}
	}
}

// forcedPush returns why a push overwrites or deletes, "" if it does not.
func forcedPush(args []string) string {
	if p, ok := parsePush(args); ok && p.overwrites != "" {
		return fmt.Sprintf("%s overwrites or deletes what is there", p.overwrites)
	}
	return ""
}

// protectedPush returns why a push would write a protected branch, "" if it
// would not.
func (r Rules) protectedPush(args []string) string {
	p, ok := parsePush(args)
	if !ok || len(r.Protected) == 0 {
		return ""
	}
	if p.all != "" {
		return p.all + " pushes protected branches too"
	}
	if len(p.refs) == 0 && !p.tags {
		return "it does not name the branch that it writes, which could be a protected one"
	}
	for _, ref := range p.refs {
		src, dst, ok := strings.Cut(strings.TrimPrefix(ref, "+"), ":")
		if !ok {
			dst = src
		}
		glob := strings.Contains(dst, "*")
		if other, ok := strings.CutPrefix(dst, "refs/"); ok && !strings.HasPrefix(other, "h") && !strings.HasPrefix(other, "*") {
			continue // a tag or a note; refs/h* may match branches
		}
		branch := strings.TrimPrefix(strings.TrimPrefix(dst, "refs/"), "heads/")
		switch {
		case dst == "" || dst == "HEAD" || dst == "@" || glob:
			return fmt.Sprintf("%q does not name the branch that it writes, which could be a protected one", ref)
		case slices.ContainsFunc(r.Protected, func(glob string) bool { return glob == branch || match(glob, branch) }):
			return "the branch " + branch + " is protected"
		}
	}
	return ""
}

// match reports whether a name matches a glob in which ** stands for any number
// of folders, which package path does not support.
func match(glob, name string) bool {
	globs, names := strings.Split(glob, "/"), strings.Split(name, "/")
	g, n := 0, 0
	star, from := -1, 0 // the last **, and the first name after its match
	for n < len(names) {
		switch {
		case g < len(globs) && globs[g] == "**":
			star, from = g, n
			g++
		case g < len(globs) && matchesName(globs[g], names[n]):
			g++
			n++
		case star >= 0:
			from++
			g, n = star+1, from
		default:
			return false
		}
	}
	for g < len(globs) && globs[g] == "**" {
		g++
	}
	return g == len(globs)
}

func matchesName(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}
