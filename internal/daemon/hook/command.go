package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Bounds of commands.
const (
	commandTime = time.Minute
	callsKept   = 20 // of a hook, whose folders stay: one that fails is called 1,440 times a day
)

// commandProject begins the project of each hook's commands. No project can have such a
// name, so they share no caches with one, nor with another hook.
const commandProject = "hooks_"

// Runner runs commands inside the boundary (loop/agent).
type Runner interface {
	Start(ctx context.Context, l ledger.Launch) error
	Wait(ctx context.Context, session string) (ledger.Exit, error)
	TidyLast(prefix string, n int) error // removes folders of ended sessions
}

// exitDataErr is the exit code with which a command refuses an event: "the input
// data was incorrect in some way" (sysexits.h).
const exitDataErr = 65

// command runs the command of a hook with one event: as JSON in its standard input
// and in event.json of its folder, which is its own and the only one that it can
// write. It is a session without an agent, because what it runs may lie in a
// repository that sessions write.
func (h *Hooks) command(ctx context.Context, hook config.Hook, ev Event) error {
	body, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	// Each try is a session of its own: the runner starts a session once.
	calls := "hook-" + hook.Key() + "-"
	name := fmt.Sprintf("%s%d", calls, h.o.Clock().UnixNano())
	run := filepath.Join(h.o.Folder, name)
	work := filepath.Join(run, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(work, "event.json"), append(body, '\n'), 0o600); err != nil {
		return err
	}
	words := make([]string, len(hook.Run))
	for n, word := range hook.Run {
		words[n] = project.Quote(word)
	}
	launch := ledger.Launch{
		Session: name, Run: name, Project: commandProject + hook.Key(), Kind: ledger.KindHook, Work: work,
		Command: "exec " + strings.Join(words, " ") + " <event.json", Wall: ledger.Duration(commandTime),
	}
	var exit ledger.Exit
	if err = h.o.Runner.Start(ctx, launch); err == nil {
		exit, err = h.o.Runner.Wait(ctx, name)
	}
	if ctx.Err() == nil { // else the command may go on; its folder is removed with those of old runs
		if err := errors.Join(os.RemoveAll(run), h.o.Runner.TidyLast(calls, callsKept)); err != nil {
			h.o.Log.Warn("the folder of a hook's command stays", "hook", hook.Name(), "error", err)
		}
	}
	switch {
	case err != nil:
		return err
	case exit.Reason == ledger.ExitSelf && exit.Code == 0:
		return nil
	case exit.Code == exitDataErr:
		return &refusedError{"it refused: " + lastWords(exit)}
	}
	return errors.New(lastWords(exit))
}

// lastWords returns how a command ended, in one line.
func lastWords(x ledger.Exit) string {
	why := fmt.Sprintf("exit code %d", x.Code)
	if x.Text != "" {
		why = x.Text
	}
	lines := strings.Split(strings.TrimSpace(x.Tail), "\n")
	if last := lines[len(lines)-1]; last != "" {
		why += ": " + last
	}
	return why
}
