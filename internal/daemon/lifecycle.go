package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/internal/daemon/chat"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/logging"
	"github.com/nightporter/nightporter/internal/daemon/metrics"
	"github.com/nightporter/nightporter/internal/daemon/mirror"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/internal/diskuse"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
	"github.com/nightporter/nightporter/store"
)

// Start takes the state folder, opens everything in it and begins to work. It
// returns a *ledger.InputError or *config.Error for mistakes that a person has
// to correct, and a *statelock.InUseError when another process holds the
// folder. After an error nothing runs.
func (d *Daemon) Start(ctx context.Context) error {
	d.lifecycle.Lock()
	defer d.lifecycle.Unlock()
	select {
	case <-d.closing:
		return service.ErrStopped
	default:
	}
	if d.begun {
		return service.ErrStarted
	}
	d.begun = true
	if err := d.start(ctx); err != nil {
		d.stopAll()
		return err
	}
	return nil
}

// Stop ends the daemon and waits until all its parts have ended; then another
// process can use the state folder. Sessions continue, and the next daemon
// resumes them.
func (d *Daemon) Stop() {
	d.stop.Do(func() { close(d.closing) })
	d.lifecycle.Lock()
	defer d.lifecycle.Unlock()
	d.stopAll()
}

func (d *Daemon) stopAll() {
	d.stop.Do(func() { close(d.closing) })
	d.running.Stop()
}

