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
)

// doctorCheck is one thing that doctor looks at. It may note in p what later
// checks need.
type doctorCheck struct {
	name string
	look func(ctx context.Context, p *doctorContext) []finding
}

// doctorContext is what is looked at, and what is known of it so far.
type doctorContext struct {
	config string // --config
	state  string // state folder, absolute
	now    time.Time

	cfg    *config.Config // an empty one until a file was read without a mistake
	usable bool           // the configuration is without a mistake, or there is none
	daemon bool           // somebody has the state folder and answers

	probe  func(ctx context.Context, pl platform.Platform, cfg *config.Config, tokens []transport.Secret) ([]transport.Finding, error)
	people func(ctx context.Context, p *doctorContext) (n int, known bool)

	ward   ward
	agents map[string][]string // agents that projects start, each with the projects
}

// ward is where sessions are tried: the state folder itself where it is there
// and ours, because its place and file system are what counts; else a folder
// that is gone afterwards.
type ward struct {
	dir    string
	err    error
	tried  bool
	mine   bool // a folder of doctor's own
	runner *agent.Runner
}

func (w *ward) close() {
	if w.mine {
		_ = os.RemoveAll(w.dir)
	}
}

// open makes the ward and its runner, once.
func (p *doctorContext) open() (*ward, error) {
	w := &p.ward
	if w.tried {
		return w, w.err
	}
	w.tried = true
	w.dir, w.mine, w.err = p.place()
	if w.err != nil {
		return w, w.err
	}
	// As a run would have it; no session of a project is ever started here.
	w.runner, w.err = agent.New(session.Options{State: w.dir, Agents: builtin(0), Hide: platform.TokenFiles(p.cfg)}.Agent(p.cfg))
	return w, w.err
}

func (p *doctorContext) place() (dir string, mine bool, err error) {
	if info, err := os.Stat(p.state); err == nil && info.IsDir() && ownedByMe(info) && writable(p.state) == nil {
		return p.state, false, nil
	}
	dir, err = os.MkdirTemp("", "nightporter-doctor-")
	return dir, true, err
}

// agentNames lists the agents that projects start, sorted.
func (p *doctorContext) agentNames() []string {
	var names []string
	for name := range p.agents {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// writable tries it: modes do not say what a full quota or a read-only disk do.
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
