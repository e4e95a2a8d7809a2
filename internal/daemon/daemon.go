package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/autostart"
	"github.com/nightporter/nightporter/internal/daemon/chat"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/logging"
	"github.com/nightporter/nightporter/internal/daemon/metrics"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/internal/daemon/systemd"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Daemon is nightporter with a state folder in hand. Its exported fields are
// there once Start has returned without an error, and are not to be set.
type Daemon struct {
	Engine    *Engine
	Store     *store.Store
	Projects  *project.Planner
	Operator  *operator.Service
	Digests   *digest.Maker
	Hub       *chat.Hub              // nil where no chat is configured, or it does not stay
	Autostart *autostart.Autostarter // nil unless it stays
	Changes   *service.Broadcast     // rung after every committed entry
	Log       *slog.Logger

	o           Options
	metrics     *metrics.Metrics
	runners     *session.Runners
	sockets     *session.Sockets
	connections atomic.Pointer[chat.Connections]
	manager     *systemd.Manager
	unread      atomic.Bool // the settings in force are older than their file, which is wrong

	lifecycle sync.Mutex // held by Start and Stop
	begun     bool
	running   service.Group
	closing   chan struct{} // closed when Stop begins
	stop      sync.Once
	ended     chan struct{} // closed when the engine has ended
	fault     error         // why it did, read after ended
}

// Options say what a daemon is for.
type Options struct {
	Version string
	State   string // folder; made where it is not there
	Config  *config.Config
	Agents  map[string]agent.Definition // besides those of the configuration
	Hat     string                      // hat program; "" = look beside this one
	Person  string                      // who types at the terminal
	LogTo   slog.Handler                // besides the log file; nil for nothing
	Clock   func() time.Time            // nil: time.Now

	// Observe is told of every committed entry by the goroutine that decides, so
	// it must return at once. nil: nobody wants to know.
	Observe func(before, after loop.State, e ledger.Entry)

	// Run are the settings of the run that is to be started; its project is the
	// only one that is worked on, and gets a name of its own here.
	Run *ledger.Settings

	// Stays works on every configured project, connects the chats and starts runs.
	// A daemon that neither stays nor has a Run only answers whoever started it.
	Stays bool
	// Paused is Stays with nothing that begins by itself: no chat is connected and
	// no run is started. Tests do either when they want it.
	Paused bool
	// Listener is the operator's socket; nil: it is made.
	Listener net.Listener
	// Reload reads the configuration again.
	Reload func() (*config.Config, error)
}

// New makes a daemon that holds nothing yet.
func New(o Options) *Daemon {
	return &Daemon{o: o, metrics: metrics.New(o.Version), Changes: &service.Broadcast{}, closing: make(chan struct{}), ended: make(chan struct{})}
}

// Start takes the state folder, opens everything in it and begins to work. What
// a person has to mend is a *ledger.InputError or *config.Error; a state folder
// that is held by another process a *statelock.InUseError.
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

// Stop ends the daemon and waits for all of it; the state folder is free then.
// Sessions go on, and are taken up by the next daemon.
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

// Ended is closed when the engine has ended, which it does by itself only where
// it cannot go on. Err says why.
func (d *Daemon) Ended() <-chan struct{} { return d.ended }

// Err is why the engine ended; it is read after Ended.
func (d *Daemon) Err() error { return d.fault }

// serves reports whether this process stays to act on what it is told.
func (d *Daemon) serves() bool { return d.o.Stays || d.o.Run != nil }

func (d *Daemon) start(ctx context.Context) error {
	off, err := d.open(ctx)
	if err != nil {
		return err
	}
	if err := d.openEngine(ctx); err != nil {
		return err
	}
	switch {
	case d.o.Run != nil:
		d.o.Run.Project = d.Projects.NameFor(*d.o.Run)
		d.Projects.Work([]string{d.o.Run.Project})
	case d.o.Stays:
		d.Projects.Work(d.Projects.Workable(ctx, nil))
	}
	d.runEngine()
	if !d.serves() {
		return nil
	}
	if err := d.listen(); err != nil {
		return err
	}
	if d.o.Stays {
		return d.stay(ctx, off)
	}
	return nil
}

// open takes the state folder. off is when a nightporter was there last.
func (d *Daemon) open(ctx context.Context) (off time.Time, err error) {
	if err := os.MkdirAll(d.o.State, 0o700); err != nil {
		return off, fmt.Errorf("state folder: %w", err)
	}
	off = lastSeen(d.o.State)
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
	if d.Store, err = store.Open(d.o.State); err != nil {
		return off, err
	}
	d.running.Defer(func() {
		if err := d.Store.Close(); err != nil {
			d.Log.Error("close the store", "error", err)
		}
	})
	return off, nil
}

