package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// RulesFile is the file of Rules, as JSON, in the folder of the wrappers. They
// find it by their own path; an agent could unset a variable.
const RulesFile = "rules.json"

// DeniedFile is the file, in the TMPDIR beside the folder of the wrappers,
// that gets a line for each refused call.
const DeniedFile = ".denied"

// Exit codes of a wrapper that does not become its program.
const (
	// ExitRefused is EX_NOPERM of sysexits.h. 126 and 127 would mean that the
	// agent itself could not be started.
	ExitRefused  = 77
	ExitNotFound = 127 // no such program behind the wrapper, as in a shell
)

// envDepth counts the wrappers above a process. It ends the loop of a program
// that calls its wrapper again.
const envDepth = "HAT_GUARD"

// maxDepth exceeds the depth of any build that calls itself.
const maxDepth = 100

// Wrapper is this process, started under another program's name.
type Wrapper struct {
	name string // the other program's name
	dir  string // folder of the wrappers
	at   int    // index in PATH, -1 if missing
	path []string
	self os.FileInfo
}

// Find reports whether this process is a wrapper: its name lies beside a file
// of rules and links to this program. called is argv[0].
func Find(called string) (Wrapper, bool) {
	w := Wrapper{name: filepath.Base(called), at: -1, path: filepath.SplitList(os.Getenv("PATH"))}
	if w.name == "hat" || w.name == "nightporter" || called == "" {
		return w, false // without a look at the disk, since every call of hat gets here
	}
	me, err := os.Executable()
	if err != nil {
		return w, false
	}
	if w.self, err = os.Stat(me); err != nil {
		return w, false
	}
	if strings.Contains(called, "/") {
		w.dir = filepath.Dir(called)
	}
	for i, dir := range w.path {
		if !filepath.IsAbs(dir) || w.dir != "" && filepath.Clean(dir) != filepath.Clean(w.dir) {
			continue
		}
		if w.isWrapperFolder(dir) {
			w.dir, w.at = dir, i
			return w, true
		}
	}
	return w, w.dir != "" && w.isWrapperFolder(w.dir)
}

// isWrapperFolder reports whether dir holds wrappers that link to this program.
func (w Wrapper) isWrapperFolder(dir string) bool {
	if !w.isSelf(filepath.Join(dir, w.name)) {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, RulesFile))
	return err == nil
}

func (w Wrapper) isSelf(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && os.SameFile(fi, w.self)
}

// Main checks the call and becomes the program, in the same process with the
// same files and environment. It only returns if it did not: with the exit
// code.
func (w Wrapper) Main(args []string, stderr io.Writer) int {
	depth, _ := strconv.Atoi(os.Getenv(envDepth)) // 0 for anything but a number
	if depth >= maxDepth {
		return w.say(stderr, ExitRefused, fmt.Sprintf("%s is called from itself %d times over", w.name, depth))
	}
	rules, err := load(filepath.Join(w.dir, RulesFile))
	if err != nil {
		return w.say(stderr, ExitRefused, fmt.Sprintf("%s is not run, because what is denied cannot be read: %v", w.name, err))
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "/" // a deleted folder: nothing in it can be named
	}
	if no, denied := rules.Check(Call{Program: w.name, Args: args, Dir: dir, Readlink: os.Readlink}); denied {
		w.note(no)
		return w.say(stderr, ExitRefused, no.text(rules.Hat, w.name, args))
	}
	prog := w.realProgram()
	if prog == "" {
		return w.say(stderr, ExitNotFound, w.name+" is not found on PATH")
	}
	env := append(os.Environ(), envDepth+"="+strconv.Itoa(depth+1))
	if depth > 0 {
		env = os.Environ()
		for i, v := range env {
			if strings.HasPrefix(v, envDepth+"=") {
				env[i] = envDepth + "=" + strconv.Itoa(depth+1)
			}
		}
	}
	err = syscall.Exec(prog, append([]string{w.name}, args...), env)
	if errors.Is(err, syscall.ENOEXEC) { // a script without a #! line
		err = syscall.Exec("/bin/sh", append([]string{"/bin/sh", prog}, args...), env)
	}
	return w.say(stderr, ExitRefused, fmt.Sprintf("%s: %v", prog, err))
}

// realProgram returns the program behind the wrapper: the first of its name in
// PATH after the wrapper's folder that is no wrapper. Earlier folders are
// ignored, so that two folders of wrappers never lead to each other.
func (w Wrapper) realProgram() string {
	for _, dir := range w.path[w.at+1:] {
		if !filepath.IsAbs(dir) {
			continue
		}
		p := filepath.Join(dir, w.name)
		fi, err := os.Stat(p)
		if err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 && !os.SameFile(fi, w.self) {
			return p
		}
	}
	return ""
}

// note records the rule of a refused call, without its arguments, which may hold a
// key. It ignores errors: the refusal holds without it.
func (w Wrapper) note(no Refusal) {
	rule := no.Rule
	if rule == "" {
		rule = w.name + " push" // to a protected branch
	}
	file := filepath.Join(filepath.Dir(w.dir), "tmp", DeniedFile)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(rule + "\n")
	_ = f.Close()
}

func (w Wrapper) say(stderr io.Writer, code int, text string) int {
	_, _ = fmt.Fprintln(stderr, "nightporter: "+text) // no other output exists to report a failure
	return code
}

func load(path string) (Rules, error) {
	var r Rules
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// maxShown limits the part of a refused command that is repeated, in bytes.
const maxShown = 200

// text returns the refusal as the agent reads it.
func (no Refusal) text(hat, program string, args []string) string {
	shown := strings.ToValidUTF8(strings.Join(append([]string{program}, args...), " "), "?")
	if len(shown) > maxShown {
		shown = strings.ToValidUTF8(shown[:maxShown], "") + "…"
	}
	whom := "this session"
	if hat != "" {
		whom = "the " + hat
	}
	text := fmt.Sprintf("`%s` is denied to %s: %s", shown, whom, no.Why)
	if no.Rule != "" {
		text += fmt.Sprintf(" (rule %q)", no.Rule)
	}
	return text + ".\nInstead: " + no.Instead + "."
}
