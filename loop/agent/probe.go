package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// probePrompt is what a probe asks. Its answer says nothing; that there is one says
// that the program, its login, its model and the boundary work together.
const probePrompt = "Answer with the one word: ready. Call no tools and read no files."

// Limits of a probe: some programs ask a provider that fails again for minutes.
const (
	probeWall  = ledger.Duration(3 * time.Minute)
	probeGrace = ledger.Duration(2 * time.Second)
)

// Probe runs a session of an agent that answers one line, in an empty folder, with the
// login and the boundary of any other session, and returns how it ended. It uses the
// model, which can cost money. Nothing of the session is kept. An agent that Check
// refuses is not started.
func (r *Runner) Probe(ctx context.Context, agent, model string) (ledger.Exit, error) {
	if err := r.Check(ctx, agent); err != nil {
		return ledger.Exit{}, err
	}
	dir, err := r.makeTrial("work")
	if err != nil {
		return ledger.Exit{}, fmt.Errorf("probe of %s: %w", agent, err)
	}
	defer func() { _ = removeAll(dir) }()
	if err := os.Chmod(dir, r.folderMode()); err != nil {
		return ledger.Exit{}, fmt.Errorf("probe of %s: %w", agent, err)
	}
	name := filepath.Base(dir)
	defer func() {
		_ = errors.Join(removeAll(r.folder(name)), removeAll(r.cache(name)), removeAll(r.cacheRoot(name)), removeAll(filepath.Join(r.o.State, "runs", name)))
	}()
	err = r.Start(ctx, ledger.Launch{
		Session: name, Project: name, Run: name, Kind: ledger.KindAgent, Agent: agent, Model: model, Prompt: probePrompt,
		Work: filepath.Join(dir, "work"), Wall: probeWall,
	})
	if err != nil {
		return ledger.Exit{}, err
	}
	x, err := r.Wait(ctx, name)
	if err == nil {
		return x, nil
	}
	// The caller gave up; the session must not go on.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeWall.D())
	defer cancel()
	err = errors.Join(err, r.End(end, name, probeGrace))
	_, waited := r.Wait(end, name)
	return ledger.Exit{}, errors.Join(err, waited)
}
