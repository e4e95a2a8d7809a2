package daemon

import (
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/internal/daemon/autostart"
	"github.com/nightporter/nightporter/internal/daemon/chat"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/intake"
	"github.com/nightporter/nightporter/internal/daemon/metrics"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/internal/daemon/systemd"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Daemon is one nightporter process that holds a state folder. Create it with
// New. Its exported fields are nil until Start has returned nil, and read-only
// afterwards.
type Daemon struct {
	Engine    *Engine
	Store     *store.Store
	Projects  *project.Planner
	Operator  *operator.Service
	Digests   *digest.Maker
	Readings  *project.Readings      // nil while Options.Run alone is worked on
	Hub       *chat.Hub              // nil without Options.Stays, and if no chat is configured
	Autostart *autostart.Autostarter // nil without Options.Stays
	Intake    *intake.Server         // nil without Options.Stays, and if no address takes bug reports
	Changes   *service.Broadcast     // signalled after every committed entry
	Log       *slog.Logger

	o            Options
	metrics      *metrics.Metrics
	runners      *session.Runners
	sockets      *session.Sockets
	files        *attachment.Store
	connections  atomic.Pointer[chat.Connections]
	manager      *systemd.Manager
	inhibitor    *systemd.Inhibitor
	outage       atomic.Pointer[engine.Outage] // nil = the ledger took every commit
	reloadFailed atomic.Bool                   // the configuration file is invalid: older settings are in force
	steady       steadyTime
	updated      string // copy of the ledger that this start made before its form changed; "" = none

	looking sync.Mutex    // held while all projects are looked at
	looked  chan struct{} // capacity 1; signalled after a look that was not the loop's own

	lifecycle sync.Mutex // held by Start and Stop
	begun     bool
	running   service.Group
	closing   chan struct{} // closed when Stop begins
	stop      sync.Once
	ended     chan struct{} // closed when the engine has ended
	fault     error         // set before ended is closed
}

// Options select the daemon's mode and its dependencies.
type Options struct {
	Version string
	State   string // state folder; created when it is missing
	Config  *config.Config
	Agents  map[string]agent.Definition // agents in addition to those of the configuration
	Hat     string                      // path of the hat program; "" = beside this executable
	Shim    string                      // path of nightporter-shim; "" = beside this executable
	Person  string                      // name of the operator, for the ledger
	LogTo   slog.Handler                // second log output besides the log file; nil = none
	Clock   func() time.Time            // nil: time.Now

	// Observe receives every committed entry, with the project's state before and
	// after it. The goroutine that decides calls it, so it must return at once.
	// nil = no observer.
	Observe func(before, after loop.State, e ledger.Entry)

	// Outage is called when the ledger begins to refuse commits for a fault of the
	// machine, when the reason changes, and with the zero value when it takes them
	// again. It must return at once. nil = nobody is told.
	Outage func(engine.Outage)

	// Disk is called when the disk of the state folder begins to fill up, and when
	// it has room again, with the message for people. It must return at once. nil =
	// the terminal is not told.
	Disk func(bot.Message)

	// Run holds the settings of a run in the foreground. The daemon works on this
	// run's project alone, and Start may change Run.Project to a free name.
	Run *ledger.Settings

	// Stays makes the daemon work on every configured project, connect the chats
	// and start runs by itself. With neither Stays nor Run it only answers the
	// process that started it.
	Stays bool
	// Paused changes Stays: no chat is connected and no run starts by itself.
	// Tests trigger both when they need them.
	Paused bool
	// Listener is the operator's socket; nil = Start creates it.
	Listener net.Listener
	// Reload loads the configuration again. Required with Stays.
	Reload func() (*config.Config, error)
}

// New returns a daemon that holds no resources yet. Call Start next.
func New(o Options) *Daemon {
	return &Daemon{o: o, metrics: metrics.New(o.Version), Changes: &service.Broadcast{}, closing: make(chan struct{}), looked: make(chan struct{}, 1), ended: make(chan struct{})}
}

// Ended returns a channel that is closed when the engine has ended. The engine
// ends before Stop only after an error that it cannot continue from; Err
// returns it.
func (d *Daemon) Ended() <-chan struct{} { return d.ended }

// Err returns the error with which the engine ended, nil after Stop. Call it
// after Ended is closed.
func (d *Daemon) Err() error { return d.fault }

// serves reports whether this process keeps running and acts on inputs.
func (d *Daemon) serves() bool { return d.o.Stays || d.o.Run != nil }
