package adapter

import (
	"io"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Default is the name of the agent that works where nothing else is said.
const Default = Claude

// Origin says where an agent's command line comes from.
type Origin int

// Origins of agents. The zero value is none of them.
const (
	FromPath    Origin = iota + 1 // Program, found on PATH, where [agents.X] names no other command
	FromSelf                      // nightporter itself, with Args
	FromCommand                   // always the command of [agents.X]
)

// Agent is the row of one agent: all that nightporter knows of it. Every cell
// of a row that is built is set; an agent to which a cell does not apply says
// so by the cell's empty value (NoLogin, NoStopHook, …), never by leaving it
// out. Rows are read and never changed.
type Agent struct {
	Name     string // in the configuration, as an agent and as a form of output
	Origin   Origin
	Reserved bool // the name is taken, and nothing else is built: only Name, Origin, Program and Secrets are set

	Program string // name of its program on PATH; "" for other origins
	Install string // the command that installs Program; "" for other origins

	// Command returns the arguments of one session besides those of Call.Args
	// and StopHook, and whether the prompt goes to standard input.
	Command func(c Call) (args []string, stdin bool, err error)
	// StopHook returns the arguments that make the program ask `hat hook stop`,
	// by the path of hat, before it ends a session. The hook holds a session
	// that wants to end without its event.
	StopHook func(hat string) (args []string, err error)
	// Read says what a session's output means: its head and tail with a mark
	// between them, and its exit as the shim recorded it. It never fails: what
	// is not understood is left unknown. known is Agent.failures.
	Read func(output io.Reader, x ledger.Exit, known []Failure) Verdict
	// Tail returns the last things that whole lines of output say, at most
	// most, the newest last. dir is the session's work folder.
	Tail func(lines []string, dir string, most int) []string

	Login    *Login    // what it logs in with
	Vars     []string  // NAME=VALUE: variables of its sessions; a line of env_file wins over each
	Secrets  []string  // paths below a home that hold its login: hidden from every session
	Failures []Failure // phrases of its own by which it says why it cannot go on
}

// Values of cells that do not apply.
var (
	NoLogin    = &Login{}
	NoVars     = []string{}
	NoSecrets  = []string{}
	NoFailures = []Failure{}
)

// NoStopHook is the StopHook of a program that has none. Its session ends, and
// the loop sees that there was no event.
func NoStopHook(string) ([]string, error) { return nil, nil }

// WholeLines is the Tail of an agent whose output is for people as it stands.
func WholeLines(lines []string, _ string, most int) []string {
	return lines[max(len(lines)-most, 0):]
}

// table is all agents, in the order in which init chooses among those that it
// finds.
var table = []*Agent{
	&claude,
	&codex, &opencode, &gemini, &qwen, &pi, &copilot,
	&scripted,
	&command,
}

// All returns every row but that of the user's commands.
func All() []*Agent {
	return slices.DeleteFunc(slices.Clone(table), func(a *Agent) bool { return a.Origin == FromCommand })
}

// Find returns the row of a name, which may be reserved; nil where there is
// none.
func Find(name string) *Agent {
	n := slices.IndexFunc(table, func(a *Agent) bool { return a.Name == name && a.Origin != FromCommand })
	if n < 0 {
		return nil
	}
	return table[n]
}

// Reads returns the built row that reads a form of output; "" is Text. It is
// nil where the form is unknown or reserved.
func Reads(output string) *Agent {
	if output == "" {
		output = Text
	}
	n := slices.IndexFunc(table, func(a *Agent) bool { return a.Name == output && !a.Reserved })
	if n < 0 {
		return nil
	}
	return table[n]
}

// Names returns the names that an agent of the configuration may have without
// a command of its own, in the table's order.
func Names() []string {
	var names []string
	for _, a := range All() {
		names = append(names, a.Name)
	}
	return names
}

// Outputs returns the forms of output that the configuration may name: text,
// and those of programs. The reserved ones are among them: Reads tells.
func Outputs() []string {
	names := []string{Text}
	for _, a := range table {
		if a.Origin == FromPath {
			names = append(names, a.Name)
		}
	}
	return names
}

// Secrets returns the paths below a home that hold a login of any agent.
func Secrets() []string {
	var paths []string
	for _, a := range table {
		paths = append(paths, a.Secrets...)
	}
	return append(paths, otherSecrets...)
}

// otherSecrets belong to agents that have no row.
var otherSecrets = []string{".cline"}

// CommandLine returns the arguments of a session behind the program, and
// whether the prompt goes to standard input. What a person has to mend is a
// *ledger.InputError.
func (a *Agent) CommandLine(c Call) (args []string, stdin bool, err error) {
	hook, err := a.StopHook(c.Hat)
	if err != nil {
		return nil, false, err
	}
	args, stdin, err = a.Command(c)
	if err != nil {
		return nil, false, err
	}
	return slices.Concat(c.Args, hook, args), stdin, nil
}

// Judge says what a session's output means. See Read.
func (a *Agent) Judge(output io.Reader, x ledger.Exit) Verdict {
	return a.Read(output, x, a.failures())
}

// Verdict is what an agent's output says. Unknown numbers are -1.
type Verdict struct {
	Failure ledger.FailureClass
	Until   time.Time // end of a limit, zero where it was not named
	Text    string    // the line that says so
	Turns   int
	Tokens  int64
	CostUSD float64
}

// unknown is the verdict on an output that says nothing.
func unknown() Verdict { return Verdict{Turns: -1, Tokens: -1, CostUSD: -1} }
