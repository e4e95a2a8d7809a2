package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop/agent/adapter"
)

// Names under which the agent is found: in the configuration, and as a
// command of nightporter.
const (
	Agent   = adapter.Scripted
	Command = "demo-agent"
)

// maxPrompt is more than any prompt that nightporter builds, in bytes.
const maxPrompt = 16 << 20

// Main is the scripted agent: one session, from the prompt on stdin to the
// one event that it emits with hat (docs/spec 2.2). It works in the process's
// working directory. args are those behind the command's name; with
// --pace D it waits as long as people need to watch, a planner D and a builder
// 3·D, and without not at all. getenv finds HAT_NAME and HAT_TASK.
//
// It returns the exit code: 0 event accepted, 2 usage, else what hat returned
// or 1, with the reason on stderr.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	flags := flag.NewFlagSet(Command, flag.ContinueOnError)
	flags.SetOutput(stderr)
	pace := flags.Duration("pace", 0, "time that a planner takes; a builder takes three of it")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return api.ExitUsage
	case flags.NArg() > 0 || *pace < 0:
		_, _ = fmt.Fprintf(stderr, "%s: usage: %s [--pace DURATION], the prompt on standard input\n", Command, Command)
		return api.ExitUsage
	}
	// Whoever wants this process to end sends a signal, and it ends.
	code, err := run(context.Background(), *pace, stdin, stdout, stderr, getenv)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "%s: %v\n", Command, err)
	}
	return code
}

