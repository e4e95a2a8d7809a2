package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
)

func upCommand() *cobra.Command {
	var file, state string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Stay, work on every configured project, and be there for commands and chats",
		Long: `Stay, work on every configured project, and be there for commands and chats.
A run starts by /run, when work is ready (start = "auto") or by a cron
expression. What was unfinished is taken up.

SIGTERM and Ctrl-C end it within 10 seconds, with exit code 0: sessions go on
by themselves and are taken up by the next one; a second one ends it at once.
To end a run, with its session: nightporter stop [--now]
SIGHUP reads the configuration again.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return up(cmd, file, state) },
	}
	cmd.Flags().StringVar(&file, "config", "", "configuration file")
	cmd.Flags().StringVar(&state, "state", "", "state folder")
	return cmd
}

// leaving is how long the daemon may take to go (SPEC 13: out within 10 s).
const leaving = 9 * time.Second

func up(cmd *cobra.Command, file, state string) error {
	ctx := cmd.Context()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	u := &upService{file: file, out: cmd.OutOrStdout()}
	cfg, plans, err := u.read()
	if err != nil {
		return notStarted(cmd.ErrOrStderr(), err)
	}
	dir, err := config.StateDir(state)
	if err != nil {
		return notStarted(cmd.ErrOrStderr(), err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return notStarted(cmd.ErrOrStderr(), fmt.Errorf("state folder: %w", err))
	}
	listener, err := socket.Activated(dir)
	if err != nil {
		return notStarted(cmd.ErrOrStderr(), err)
	}
	off := lastSeen(dir)
	p, told, err := opening(ctx, porterOptions{
		state: dir, cfg: cfg, agents: builtin(0), stays: true, listener: listener, logTo: stderrLog(), observe: u.journal.add,
	}, signals)
	switch {
	case told:
		return nil
	case err != nil:
		return notStarted(cmd.ErrOrStderr(), err)
	}
	u.porter = p
	return u.stay(ctx, plans, off, signals)
}

// opening opens the porter, unless a signal ends the program first: what is
// taken up is looked at with git, which can hang as disks do. It reports
// whether it was told to go.
func opening(ctx context.Context, o porterOptions, signals chan os.Signal) (p *porter, told bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type opened struct {
		porter *porter
		err    error
	}
	done := make(chan opened, 1)
	go func() {
		p, err := openPorter(ctx, o)
		done <- opened{p, err}
	}()
	reload := false
	for {
		select {
		case it := <-done:
			if reload && it.err == nil {
				select {
				case signals <- syscall.SIGHUP: // whoever waits from now on does it
				default: // so many came meanwhile that it will end
				}
			}
			return it.porter, false, it.err
		case sig := <-signals:
			if sig == syscall.SIGHUP {
				reload = true // once there is somebody who can
				continue
			}
			cancel()
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				if it := <-done; it.porter != nil {
					it.porter.close()
				}
			}()
			select {
			case <-gone:
			case <-time.After(leaving):
			}
			return nil, true, nil
		}
	}
}

// notStarted says what a person has to mend, all of it (PHONE 4.4).
func notStarted(w io.Writer, err error) error {
	problems(w, err)
	n := 1
	var c *config.Error
	var in *loop.InputError
	switch {
	case errors.As(err, &c):
		n = len(c.Items) + c.More
	case errors.As(err, &in):
		n = len(in.Findings)
	}
	noun := "errors"
	if n == 1 {
		noun = "error"
	}
	fmt.Fprintf(w, "Not started: %d %s (exit %d). Look again with: nightporter doctor\n", n, noun, exitUsage)
	return exitCode(exitUsage)
}

// seen keeps lastSeen to the minute while nightporter is there.
func seen(ctx context.Context, state string) {
	every := time.NewTicker(time.Minute)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			_ = os.Chtimes(filepath.Join(state, "nightporter.log"), now, now)
		}
	}
}

// lastSeen is when a nightporter was last there: its log is touched every
// minute. Zero where there was none.
func lastSeen(state string) time.Time {
	info, err := os.Stat(filepath.Join(state, "nightporter.log"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// upService is `up` while it runs.
type upService struct {
	file    string // --config
	out     io.Writer
	porter  *porter
	starter *autostarter
	journal journal
}

// read loads the configuration and what `up` alone wants of it.
func (u *upService) read() (*config.Config, schedules, error) {
	cfg, err := loadConfig(u.file)
	if err != nil {
		return nil, nil, err
	}
	plans, err := schedulesOf(cfg)
	return cfg, plans, err
}

// stay works until a signal ends it, and returns the program's exit.
func (u *upService) stay(ctx context.Context, plans schedules, off time.Time, signals <-chan os.Signal) error {
	p := u.porter
	sd := manager{p.log}
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	p.cameBack(ctx, off)
	u.starter = newStarter(p, plans, off)
	work.Go(func() { u.starter.run(ctx) })
	stopChats, err := chats(ctx, p, off)
	if err != nil {
		cancel()
		work.Wait()
		p.close()
		return notStarted(os.Stderr, err)
	}
	p.log.Info("nightporter is up", "version", Version, "pid", os.Getpid(), "state", p.state, "config", p.config().File, "projects", *p.working.Load())
	u.greet()
	sd.tell(daemon.SdNotifyReady + "\nSTATUS=" + p.statusLine())
	if every := sd.watchdog(); every > 0 {
		work.Go(func() { sd.feed(ctx, every, p.alive) })
	}
	work.Go(func() { sd.report(ctx, p) })
	work.Go(func() { u.journal.run(ctx, p.log) })
	work.Go(func() { seen(ctx, p.state) })
	work.Go(func() { p.tidyFolders(ctx) })

	exit := u.wait(ctx, sd, signals)
	sd.tell(daemon.SdNotifyStopping)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		cancel()
		stopChats()
		p.leave() // nobody waits for news any more
		work.Wait()
		p.log.Info("nightporter ends; sessions in flight go on and are taken up by the next start", "exit", exit)
		p.close()
	}()
	select {
	case <-gone:
	case <-time.After(leaving):
		// The database is whole at any moment, and what is not saved is done again.
		fmt.Fprintln(os.Stderr, "! something would not end in time; nothing is lost by going now")
	case sig := <-again(signals):
		n, _ := sig.(syscall.Signal)
		return exitCode(128 + int(n))
	}
	if exit == 0 {
		return nil
	}
	return exitCode(exit)
}

// again passes on the next signal that ends a program.
func again(signals <-chan os.Signal) <-chan os.Signal {
	out := make(chan os.Signal, 1)
	go func() {
		for sig := range signals {
			if sig != syscall.SIGHUP {
				out <- sig
				return
			}
		}
	}()
	return out
}

// wait returns with the exit code once the daemon shall end. A signal is no
// failure: whoever sent it wants exactly that, and nothing is unfinished by it.
func (u *upService) wait(ctx context.Context, sd manager, signals <-chan os.Signal) int {
	p := u.porter
	for {
		select {
		case sig := <-signals:
			if sig != syscall.SIGHUP {
				p.log.Info("signal", "signal", sig.String())
				return 0
			}
			sd.tell(daemon.SdNotifyReloading)
			u.reload(ctx)
			sd.tell(daemon.SdNotifyReady)
		case err := <-p.ended:
			p.ended <- err
			if err == nil {
				err = errors.New("the engine ended")
			}
			p.log.Error("nightporter ends", "error", err)
			fmt.Fprintf(os.Stderr, "✗ %v\n", err)
			return exitInternal
		}
	}
}

// notReloaded begins the remark on a configuration that cannot be used.
const notReloaded = "! settings not reloaded"

// reload reads the configuration again. Where it is wrong, the old settings
// stay in force and the status says so (PHONE 4.4). Runs under way keep the
// settings that they began with.
func (u *upService) reload(ctx context.Context) {
	p := u.porter
	cfg, plans, err := u.read()
	if err == nil {
		old := p.config()
		if cfg.SessionUser != old.SessionUser || cfg.Boundary != old.Boundary {
			p.log.Warn("session_user and boundary take effect when nightporter is started again")
			cfg.SessionUser, cfg.Boundary = old.SessionUser, old.Boundary
		}
		err = p.runner.use(cfg)
	}
	if err != nil {
		where := oneLine(err)
		var c *config.Error
		if errors.As(err, &c) && len(c.Items) > 0 && c.Items[0].Line > 0 {
			where = fmt.Sprintf("line %d", c.Items[0].Line)
		}
		p.remarks.set("", remarkConfig, notReloaded+": "+where)
		p.log.Error("settings not reloaded, the old ones stay", "error", err)
		return
	}
	later := ""
	if old := p.begun.Telegram; (old == nil) != (cfg.Telegram == nil) || old != nil && *old != *cfg.Telegram {
		later = "! the new [telegram] takes effect when nightporter is started again"
		p.log.Warn("telegram is reached as before until nightporter is started again")
	}
	if old := p.begun.Slack; (old == nil) != (cfg.Slack == nil) || old != nil && *old != *cfg.Slack {
		later = "! the new [slack] takes effect when nightporter is started again"
		p.log.Warn("slack is reached as before until nightporter is started again")
	}
	p.cfg.Store(cfg)
	p.remarks.set("", remarkConfig, later)
	p.rethread()
	p.work(p.workable(ctx, *p.working.Load()))
	u.starter.free(ctx)
	u.starter.use(plans)
	p.log.Info("settings reloaded", "projects", *p.working.Load())
	p.changes.Ring()
}

// greet says where everything stands, for a person at a terminal and for the
// journal's first lines.
func (u *upService) greet() {
	p := u.porter
	names := *p.working.Load()
	what := strings.Join(names, ", ")
	if len(names) == 0 {
		what = "no project yet; add one to the configuration, then: kill -HUP " + fmt.Sprint(os.Getpid())
	}
	fmt.Fprintf(u.out, "● nightporter is up: %s\n", what)
	d := &operatorService{porter: p}
	for _, name := range d.Projects() {
		s, ok := d.State(name)
		switch {
		case !ok:
		case !s.Project.Run.Over() && p.worksOn(name):
			fmt.Fprintf(u.out, "  %s: %s is taken up\n", name, s.Project.Run.ID)
		case p.worksOn(name):
			fmt.Fprintf(u.out, "  %s: %s\n", name, u.starter.says(name))
		default:
			fmt.Fprintf(u.out, "  %s: only shown, it is not worked on\n", name)
		}
		for _, line := range p.remarks.of(name) {
			fmt.Fprintln(u.out, "  "+line)
		}
	}
	file := p.config().File
	if file == "" {
		file = "none (make one: nightporter init)"
	}
	fmt.Fprintf(u.out, "  state %s · config %s\n", p.state, file)
	if p.config().Telegram == nil && p.config().Slack == nil {
		fmt.Fprintln(u.out, "  no chat is configured: nightporter status, run, guidance, stop")
	}
	fmt.Fprintln(u.out, "  Ctrl-C ends it; sessions go on and are taken up next time.")
}
