package daemon

import (
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/autostart"
	"github.com/nightporter/nightporter/internal/daemon/chat"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/metrics"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/internal/daemon/systemd"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
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

// Ended is closed when the engine has ended, which it does by itself only where
// it cannot go on. Err says why.
func (d *Daemon) Ended() <-chan struct{} { return d.ended }

// Err is why the engine ended; it is read after Ended.
func (d *Daemon) Err() error { return d.fault }

// serves reports whether this process stays to act on what it is told.
func (d *Daemon) serves() bool { return d.o.Stays || d.o.Run != nil }
