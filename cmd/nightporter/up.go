package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/autostart"
	"github.com/nightporter/nightporter/internal/daemon/logging"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop/ledger"
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

// stopTime is how long the daemon may take to go (SPEC 13: out within 10 s).
const stopTime = 9 * time.Second

func up(cmd *cobra.Command, file, state string) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	read := func() (*config.Config, error) { return loadConfig(file) }
	cfg, err := read()
	if err == nil {
		_, err = autostart.SchedulesOf(cfg) // before the state folder is touched
	}
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
	d := daemon.New(daemon.Options{
		Version: Version, State: dir, Config: cfg, Agents: builtin(0), Person: personName(), LogTo: stderrLog(), Stays: true, Listener: listener, Reload: read,
	})
	switch told, err := startUntilSignal(cmd.Context(), d, signals); {
	case told:
		return nil
	case err != nil:
		return notStarted(cmd.ErrOrStderr(), err)
	}
	fmt.Fprint(cmd.OutOrStdout(), d.Greeting())
	exit := serve(cmd.Context(), d, signals)
	select {
	case <-stopAsync(d):
	case <-time.After(stopTime):
		// The database is whole at any moment, and what is not saved is done again.
		fmt.Fprintln(os.Stderr, "! something would not end in time; nothing is lost by going now")
	case sig := <-nextSignal(signals):
		n, _ := sig.(syscall.Signal)
		return exitCode(128 + int(n))
	}
	if exit == 0 {
		return nil
	}
	return exitCode(exit)
}

// stopped stops the daemon; the channel is closed when it has ended.
func stopAsync(d *daemon.Daemon) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		d.Stop()
	}()
	return gone
}

// starting starts the daemon, unless a signal ends the program first: what is
// taken up is looked at with git, which can hang as disks do. It reports
// whether it was told to go.
func startUntilSignal(ctx context.Context, d *daemon.Daemon, signals chan os.Signal) (told bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- d.Start(ctx) }()
	reload := false
	for {
		select {
		case err := <-done:
			if reload && err == nil {
				select {
				case signals <- syscall.SIGHUP: // the loop that waits from now on does it
				default: // so many came meanwhile that it will end
				}
			}
			return false, err
		case sig := <-signals:
			if sig == syscall.SIGHUP {
				reload = true // once the daemon can
				continue
			}
			cancel()
			select {
			case <-stopAsync(d):
			case <-time.After(stopTime):
			}
			return true, nil
		}
	}
}

// working returns with the exit code once the daemon shall end. A signal is no
// failure: its sender wants exactly that, and nothing is unfinished by it.
func serve(ctx context.Context, d *daemon.Daemon, signals <-chan os.Signal) int {
	for {
		select {
		case sig := <-signals:
			if sig != syscall.SIGHUP {
				d.Log.Info("signal", "signal", sig.String())
				return 0
			}
			d.Reload(ctx)
		case <-d.Ended():
			err := d.Err()
			if err == nil {
				err = errors.New("the engine ended")
			}
			d.Log.Error("nightporter ends", "error", err)
			fmt.Fprintf(os.Stderr, "✗ %v\n", err)
			return exitInternal
		}
	}
}

// notStarted says what a person has to mend, all of it (PHONE 4.4).
func notStarted(w io.Writer, err error) error {
	problems(w, err)
	n := 1
	var c *config.Error
	var in *ledger.InputError
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

// again passes on the next signal that ends a program.
func nextSignal(signals <-chan os.Signal) <-chan os.Signal {
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

// stderrLog is the log on standard error: JSON lines for a journal, and only
// what is wrong, in words, for a person at a terminal.
func stderrLog() slog.Handler {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return slog.NewTextHandler(os.Stderr, logging.Options(slog.LevelWarn))
	}
	return slog.NewJSONHandler(os.Stderr, logging.Options(slog.LevelInfo))
}
