package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/task"
	"github.com/nightporter/nightporter/loop/workspace"
	"github.com/nightporter/nightporter/store"
)

// porter is nightporter with a state folder in hand: the store, the engine
// and the operator's socket.
type porter struct {
	state    string
	cfg      atomic.Pointer[config.Config] // in force; a reload puts another in its place
	begun    *config.Config                // that this process was started with: its chats are those
	working  atomic.Pointer[[]string]      // projects that are worked on
	lock     *statelock.Lock
	store    *store.Store
	runner   *runners
	door     *sessionSockets
	engine   *engine.Engine
	metrics  *metrics
	changes  service.Broadcast // rung after every committed entry
	log      *slog.Logger
	logs     io.Closer
	server   *socket.Server
	closing  context.Context // ends when the porter is about to close: nobody waits for news any more
	leave    context.CancelFunc
	cancel   context.CancelFunc
	ended    chan error
	stays    bool          // `up`: every configured project is worked on, and shown
	botName  func() string // of the Telegram bot, "" while it is not known; nil without one
	watched  timelines     // of runs that somebody looks at
	remarks  warnings      // what people have to know of projects besides their state
	talk     *chatHub      // what people are told in chats; nil where there is none
	picture  illustrator   // of a digest
	members  members       // who is in no group of a thread
	moves    moves         // groups that have another address now
	troubles sync.Map      // of threads: a threadTrouble by address
	titles   sync.Map      // what threads are called, by address; the platforms say it now and then
}

// illustrator draws a digest, as report.Picture does.
type illustrator func(f report.Facts, dark bool) ([]byte, error)

// porterOptions say what the porter is opened for.
type porterOptions struct {
	state   string
	cfg     *config.Config
	agents  map[string]agent.Definition // besides those of the config
	hat     string                      // hat program; "" = look beside this one
	observe func(before, after loop.State, e loop.Entry)
	// settings of the run that is to be started; its project is the only one
	// that is worked on, and gets a name of its own. nil: it only answers.
	settings *loop.Settings
	// stays: every configured project is worked on (`up`), and listener, where
	// it is not nil, is the operator's socket.
	stays    bool
	listener net.Listener
	logTo    slog.Handler     // besides the file; nil for nothing
	clock    func() time.Time // nil: time.Now
}

// openPorter takes the state folder and opens everything in it.
func openPorter(ctx context.Context, o porterOptions) (p *porter, err error) {
	if err := os.MkdirAll(o.state, 0o700); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	p = &porter{state: o.state, begun: o.cfg, stays: o.stays, ended: make(chan error, 1), metrics: newMetrics(), picture: report.Picture}
	p.cfg.Store(o.cfg)
	p.work(nil)
	p.closing, p.leave = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			p.close()
			p = nil
		}
	}()
	if p.lock, err = takeState(ctx, o.state); err != nil {
		return p, err
	}
	if p.store, err = store.Open(o.state); err != nil {
		return p, err
	}
	p.moves.store = p.store
	logs, err := openLog(filepath.Join(o.state, "nightporter.log"))
	if err != nil {
		return p, fmt.Errorf("log file: %w", err)
	}
	p.logs = logs
	p.log = slog.New(logHandler(logs, o.logTo))
	key, err := socket.OperatorKey(o.state)
	if err != nil {
		return p, err
	}
	p.door = &sessionSockets{key: key, log: p.log, open: map[string]*socket.Server{}}
	if err := p.openEngine(ctx, o); err != nil {
		return p, err
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel = cancel
	switch {
	case o.settings != nil:
		o.settings.Project = p.nameFor(*o.settings)
		p.work([]string{o.settings.Project})
	case o.stays:
		p.work(p.workable(ctx, nil))
	}
	go func() { p.ended <- p.engine.Run(run, p.worksOn) }()
	if o.settings == nil && !o.stays {
		return p, nil
	}
	listener := o.listener
	if listener == nil {
		if listener, err = socket.Listen(socket.OperatorPath(o.state), 0o600); err != nil {
			return p, fmt.Errorf("operator socket: %w", err)
		}
	}
	handler := socket.NewOperator(&operatorService{porter: p}, key, p.log)
	p.server = socket.Serve(listener, socket.WithMetrics(handler, key, p.gather, p.log), p.log)
	return p, nil
}

// config is the configuration in force.
func (p *porter) config() *config.Config { return p.cfg.Load() }

// worksOn reports whether a project is worked on by this process, and not only
// shown.
func (p *porter) worksOn(project string) bool { return slices.Contains(*p.working.Load(), project) }

func (p *porter) work(projects []string) { p.working.Store(&projects) }

// serves reports whether this process stays to act on what it is told: a
// command that found no daemon does not.
func (p *porter) serves() bool { return p.server != nil }

