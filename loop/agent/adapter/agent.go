package adapter

import (
	"io"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Default is the name of the agent that is used unless the configuration names
// another.
const Default = Claude

// Origin is the source of an agent's command line.
type Origin int

// Origins of agents. The zero value is invalid.
const (
	FromPath    Origin = iota + 1 // Program on PATH, unless [agents.X] has a command
	FromSelf                      // nightporter itself, with Args
	FromCommand                   // [agents.X] always names the command
)

// Agent is the row of one agent in the table: everything that nightporter knows
// of it. Every cell is set; a cell that does not apply has its
// empty value (NoLogin, NoStopHook, …), never the zero value. Rows are never
// changed.
type Agent struct {
	Name   string // its name in the configuration, as an agent and as an output format
	Origin Origin

	Program string // name of its program on PATH; "" for other origins
	Install string // the command that installs Program; "" for other origins
	// Measured is the release that all this was measured with, and the day.
	Measured Measured

	// Command returns the arguments of one session without Call.Args and those
	// of StopHook and MCP, and whether the prompt goes to standard input.
	Command func(c Call) (args []string, stdin bool, err error)
	// StopHook makes the program call `hat hook stop` before it ends a session.
	StopHook *StopHook
	// MCP returns the arguments that make the program start `hat mcp` and offer its
	// tools to the model; hat is that program's path.
	MCP func(hat string) (args []string, err error)
	// Read derives a verdict from a session's output (head and tail with a mark
	// between them) and its exit. It never fails: unrecognised output leaves
	// the verdict unknown. known is Agent.failures.
	Read func(output io.Reader, x ledger.Exit, known []Failure) Verdict
	// LastMessage returns what the agent said last in a session's output, "" if that
	// is not known.
	LastMessage func(output io.Reader) string
	// Tail returns the latest actions and texts in complete lines of output, at
	// most most, the newest last. dir is the session's work folder.
	Tail func(lines []string, dir string, most int) []string
	// Idle is the share of one processor that the program uses while it only waits for
	// its model, with a margin. CPU use below it is no sign of life.
	Idle float64
	// Circle returns a reader of the lines of one session while it runs, in their
	// order. The reader says why the session goes in a circle, "" while it may get
	// on. A line longer than the caller keeps comes without its end. A nil reader
	// reads nothing.
	Circle func() func(line []byte) (why string)

	// Spent returns a reader of the lines of one session while it runs, in their order,
	// that says what its answers have cost so far. A line longer than LongestLine is cut
	// off there. NoSpent is that of a program whose stream tells no figures before
	// its end. A program that keeps to Launch.MaxUSD by itself tells tokens alone.
	Spent func() func(line []byte, cut bool) Spending

	// Reports says for people which figures its output has: "tokens and cost".
	Reports string
	// Cost says whether its output has the cost of a session, at least where it knows
	// the model's price.
	Cost CostReport
	// Guesses reports whether the cost in its output is a guess for the model, by the
	// name that the configuration has for it. Read leaves a guess out.
	Guesses func(model string) bool
	// Kinds says whether its output has a session's tokens by kind, so that a price of
	// its model gives the cost.
	Kinds KindsReport

	Login *Login // the files and variables of its login
	// Vars are NAME=VALUE variables of its sessions; env_file overrides them. A value
	// ~/PATH is a path below a session's HOME.
	Vars []string
	// Home has the content of files, by their path below a session's HOME, that keep
	// the program from asking for downloads.
	Home map[string]string
	// Untrusted has further files of HOME, for a repository that is not trusted: they keep
	// the program from settings that lie in it.
	Untrusted map[string]string
	// Settings are paths below a repository in which the program finds settings that
	// nothing of its own keeps it from. Sessions on a repository that is not trusted have
	// them hidden, at a boundary level that can hide (docs/spec 12.1).
	Settings []string
	Secrets  []string  // paths below HOME that hold its login, hidden from every session
	Failures []Failure // phrases with which it reports that it cannot go on
}

// Measured is a release of a program that was measured: its command line, stream,
// figures, errors and login, with a scripted model server.
type Measured struct {
	Version string
	Day     string // 2026-11-27
}

// CostReport says whether an agent reports what its sessions cost.
type CostReport string

// Values of CostReport.
const (
	CostReported CostReport = "reported"
	CostUnknown  CostReport = "unknown"
)

// KindsReport says whether an agent reports tokens by kind.
type KindsReport string

// Values of KindsReport.
const (
	KindsReported KindsReport = "reported"
	KindsUnknown  KindsReport = "unknown"
)

// Values of cells that do not apply.
var (
	NoLogin    = &Login{}
	NoVars     = []string{}
	NoHome     = map[string]string{}
	NoSettings = []string{} // of a repository that is not trusted, the program reads none
	NoSecrets  = []string{}
	NoFailures = []Failure{}
	NoStopHook = &StopHook{} // a session may end without its event, which the loop notices
)

// HomeStopHook is the StopHook of a program that is told of hooks in the files of Home
// alone.
var HomeStopHook = &StopHook{}

// NoMCP is the MCP of a program that is told of servers in another way than by
// nightporter: in its own configuration, or not at all.
func NoMCP(string) ([]string, error) { return nil, nil }

// IdleWaits is the Idle of programs that merely wait.
const IdleWaits = 0.01

// NoCircle is the Circle of a program that is not known to go in circles.
func NoCircle() func([]byte) string { return nil }

// NoGuess is the Guesses of a program that reports no cost for a model that it does not
// know.
func NoGuess(string) bool { return false }

// NoSpent is the Spent of a program whose stream does not say while it runs what it
// costs.
func NoSpent() func([]byte, bool) Spending { return nil }

// WholeLines is the Tail of an agent whose output is already readable.
func WholeLines(lines []string, _ string, most int) []string {
	return lines[max(len(lines)-most, 0):]
}

// agents holds all agents, in the order in which init chooses among the
// installed ones.
var agents = []*Agent{
	&claude,
	&codex, &opencode, &gemini, &qwen, &pi, &copilot,
	&scripted,
	&command,
}

// All returns all rows except the one for the user's own commands.
func All() []*Agent {
	return slices.DeleteFunc(slices.Clone(agents), func(a *Agent) bool { return a.Origin == FromCommand })
}

// Find returns the row with that name, or nil.
func Find(name string) *Agent {
	n := slices.IndexFunc(agents, func(a *Agent) bool { return a.Name == name && a.Origin != FromCommand })
	if n < 0 {
		return nil
	}
	return agents[n]
}

// FindOutput returns the row for an output format; "" means Text. It returns nil for
// an unknown one.
func FindOutput(output string) *Agent {
	if output == "" {
		output = Text
	}
	n := slices.IndexFunc(agents, func(a *Agent) bool { return a.Name == output })
	if n < 0 {
		return nil
	}
	return agents[n]
}

// Names returns the agents that the configuration may name without a command,
// in the table's order.
func Names() []string {
	var names []string
	for _, a := range All() {
		names = append(names, a.Name)
	}
	return names
}

// Outputs returns the output formats that the configuration may name: text and
// those of programs.
func Outputs() []string {
	names := []string{Text}
	for _, a := range agents {
		if a.Origin == FromPath {
			names = append(names, a.Name)
		}
	}
	return names
}

// Secrets returns the paths below HOME that hold a login of any agent.
func Secrets() []string {
	var paths []string
	for _, a := range agents {
		paths = append(paths, a.Secrets...)
	}
	return append(paths, otherSecrets...)
}

// otherSecrets are login paths of agents without a row.
var otherSecrets = []string{".cline"}

// CommandLine returns a session's arguments, and whether the prompt goes to
// standard input. A mistake in the configuration is a *ledger.InputError.
func (a *Agent) CommandLine(c Call) (args []string, stdin bool, err error) {
	var hook []string
	if a.StopHook.Args != nil {
		if hook, err = a.StopHook.Args(c); err != nil {
			return nil, false, err
		}
	}
	var server []string
	if c.MCP {
		if server, err = a.MCP(c.Hat); err != nil {
			return nil, false, err
		}
	}
	args, stdin, err = a.Command(c)
	if err != nil {
		return nil, false, err
	}
	return slices.Concat(c.Args, server, hook, args), stdin, nil
}

// Judge derives a verdict from a session's output; see Read.
func (a *Agent) Judge(output io.Reader, x ledger.Exit) Verdict {
	return a.Read(output, x, a.failures()).plausible()
}

// Verdict is the result of reading an agent's output. Unknown numbers are -1.
type Verdict struct {
	Failure    ledger.FailureClass
	Until      time.Time // end of a limit, zero if unknown
	Text       string    // the line that reports the failure
	Unverified bool      // Failure was read from plain output, which anything in the session can write
	Turns      int
	Tokens     int64
	Usage      *ledger.TokenUsage // Tokens by kind; nil = unknown
	Model      string             // the one model that worked, by the name that the output has; "" = unknown
	Several    bool               // several models worked, so that no one price is that of Usage
	CostUSD    float64
	OverBudget bool                 // the program ended because it had spent what it may
	Window     *ledger.UsageWindow  // the fullest of Windows; nil = unknown
	Windows    []ledger.UsageWindow // none = unknown
	Uncounted  bool                 // the stream has events or figures in a form that is not known, as after an update; those figures are unknown
}

// unknownVerdict returns a verdict without any information.
func unknownVerdict() Verdict { return Verdict{Turns: -1, Tokens: -1, CostUSD: -1} }
