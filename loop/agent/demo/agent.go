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

// Names of the scripted agent: in the configuration, and as a command of
// nightporter.
const (
	Agent   = adapter.Scripted
	Command = "demo-agent"
)

// maxPrompt limits the prompt's size, in bytes. nightporter builds none as
// large.
const maxPrompt = 16 << 20

// Main runs one session of the scripted agent, from the prompt on stdin to the
// one event that it emits with hat (docs/spec 2.2), in the process's working
// directory. args are the arguments behind the command's name. With --pace D it
// waits so that people can watch: a planner for D, a builder for 3·D; without
// it, Main does not wait. getenv provides HAT_NAME and HAT_TASK.
//
// The result is the exit code: 0 for an accepted event, 2 for wrong usage, else
// hat's own exit code or 1, with the reason on stderr.
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
	// No signal handler: a signal ends this process at once.
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
	// os.Root, because a name in a person's repository may be a link that leads
	// elsewhere.
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
	s.printf("scripted %s, %s: %s", s.hat, s.task, s.title)
	play := s.chooseAct()
	if wait := time.Duration(play.pace) * pace; wait > 0 {
		time.Sleep(wait)
	}
	e, err := play.act(s)
	if err != nil {
		return 1, err
	}
	return emit(ctx, e, stdout, stderr)
}

// session is the state of the agent during one session.
type session struct {
	hat, task, title string
	prompt           parsedPrompt
	inSampleTask     bool // the task belongs to the sample repository
	root             *os.Root
	out              io.Writer
	changed          []string // written and removed paths, in order
	reports          []report // on guidance
}

// printf prints a line for people who watch the session's output.
func (s *session) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
}

// timedAct is the act that a session performs, with its duration.
type timedAct struct {
	pace int // duration in units of --pace
	act  act
}

// Events that the agent's hats emit (docs/spec 4.2).
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
	triageVerdict    = "triage.verdict"
)

// durations are the durations of sessions in units of --pace, by the event of
// their hat.
var durations = map[string]int{planComplete: 1, buildComplete: 3, reviewVerdict: 1, fixComplete: 2,
	docsComplete: 1, refactorComplete: 1, verifyPassed: 1, critiqueVerdict: 1, adviceComplete: 1, triageVerdict: 1}

// chooseAct chooses the act by the event that the prompt asks for, because hats
// may have any name. It uses the hat's name if the prompt names no event.
func (s *session) chooseAct() timedAct {
	own := s.prompt.event()
	if own == "" {
		own = map[string]string{"planner": planComplete, "builder": buildComplete, "reviewer": reviewVerdict, "fixer": fixComplete}[s.hat]
	}
	if acts, ok := story[s.title]; ok && s.inSample() {
		if act, ok := acts[own]; ok {
			s.inSampleTask = true
			p := timedAct{durations[own], act}
			if s.title == titleTill && own == planComplete {
				p.pace += TypedAfter + 1 // time for the guidance to be typed and read
			}
			return p
		}
	}
	if act, ok := genericScript[own]; ok {
		return timedAct{durations[own], act}
	}
	return timedAct{1, func(s *session) (event, error) {
		return blocked(fmt.Sprintf("the scripted agent can play the shipped hats but the reproducer; it cannot be a %s", s.hat),
			"nothing", "another agent for this hat"), nil
	}}
}

// event is the result of a session: an event with its payload, or a question.
type event struct {
	name     string
	data     map[string]any
	question *question
}

// question is the alternative to an event (docs/spec 11, hat ask).
type question struct {
	text    string
	options []string
	choice  string
}

// report is the event's statement about one guidance (docs/spec 5.4).
type report struct {
	ID       string `json:"id"`
	Done     bool   `json:"done,omitempty"`
	SetAside bool   `json:"set_aside,omitempty"`
	Note     string `json:"note"`
}

func blocked(reason, tried, needs string) event {
	return event{name: taskBlocked, data: map[string]any{"reason": reason, "tried": tried, "needs": needs}}
}

// endEvent returns the hat's own event, with a report on every guidance that
// needs one. It declines the guidance that the script did not handle.
func (s *session) endEvent(name, summary string, data map[string]any) event {
	if data == nil {
		data = map[string]any{}
	}
	data["summary"] = summary
	var reports []report
	for _, id := range s.prompt.owedReports() {
		n := slices.IndexFunc(s.reports, func(r report) bool { return r.ID == id })
		if n < 0 {
			s.reports = append(s.reports, report{ID: id, SetAside: true, Note: s.unfollowedNote()})
			n = len(s.reports) - 1
		}
		reports = append(reports, s.reports[n])
	}
	if len(reports) > 0 {
		data["guidance"] = reports
	}
	return event{name: name, data: data}
}

// endWriting ends a session of a hat that may write. A session without changes
// says so in its event; after a failed verification it is blocked instead.
func (s *session) endWriting(name, summary string, data map[string]any) event {
	if data == nil {
		data = map[string]any{}
	}
	if len(s.changed) == 0 {
		if s.prompt.verificationFailed() {
			return blocked("verification fails, and the script of this agent ends here", summary, "an agent that can think")
		}
		if data["no_change"] == nil {
			data["no_change"] = "what the script writes here is there already"
		}
	}
	data["files_modified"] = append([]string{}, s.changed...) // [] rather than null
	return s.endEvent(name, summary, data)
}

// maxAttempts limits the attempts to send an event that hat could not deliver.
// Each attempt takes half a minute, which covers a restart of the daemon.
const maxAttempts = 4

// emit sends the event with the first hat on PATH, and returns hat's exit code.
func emit(ctx context.Context, e event, stdout, stderr io.Writer) (int, error) {
	var args []string
	var data []byte
	if q := e.question; q != nil {
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
		case exit.ExitCode() == api.ExitLater && try < maxAttempts:
			continue
		case exit.ExitCode() > 0:
			return exit.ExitCode(), fmt.Errorf("hat %s: exit %d", args[0], exit.ExitCode())
		default: // killed by a signal
			return 1, fmt.Errorf("hat %s: %w", args[0], err)
		}
	}
}