// do hands an input to the engine.
func (p *porter) do(ctx context.Context, in loop.Input) (loop.Answer, error) {
	began := time.Now()
	answer, err := p.engine.Do(ctx, in)
	if err == nil {
		p.metrics.input(in.Body.InputKind(), time.Since(began))
	}
	return answer, err
}

// nameFor is the project's name, with a number where this state folder knows
// another repository by it: two folders called "app" are two projects. A name
// from the configuration stays as it is, and is refused then.
func (p *porter) nameFor(s loop.Settings) string {
	for _, pr := range p.config().Projects {
		if pr.Name == s.Project {
			return s.Project
		}
	}
	name := s.Project
	for n := 2; ; n++ {
		known, ok := p.engine.State(name)
		if !ok || known.Project.Run == nil || known.Project.Run.Settings.Repo == s.Repo {
			return name
		}
		tail := fmt.Sprintf("-%d", n)
		name = s.Project[:min(len(s.Project), 32-len(tail))] + tail
	}
}

func (p *porter) openEngine(ctx context.Context, o porterOptions) error {
	p.runner = &runners{make: func(cfg *config.Config) (*agent.Runner, error) { return agent.New(p.agentOptions(o, cfg)) }}
	if err := p.runner.use(o.cfg); err != nil {
		return err
	}
	p.door.runner = p.runner
	p.talk = newTalk(p)
	streams, err := p.store.Streams(ctx)
	if err != nil {
		return err
	}
	var projects []string
	for _, s := range streams {
		if s != loop.SharedStream {
			projects = append(projects, s)
		}
	}
	p.engine, err = engine.Open(ctx, engine.Options{
		Ledger: p.metrics.ledger(p.store), Runner: p.runner, Agents: p.runner, Door: p.door, Ports: p.ports, Log: p.log,
		Compose: p.talk.compose, Sent: p.talk.sent, Clock: o.clock,
		Observe: func(before, after loop.State, e loop.Entry) {
			p.metrics.entry(before, e)
			if o.observe != nil {
				o.observe(before, after, e)
			}
			p.talk.undoable(before, e)
			p.talk.changed(after.Project.Name)
			p.changes.Ring()
		},
		FreeDisk: func() (uint64, error) {
			var s unix.Statfs_t
			err := unix.Statfs(o.state, &s)
			return s.Bavail * uint64(s.Bsize), err
		},
		IsDisk: func(err error) bool {
			return errors.Is(err, store.ErrDisk) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
		},
	}, projects)
	if err != nil {
		return err
	}
	p.door.handler = &sessionAPI{porter: p}
	return nil
}

// agentOptions are how sessions are run with a configuration.
func (p *porter) agentOptions(o porterOptions, cfg *config.Config) agent.Options {
	opts := agent.Options{
		State: o.state, Hat: o.hat, SessionUser: string(cfg.SessionUser), Agents: definitions(cfg), Log: p.log,
		Projects: grants(cfg), BeforeStart: func(_ context.Context, session, _ string) error { return p.door.Open(session) },
	}
	if cfg.Boundary == "required" {
		opts.Boundary = cfg.Boundary
	}
	// A reload may name another token; the one that is in use stays hidden too.
	for _, c := range []*config.Config{o.cfg, cfg} {
		opts.Hide = append(opts.Hide, tokenFiles(c)...)
	}
	for name, d := range o.agents {
		opts.Agents[name] = d
	}
	if opts.Hat == "" {
		opts.Hat = besideMe("hat")
	}
	return opts
}

// ports opens one project's adapters.
func (p *porter) ports(ctx context.Context, s loop.Settings) (engine.Ports, error) {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil || s.Timezone == "" || s.Timezone == "Local" {
		zone = time.Local
	}
	source, err := task.Open(s.Source.Kind, s.Source.Path, s.Repo, task.Options{CommitStatus: s.CommitStatus, Zone: zone})
	if err != nil {
		return engine.Ports{}, err
	}
	w, err := p.workspace(ctx, s, source.Owned())
	if err != nil {
		return engine.Ports{}, err
	}
	return engine.Ports{Source: source, Workspace: w, Files: w, Scoper: w, Notebook: workspace.NewNotebook(s.Repo), Hats: &hatFiles{porter: p, project: s.Project, repo: s.Repo}, Zone: zone}, nil
}

func (p *porter) workspace(ctx context.Context, s loop.Settings, owned []string) (*workspace.Workspace, error) {
	uid, gid := p.runner.User()
	return workspace.Open(ctx, workspace.Options{
		State: p.state, Project: s.Project, Repo: s.Repo, Protected: s.Protected, Owned: owned, SessionUID: uid, SessionGID: gid,
	})
}

