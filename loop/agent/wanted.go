package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/ledger"
)

// probeName begins the names of what a probe makes: its session, run and project.
const probeName = "probe-"

// probeLimit ends a probe. Programs try a host that is refused again, with pauses.
const probeLimit = 10 * time.Second

// wantedPrompt is for a program that reads its prompt before it connects. No model
// gets it.
const wantedPrompt = "Reply with OK.\n"

// WantedHosts runs an agent's program as a session would, with a closed network that
// lets nothing out, and returns the hosts that it asked for: those that its sessions
// need first. No request leaves the machine, so it costs nothing, and a program that
// asks for other hosts only after an answer does not show them. It takes at most some
// seconds more than probeLimit. The program gets a copy of its login and no socket of
// hat, and works in a folder that is thrown away.
func (r *Runner) WantedHosts(ctx context.Context, agent string) ([]ledger.HostUse, error) {
	hosts, err := r.probe(ctx, agent)
	if err != nil {
		return nil, fmt.Errorf("try agent %q in a closed network: %w", agent, err)
	}
	return hosts, nil
}

func (r *Runner) probe(ctx context.Context, agent string) (hosts []ledger.HostUse, err error) {
	if err := r.reinstall(); err != nil {
		return nil, err
	}
	id, err := randomHex()
	if err != nil {
		return nil, err
	}
	name := probeName + id[:8]
	folder, work := r.folder(name), filepath.Join(r.o.State, "runs", name, "work")
	defer func() { err = errors.Join(err, r.removeProbe(name)) }()
	for _, dir := range []string{filepath.Dir(folder), folder, filepath.Dir(filepath.Dir(work)), filepath.Dir(work), work} {
		if err := makeDir(dir, r.folderMode()); err != nil {
			return nil, err
		}
	}
	lock, err := lockFolder(folder)
	if err != nil || lock == nil {
		return nil, errors.Join(err, errors.New("its folder is in use"))
	}
	defer func() { _ = lock.Close() }()
	// The project is one of its own: its caches are empty and thrown away.
	l := ledger.Launch{
		Session: name, Project: name, Run: name, Kind: ledger.KindAgent, Agent: agent, Prompt: wantedPrompt, Work: work,
		Network: ledger.Network{Mode: ledger.NetworkNone}, Wall: ledger.Duration(probeLimit),
	}
	if err := errors.Join(r.prepare(l, folder), detachProbe(folder)); err != nil {
		return nil, err
	}
	if err := r.spawn(name, folder, lock); err != nil {
		return nil, err
	}
	_ = lock.Close() // the supervisor has it
	ctx, cancel := context.WithTimeout(ctx, 3*probeLimit)
	defer cancel()
	x, err := r.Wait(ctx, name)
	if err != nil {
		return nil, errors.Join(err, r.End(context.WithoutCancel(ctx), name, 0))
	}
	if x.Reason == ledger.ExitNotStarted {
		return nil, errors.New(firstOf(x.Text, "it did not start"))
	}
	return x.Hosts, nil
}

// detachProbe changes a prepared session so that it holds nobody up: it does not wait
// for the login, which a session may have for hours, but gets a copy that is not taken
// back, and hat ends at once, because there is no daemon for it.
func detachProbe(folder string) error {
	var s spec
	var env []string
	if err := errors.Join(readJSON(filepath.Join(folder, fileSpec), &s), readJSON(filepath.Join(folder, fileEnv), &env)); err != nil {
		return err
	}
	if s.Login != nil {
		err := s.Login.copyIn(folder, filepath.Join(folder, dirBox, boxHome), s.Plan.UID, s.Plan.GID)
		if err := errors.Join(err, os.Remove(filepath.Join(folder, fileLogin))); err != nil {
			return err
		}
		s.Login = nil
	}
	env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "HAT_") })
	return errors.Join(writeJSON(filepath.Join(folder, fileSpec), s), writeJSON(filepath.Join(folder, fileEnv), env))
}

// removeProbe removes all that a probe made.
func (r *Runner) removeProbe(name string) error {
	var errs []error
	dirs := []string{r.folder(name), filepath.Join(r.o.State, "runs", name), r.cache(name), filepath.Join(r.o.State, "caches", name)}
	if socket := filepath.Dir(r.SocketPath(name)); !strings.HasPrefix(socket, r.folder(name)) {
		dirs = append(dirs, socket)
	}
	for _, dir := range dirs {
		errs = append(errs, removeAll(dir))
	}
	return errors.Join(append(errs, fsutil.SyncDir(filepath.Dir(r.folder(name))))...)
}