func (d *Daemon) start(ctx context.Context) error {
	// The memory and environment of this process hold keys. Without this, every
	// process of the same user can read them, a session at boundary level 1
	// included. It does not keep others from this process's limits (prlimit);
	// the boundary of sessions does.
	if err := closeMemory(); err != nil {
		return fmt.Errorf("close the process to others: %w", err)
	}
	off, err := d.open(ctx)
	if err != nil {
		return err
	}
	if err := d.openEngine(ctx); err != nil {
		return err
	}
	switch {
	case d.o.Run != nil:
		if err := d.Projects.Claim(ctx, d.o.Run.Repo); err != nil {
			return err
		}
		d.o.Run.Project = d.Projects.NameFor(*d.o.Run)
		d.Projects.Work([]string{d.o.Run.Project})
	case d.o.Stays:
		d.Projects.Work(d.Projects.Workable(ctx, nil))
	}
	d.inhibitor = d.newInhibitor()
	d.runEngine()
	if !d.serves() {
		return nil
	}
	if err := d.listen(); err != nil {
		return err
	}
	if d.o.Stays {
		return d.startServices(ctx, off)
	}
	for _, s := range []service.Service{service.Loop(d.removeOld), service.Loop(d.watchDisk), service.Loop(d.checkWhole), d.inhibitor} {
		if err := d.running.Start(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// open takes the state folder, its log and its database. off is the time at
// which a daemon last ran there, zero for never.
func (d *Daemon) open(ctx context.Context) (off time.Time, err error) {
	if err := os.MkdirAll(d.o.State, 0o700); err != nil {
		return off, fmt.Errorf("state folder: %w", err)
	}
	off = lastSeen(d.o.State)
	d.steady = newSteadyTime(off, time.Now())
	lock, err := takeState(ctx, d.o.State)
	if err != nil {
		return off, err
	}
	d.running.Defer(func() { _ = lock.Release() })
	logs, err := logging.Open(filepath.Join(d.o.State, logName))
	if err != nil {
		return off, fmt.Errorf("log file: %w", err)
	}
	d.running.Defer(func() { _ = logs.Close() })
	d.Log = slog.New(logging.Handler(logs, d.o.LogTo))
	if err := checkDatabase(d.o.State); err != nil {
		return off, err
	}
	if d.Store, err = store.OpenAs(d.o.State, d.program()); err != nil {
		return off, newer(d.o.State, unopened(ctx, d.o.State, err))
	}
	d.running.Defer(func() {
		if err := d.Store.Close(); err != nil {
			d.Log.Error("close the store", "error", err)
		}
	})
	return off, d.checkEntries(ctx)
}

// openEngine creates all components and the engine. The engine calls back into
// the components, so they receive it before it is open.
func (d *Daemon) openEngine(ctx context.Context) error {
	key, err := socket.OperatorKey(d.o.State)
	if err != nil {
		return err
	}
	d.Engine = &Engine{metrics: d.metrics} // opened at the end of this function
	sessions := session.Options{
		State: d.o.State, Hat: d.o.Hat, Shim: d.o.Shim, Agents: d.o.Agents, Log: d.Log,
		Open: func(session string) error { return d.sockets.Open(session) },
	}
	d.runners = session.NewRunners(func(cfg *config.Config) (*agent.Runner, error) {
		// A reload may name other token files; the old files stay hidden from
		// sessions too.
		o := sessions
		o.Hide = slices.Concat(platform.TokenFiles(d.o.Config), platform.TokenFiles(cfg), d.o.Config.OtherTokens(), cfg.OtherTokens())
		for _, p := range cfg.Projects { // with what people said, and who they are
			o.Hide = append(o.Hide, workspace.MirrorFolder(p.Repo))
		}
		return agent.New(o.Agent(cfg))
	})
	if err := d.runners.Use(d.o.Config); err != nil {
		return err
	}
	d.sockets = session.NewSockets(key, d.runners, d.Log)
	catalog := project.NewCatalog(d.o.State, d.o.Config, d.runners, engine.Place{Runner: d.runners, Agents: d.runners, Sockets: d.sockets})
	d.Projects = project.NewPlanner(catalog, d.Engine, d.Log)
	d.running.Defer(catalog.Release) // after Close: a look may be claiming a repository
	d.running.Defer(d.Projects.Close)
	if kind := diskuse.Network(d.o.State); kind != "" {
		d.Log.Warn("the state folder is on a network file system: its ledger can be damaged", "kind", kind)
		d.Projects.Warn("", project.AboutState, "! state folder on "+kind+": its ledger can be damaged. Move it: --state DIR")
	}
	d.sockets.Handle(&session.API{Engine: d.Engine, Books: catalog, Log: d.Log})
	talks := d.o.Stays && len(platform.Used(d.o.Config)) > 0
	if d.o.Stays || !d.serves() {
		d.Readings = project.NewReadings(d.Projects, d.Changes.Ring)
	}
	d.Digests = &digest.Maker{Store: d.Store, Engine: d.Engine, Catalog: catalog, Readings: d.Readings, Picture: report.Picture, DrawWave: report.WavePicture, Chats: talks, Log: d.Log}
	threads := chat.NewThreads(catalog, d.Store)
	d.files = attachment.Open(d.o.State)
	d.Operator = operator.New(operator.Options{
		Engine: d.Engine, Chats: d.Engine, Store: d.Store, Projects: d.Projects, Attachments: d.files, Sessions: d.runners, Digests: d.Digests, Readings: d.Readings, Threads: threads,
		Ways: d.pairPlatforms, Changes: d.Changes, Closing: d.closing, Person: d.o.Person, Stays: d.o.Stays, Serves: d.serves(), Log: d.Log,
	})
	if talks {
		d.Hub = chat.New(chat.Options{
			Store: d.Store, Engine: d.Engine, Catalog: catalog, Threads: threads, Host: d.Operator.Host(), Digests: d.Digests, Changes: d.Changes, Files: d.files,
			Hash: func(code string) string { return operator.PairingHash(key, code) }, Log: d.Log,
		})
	}
	if err := d.recoverAttachments(ctx); err != nil {
		d.Log.Warn("what was left of files that people sent is not cleaned up", "error", err)
	}
	journal := logging.NewJournal(d.Log)
	mirrors := mirror.New(mirror.Options{
		Ledger: d.Store, Log: d.Log,
		Open: func(repo, project string) mirror.Files { return workspace.NewMirror(repo, project) },
	})
	streams, err := d.Store.Streams(ctx)
	if err != nil {
		return err
	}
	projects := slices.DeleteFunc(streams, func(stream string) bool { return stream == ledger.SharedStream })
	d.Engine.Engine, err = engine.Open(ctx, engine.Options{
		Ledger: d.metrics.Ledger(d.Store), Ports: catalog.Ports, Adder: (&project.Adders{Sources: catalog.Sources()}).Open, Attachments: d.files, Transcribe: d.transcribe, Log: d.Log,
		Compose: d.Hub.Compose, Sent: d.Hub.Sent, Clock: d.o.Clock,
		Observe: func(before, after loop.State, e ledger.Entry) {
			d.metrics.Entry(before, e)
			if d.o.Stays {
				journal.Add(before, e)
			}
			if d.o.Observe != nil {
				d.o.Observe(before, after, e)
			}
			d.Hub.Observe(before, e)
			if d.serves() {
				mirrors.Add(after)
			}
			d.Changes.Ring()
		},
		Outage: d.onOutage,
		KeptRefs: func() time.Duration {
			now := time.Now()
			return d.Projects.Config().Retention.KeptSessions() + now.Sub(d.steady.at(now))
		},
		FreeDisk: func() (uint64, error) {
			var s unix.Statfs_t
			err := unix.Statfs(d.o.State, &s)
			return s.Bavail * uint64(s.Bsize), err
		},
		Load: loadAverage,
		// A daemon that stays works on all other projects, and tells of this one.
		Skip: func(string, error) bool { return d.o.Stays },
	}, projects)
	if err != nil {
		return damaged(ctx, d.o.State, d.Store, err)
	}
	if d.serves() {
		for _, name := range d.Engine.Projects() {
			s, _ := d.Engine.State(name)
			mirrors.Add(s) // what the process before did not copy
		}
	}
	d.running.Defer(d.sockets.Stop)
	if err := d.running.Start(ctx, mirrors); err != nil {
		return err
	}
	return d.running.Start(ctx, journal)
}

// runEngine runs the engine in a goroutine until Stop.
func (d *Daemon) runEngine() {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(d.ended)
		d.fault = d.Engine.Run(ctx, d.Projects.Works)
	}()
	d.running.Defer(func() {
		cancel()
		<-d.ended
		if d.fault != nil {
			d.Log.Error("engine", "error", d.fault)
		}
	})
}

// serverTime limits how long Stop waits for requests of the operator.
const serverTime = 5 * time.Second

// listen serves the operator's socket.
func (d *Daemon) listen() (err error) {
	listener := d.o.Listener
	if listener == nil {
		if listener, err = socket.Listen(socket.OperatorPath(d.o.State), 0o600); err != nil {
			return fmt.Errorf("operator socket: %w", err)
		}
	}
	key, err := socket.OperatorKey(d.o.State)
	if err != nil {
		return err
	}
	handler := socket.WithMetrics(socket.NewOperator(d.Operator, key, d.Log), key, d.figures, d.Log)
	server := socket.Serve(listener, handler, d.Log)
	d.running.Defer(func() {
		ctx, cancel := context.WithTimeout(context.Background(), serverTime)
		defer cancel()
		if err := server.Close(ctx); err != nil {
			d.Log.Debug("operator socket", "error", err)
		}
	})
	return nil
}

// figures returns the metrics in Prometheus' text format.
func (d *Daemon) figures(context.Context) ([]byte, error) {
	now := metrics.Current{ReloadFailed: d.reloadFailed.Load()}
	for _, name := range d.Operator.Projects() {
		s, _ := d.Operator.State(name)
		now.States = append(now.States, s)
	}
	if c := d.connections.Load(); c != nil {
		now.Chats = &metrics.Chats{Queued: d.Hub.Queued(), Connected: c.Connected()}
	}
	return d.metrics.Text(now)
}

// nameTime limits the wait for a bot's name, without which a code has no link and
// no QR code. The platform is asked for it when the daemon starts.
const nameTime = 5 * time.Second

// pairPlatforms returns the platforms on which a pairing code can be sent. It waits
// up to nameTime for the names of their bots.
func (d *Daemon) pairPlatforms(ctx context.Context) []operator.PairPlatform {
	ctx, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	for {
		changed := d.Changes.Next() // a name that becomes known rings it
		ways, named := d.namedPlatforms()
		if named {
			return ways
		}
		select {
		case <-ctx.Done():
			return ways
		case <-changed:
		}
	}
}

// namedPlatforms lists the platforms in use with the names of their bots. named
// reports whether all names are known.
func (d *Daemon) namedPlatforms() (ways []operator.PairPlatform, named bool) {
	named = true
	for _, p := range platform.Used(d.Projects.Config()) {
		way := operator.PairPlatform{Platform: p.Name}
		if c := d.connections.Load(); c != nil {
			way.Bot = c.BotName(p.Name)
		}
		named = named && (way.Bot != "" || p.PairLink == nil)
		ways = append(ways, way)
	}
	return ways, named
}