func run(ctx context.Context, pace time.Duration, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) (int, error) {
	text, err := io.ReadAll(io.LimitReader(stdin, maxPrompt))
	if err != nil {
		return 1, fmt.Errorf("read prompt: %w", err)
	}
	// A root, because in a repository of one's own a name in it may be a link
	// that leads elsewhere.
	root, err := os.OpenRoot(".")
	if err != nil {
		return 1, fmt.Errorf("open work folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	s := &session{hat: getenv(api.EnvName), prompt: parsePrompt(string(text)), root: root, out: stdout}
	s.task, s.title = s.prompt.task()
	if id := getenv(api.EnvTask); id != "" {
		s.task = id
	}
	s.say("scripted %s, %s: %s", s.hat, s.task, s.title)
	play := s.part()
	if wait := time.Duration(play.pace) * pace; wait > 0 {
		time.Sleep(wait)
	}
	e, err := play.act(s)
	if err != nil {
		return 1, err
	}
	return emit(ctx, e, stdout, stderr)
}

// session is what the agent knows and does in one session.
type session struct {
	hat, task, title string
	prompt           parsedPrompt
	inStory          bool // a task of the sample repository
	root             *os.Root
	out              io.Writer
	changed          []string // paths that were written or removed, in order
	reports          []report // on guidance
}

// say tells whoever watches the session's output.
func (s *session) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
}

// part is what a session plays.
type part struct {
	pace int // length, in units of --pace
	act  act
}

// Events that the agent's hats end with (docs/spec 4.2).
const (
	planComplete  = "plan.complete"
	buildComplete = "build.complete"
	reviewVerdict = "review.verdict"
	fixComplete   = "fix.complete"
	taskBlocked   = "task.blocked"

	docsComplete     = "docs.complete"
	refactorComplete = "refactor.complete"
	verifyPassed     = "verification.passed"
	critiqueVerdict  = "critique.verdict"
	adviceComplete   = "advice.complete"
)

// lengths of a session, by its own event, in units of --pace.
var lengths = map[string]int{planComplete: 1, buildComplete: 3, reviewVerdict: 1, fixComplete: 2,
	docsComplete: 1, refactorComplete: 1, verifyPassed: 1, critiqueVerdict: 1, adviceComplete: 1}

// part chooses what to play: by the event that the prompt asks for, because
// hats may have any name, and by the name where a prompt does not say.
func (s *session) part() part {
	own := s.prompt.event()
	if own == "" {
		own = map[string]string{"planner": planComplete, "builder": buildComplete, "reviewer": reviewVerdict, "fixer": fixComplete}[s.hat]
	}
	if acts, ok := story[s.title]; ok && s.inSample() {
		if act, ok := acts[own]; ok {
			s.inStory = true
			p := part{lengths[own], act}
			if s.title == titleTill && own == planComplete {
				p.pace += TypedAfter + 1 // until the words are typed, and read
			}
			return p
		}
	}
	if act, ok := anywhere[own]; ok {
		return part{lengths[own], act}
	}
	return part{1, func(s *session) (event, error) {
		return blocked(fmt.Sprintf("the scripted agent can play the shipped hats but the reproducer; it cannot be a %s", s.hat),
			"nothing", "another agent for this hat"), nil
	}}
}

// event is what a session ends with: an event with its payload, or a question.
type event struct {
	name string
	data map[string]any
	ask  *question
}

// question is asked instead of an event (docs/spec 11, hat ask).
type question struct {
	text    string
	options []string
	choice  string
}

// report is what the event says of one guidance (docs/spec 5.4).
type report struct {
	ID       string `json:"id"`
	Done     bool   `json:"done,omitempty"`
	SetAside bool   `json:"set_aside,omitempty"`
	Note     string `json:"note"`
}

func blocked(reason, tried, needs string) event {
	return event{name: taskBlocked, data: map[string]any{"reason": reason, "tried": tried, "needs": needs}}
}

// end is the hat's own event, with a report on every guidance that is owed.
// What no part of the script spoke of is set aside.
func (s *session) end(name, summary string, data map[string]any) event {
	if data == nil {
		data = map[string]any{}
	}
	data["summary"] = summary
	var reports []report
	for _, id := range s.prompt.owed() {
		n := slices.IndexFunc(s.reports, func(r report) bool { return r.ID == id })
		if n < 0 {
			s.reports = append(s.reports, report{ID: id, SetAside: true, Note: s.excuse()})
			n = len(s.reports) - 1
		}
		reports = append(reports, s.reports[n])
	}
	if len(reports) > 0 {
		data["guidance"] = reports
	}
	return event{name: name, data: data}
}

// endWritten ends a session that may write. One that changed nothing says so;
// where verification was red, that is nothing to go on with.
func (s *session) endWritten(name, summary string, data map[string]any) event {
	if data == nil {
		data = map[string]any{}
	}
	if len(s.changed) == 0 {
		if s.prompt.red() {
			return blocked("verification fails, and the script of this agent ends here", summary, "an agent that can think")
		}
		if data["no_change"] == nil {
			data["no_change"] = "what the script writes here is there already"
		}
	}
	data["files_modified"] = append([]string{}, s.changed...) // [] rather than null
	return s.end(name, summary, data)
}

// maxLater is how often an event is sent that hat could not deliver: each try
// takes half a minute, which is a restart of the daemon.
const maxLater = 4

// emit sends the event with the hat that is first on PATH, and returns its
// exit code.
func emit(ctx context.Context, e event, stdout, stderr io.Writer) (int, error) {
	var args []string
	var data []byte
	if q := e.ask; q != nil {
		args = []string{"ask", q.text}
		for _, o := range q.options {
			args = append(args, "--option", o)
		}
		args = append(args, "--choice", q.choice)
	} else {
		var err error
		if data, err = json.Marshal(e.data); err != nil {
			return 1, fmt.Errorf("encode %s: %w", e.name, err)
		}
		args = []string{"emit", e.name, "--data", "-"}
	}
	for try := 1; ; try++ {
		cmd := exec.CommandContext(ctx, "hat", args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), stdout, stderr
		err := cmd.Run()
		var exit *exec.ExitError
		switch {
		case err == nil:
			return 0, nil
		case !errors.As(err, &exit):
			return 1, fmt.Errorf("run hat: %w", err)
		case exit.ExitCode() == api.ExitLater && try < maxLater:
			continue
		case exit.ExitCode() > 0:
			return exit.ExitCode(), fmt.Errorf("hat %s: exit %d", args[0], exit.ExitCode())
		default: // by a signal
			return 1, fmt.Errorf("hat %s: %w", args[0], err)
		}
	}
}