// definitions are the agents that can be started: the built-in ones, as the
// config changes them, and its commands.
func definitions(cfg *config.Config) map[string]agent.Definition {
	defs := agent.BuiltIn()
	for name, a := range cfg.Agents {
		d, known := defs[name]
		if !known && len(a.Command) == 0 {
			continue
		}
		if len(a.Command) > 0 {
			d.Command = a.Command
		}
		if a.Output != "" {
			d.Output = a.Output
		}
		d.Name, d.Dir, d.Prompt, d.EnvFile, d.PassEnv = name, cfg.Dir(), a.Prompt, a.EnvFile, a.PassEnv
		defs[name] = d
	}
	return defs
}

func grants(cfg *config.Config) map[string]agent.Grant {
	all := map[string]agent.Grant{}
	for _, pr := range cfg.Projects {
		all[pr.Name] = agent.Grant{Read: pr.Read, Cache: pr.Cache}
	}
	return all
}

// besideMe finds a program in the folder of this one; "" where it is not.
func besideMe(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(self), name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// close ends the engine, leaves sessions to whoever comes next, and gives the
// state folder back. It may be called at any stage of opening.
func (p *porter) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	p.leave()
	if p.server != nil {
		if err := p.server.Close(ctx); err != nil {
			p.log.Debug("operator socket", "error", err)
		}
	}
	if p.cancel != nil {
		p.cancel()
		if err := <-p.ended; err != nil {
			p.log.Error("engine", "error", err)
		}
	}
	if p.door != nil {
		p.door.closeAll()
	}
	if p.store != nil {
		if err := p.store.Close(); err != nil && p.log != nil {
			p.log.Error("close the store", "error", err)
		}
	}
	if p.logs != nil {
		_ = p.logs.Close()
	}
	if p.lock != nil {
		_ = p.lock.Release()
	}
}

// asker answers commands and views: the daemon through its socket, or this
// process itself where there is none. Either way through the same handlers.
type asker interface {
	Command(ctx context.Context, c api.Command) (api.Reply, error)
	View(ctx context.Context, v api.View) (api.Reply, error)
}

// withAsker calls f with whoever holds the state folder: again, where that one
// has ended before it answered.
func withAsker(ctx context.Context, state string, cfg *config.Config, f func(asker) error) error {
	if _, err := os.Stat(state); err != nil {
		return fmt.Errorf("no state folder at %s: nothing was ever started there (name another: --state DIR)", state)
	}
	for {
		if listens(state) {
			client, err := socket.Operator(state)
			if err != nil {
				return err
			}
			err = f(client)
			if errors.Is(err, api.ErrLater) && !listens(state) {
				continue // it has ended meanwhile; the same key does nothing twice
			}
			return err
		}
		p, err := openPorter(ctx, porterOptions{state: state, cfg: cfg})
		var inUse *statelock.InUseError
		if errors.As(err, &inUse) && listens(state) {
			continue // a daemon that has just started
		}
		if err != nil {
			return err
		}
		defer p.close()
		return f(&operatorService{porter: p})
	}
}

// listens reports whether a daemon holds the state folder and can be asked.
func listens(state string) bool {
	c, err := net.DialTimeout("unix", socket.OperatorPath(state), time.Second) //nolint:noctx // bounded by its own time
	if err != nil {
		return false
	}
	_ = c.Close() // it was a question only
	return true
}

// takeState takes the state folder's lock. While nobody listens there, it is
// held by a command that only asks or by a daemon that is about to listen, and
// is worth a short wait: a person's status line must not keep a run from
// starting, nor two of them each other from answering.
func takeState(ctx context.Context, dir string) (*statelock.Lock, error) {
	const patience, pause = 5 * time.Second, 10 * time.Millisecond
	for end := time.Now().Add(patience); ; {
		lock, err := statelock.Take(dir)
		var inUse *statelock.InUseError
		if !errors.As(err, &inUse) || listens(dir) && !gone(inUse.PID) || time.Now().After(end) {
			return lock, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// gone reports whether a process is there no more. One that was killed can
// leave a child between its fork and its program, which holds what it held for
// a moment longer: lock and socket alike.
func gone(pid int) bool { return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// problems prints what a person has to mend, each with the remedy.
func problems(w io.Writer, err error) {
	var in *loop.InputError
	if errors.As(err, &in) {
		for _, f := range in.Findings {
			fmt.Fprintf(w, "✗ %s\n", f)
		}
		return
	}
	var c *config.Error
	if errors.As(err, &c) {
		fmt.Fprintln(w, strings.TrimRight(c.Error(), "\n"))
		return
	}
	fmt.Fprintf(w, "✗ %v\n", err)
}
