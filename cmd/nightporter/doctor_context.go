package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/ledger"
)

// check is one check of doctor. It may store results in the doctorContext for
// later checks.
type check struct {
	name string
	look func(ctx context.Context, p *doctorContext) []finding
}

// doctorContext holds the inputs of the checks and the results that later
// checks use.
type doctorContext struct {
	config string // --config
	state  string // state folder, absolute
	now    time.Time

	cfg    *config.Config // empty until a file was read without mistakes
	usable bool           // the configuration has no mistakes, or there is none
	daemon bool           // a daemon holds the state folder and answers

	probe  func(ctx context.Context, pl platform.Platform, cfg *config.Config, tokens []transport.Secret) ([]ledger.Diagnostic, error)
	people func(ctx context.Context, p *doctorContext) (n int, known bool)
	// requests returns the open requests of all projects.
	requests func(ctx context.Context, p *doctorContext) (list []openRequest, known bool)

	trial  trialFolder
	agents map[string][]string // agents that projects start, with the projects of each
	models map[string]string   // a model that one of its hats has, by agent

	askAgents bool     // --probe
	startable []string // agents that can be started
}

// trialFolder is the folder in which doctor starts trial sessions. It is the
// state folder if that exists and belongs to this user, because its location
// and file system decide the result; otherwise it is a temporary folder.
type trialFolder struct {
	dir       string
	err       error
	tried     bool
	temporary bool // a temporary folder, to be removed
	runner    *agent.Runner
}

func (w *trialFolder) close() {
	if w.temporary {
		_ = os.RemoveAll(w.dir)
	}
}

// openTrial creates the trial folder and its runner on the first call.
func (p *doctorContext) openTrial() (*trialFolder, error) {
	w := &p.trial
	if w.tried {
		return w, w.err
	}
	w.tried = true
	w.dir, w.temporary, w.err = p.trialDir()
	if w.err != nil {
		return w, w.err
	}
	// The runner is configured as for a run. It starts trial sessions only.
	w.runner, w.err = agent.New(session.Options{State: w.dir, Agents: builtin(0), Hide: slices.Concat(platform.TokenFiles(p.cfg), p.cfg.OtherTokens())}.Agent(p.cfg))
	return w, w.err
}

func (p *doctorContext) trialDir() (dir string, mine bool, err error) {
	if info, err := os.Stat(p.state); err == nil && info.IsDir() && ownedByMe(info) && writable(p.state) == nil {
		return p.state, false, nil
	}
	dir, err = os.MkdirTemp("", "nightporter-doctor-")
	return dir, true, err
}

// agentNames returns the agents that projects start, sorted.
func (p *doctorContext) agentNames() []string {
	var names []string
	for name := range p.agents {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// writable returns an error unless a file can be created in dir. The mode alone
// does not reveal a full quota or a read-only disk.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return err
	}
	_, err = f.WriteString("x")
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func ownedByMe(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}