// openEngine makes the rooms and the engine, which calls back into them.
func (d *Daemon) openEngine(ctx context.Context) error {
	key, err := socket.OperatorKey(d.o.State)
	if err != nil {
		return err
	}
	d.Engine = &Engine{metrics: d.metrics} // open at the end of this function
	sessions := session.Options{
		State: d.o.State, Hat: d.o.Hat, Agents: d.o.Agents, Log: d.Log,
		Open: func(session string) error { return d.sockets.Open(session) },
	}
	d.runners = session.NewRunners(func(cfg *config.Config) (*agent.Runner, error) {
		// A reload may name another token; the one that is in use stays hidden too.
		o := sessions
		o.Hide = slices.Concat(platform.TokenFiles(d.o.Config), platform.TokenFiles(cfg))
		return agent.New(o.Agent(cfg))
	})
	if err := d.runners.Use(d.o.Config); err != nil {
		return err
	}
	catalog := project.NewCatalog(d.o.State, d.o.Config, d.runners)
	d.Projects = project.NewPlanner(catalog, d.Engine, d.Log)
	d.sockets = session.NewSockets(key, d.runners, d.Log)
	d.sockets.Handle(&session.API{Engine: d.Engine, Runners: d.runners, Books: catalog})
	talks := d.o.Stays && len(platform.Used(d.o.Config)) > 0
	d.Digests = &digest.Maker{Store: d.Store, Engine: d.Engine, Catalog: catalog, Picture: report.Picture, Chats: talks, Log: d.Log}
	threads := chat.NewThreads(catalog, d.Store)
	d.Operator = operator.New(operator.Options{
		Engine: d.Engine, Chats: d.Engine, Store: d.Store, Projects: d.Projects, Sessions: d.runners, Digests: d.Digests, Threads: threads,
		Ways: d.pairWays, Changes: d.Changes, Closing: d.closing, Person: d.o.Person, Stays: d.o.Stays, Serves: d.serves(), Log: d.Log,
	})
	if talks {
		d.Hub = chat.New(chat.Options{
			Store: d.Store, Engine: d.Engine, Catalog: catalog, Threads: threads, Host: d.Operator.Host(), Digests: d.Digests, Changes: d.Changes,
			Hash: func(code string) string { return operator.PairingHash(key, code) }, Log: d.Log,
		})
	}
	journal := logging.NewJournal(d.Log)
	streams, err := d.Store.Streams(ctx)
	if err != nil {
		return err
	}
	projects := slices.DeleteFunc(streams, func(stream string) bool { return stream == ledger.SharedStream })
	d.Engine.Engine, err = engine.Open(ctx, engine.Options{
		Ledger: d.metrics.Ledger(d.Store), Runner: d.runners, Agents: d.runners, Sockets: d.sockets, Ports: catalog.Ports, Log: d.Log,
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
			d.Changes.Ring()
		},
		FreeDisk: func() (uint64, error) {
			var s unix.Statfs_t
			err := unix.Statfs(d.o.State, &s)
			return s.Bavail * uint64(s.Bsize), err
		},
		IsDisk: func(err error) bool {
			return errors.Is(err, store.ErrDisk) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
		},
	}, projects)
	if err != nil {
		return err
	}
	d.running.Defer(d.sockets.Stop)
	return d.running.Start(ctx, journal)
}

// runEngine lets the engine decide, until Stop.
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

// serverTime is how long the operator's requests get to end.
const serverTime = 5 * time.Second

// listen opens the operator's socket.
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

// figures are the metrics as text.
func (d *Daemon) figures(context.Context) ([]byte, error) {
	now := metrics.Current{ReloadFailed: d.unread.Load()}
	for _, name := range d.Operator.Projects() {
		s, _ := d.Operator.State(name)
		now.States = append(now.States, s)
	}
	if c := d.connections.Load(); c != nil {
		now.Chats = &metrics.Chats{Queued: d.Hub.Queued(), Connected: c.Connected()}
	}
	return d.metrics.Text(now)
}

// pairWays are the platforms by which a pairing code can be sent.
func (d *Daemon) pairWays() []operator.PairWay {
	var ways []operator.PairWay
	for _, p := range platform.Used(d.Projects.Config()) {
		way := operator.PairWay{Platform: p.Name}
		if c := d.connections.Load(); c != nil {
			way.Bot = c.BotName(p.Name)
		}
		ways = append(ways, way)
	}
	return ways
}
