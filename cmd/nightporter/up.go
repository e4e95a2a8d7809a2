package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/autostart"
	"github.com/nightporter/nightporter/internal/daemon/logging"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop/ledger"
)

func upCommand() *cobra.Command {
	var file, state string
	var pair bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Stay, work on every configured project, and be there for commands and chats",
		Long: `Stay, work on every configured project, and be there for commands and chats.
A run starts by /run, when work is ready (start = "auto") or by a cron
expression. What was unfinished is taken up.

SIGTERM and Ctrl-C end it within 10 seconds, with exit code 0: sessions go on
by themselves and are taken up by the next one; a second one ends it at once.
To end a run, with its session: nightporter stop [--now]
SIGHUP reads the configuration again.

--pair also shows a code for the first phone, as nightporter pair does beside it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return up(cmd, file, state, pair) },
	}
	cmd.Flags().StringVar(&file, "config", "", "configuration file")
	cmd.Flags().StringVar(&state, "state", "", "state folder")
	cmd.Flags().BoolVar(&pair, "pair", false, "let the first phone in: show a code, as nightporter pair does")
	return cmd
}

// stopTime limits the end of the daemon. A service manager expects it within 10
// s.
const stopTime = 9 * time.Second

func up(cmd *cobra.Command, file, state string, pair bool) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	read := func() (*config.Config, error) { return loadConfig(file) }
	cfg, err := read()
	if err == nil {
		_, err = autostart.SchedulesOf(cfg) // check before touching the state folder
	}
	dir, dirErr := config.StateDir(state)
	if err = errors.Join(err, dirErr); err != nil {
		if l, _ := socket.Activated(dir); l != nil { // its mistakes come after those of the configuration
			refuseCommands(l, err)
		}
		return notStarted(cmd.ErrOrStderr(), err)
	}
	s := &start{state: dir, config: cfg, read: read, signals: signals, out: cmd.ErrOrStderr()}
	d, err := s.run(cmd.Context())
	switch {
	case err != nil:
		if s.listener != nil {
			refuseCommands(s.listener, err)
		}
		return notStarted(cmd.ErrOrStderr(), err)
	case d == nil:
		return nil // a signal ended it
	}
	fmt.Fprint(cmd.OutOrStdout(), d.Greeting())
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	paired := make(chan struct{})
	go func() {
		defer close(paired)
		if pair {
			pairFirst(ctx, cmd, d.Operator, dir, cfg)
		}
	}()
	exit := serve(ctx, d, signals)
	cancel()
	<-paired
	select {
	case <-stopAsync(d):
	case <-time.After(stopTime):
		// The database is consistent at any moment; unsaved work is repeated.
		fmt.Fprintln(problemWriter(os.Stderr, slog.LevelWarn), "! something would not end in time; nothing is lost by going now")
	case sig := <-nextSignal(signals):
		n, _ := sig.(syscall.Signal)
		return exitCode(128 + int(n))
	}
	if exit == 0 {
		return nil
	}
	return exitCode(exit)
}

// stopAsync stops the daemon in a goroutine and returns a channel that is
// closed when it has ended.
func stopAsync(d *daemon.Daemon) <-chan struct{} {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		d.Stop()
	}()
	return stopped
}

// serve reloads on SIGHUP and returns the exit code on any other signal or when
// the engine ends. A signal is no failure: its sender wants the end, and the
// next start resumes all work.
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
			fmt.Fprintf(problemWriter(os.Stderr, slog.LevelError), "✗ %v\n", err)
			return exitInternal
		}
	}
}

// refuseCommands tells the commands that wait at the service manager's socket why
// the daemon does not start.
func refuseCommands(l net.Listener, err error) {
	first, _, _ := strings.Cut(strings.TrimSpace(project.Problems(err)), "\n")
	socket.Refuse(l, "it does not start: "+strings.TrimSpace(strings.TrimPrefix(first, bot.SignFailed)), stderrLogger())
}

// notStarted prints all mistakes that keep the daemon from starting.
func notStarted(w io.Writer, err error) error {
	w = problemWriter(w, slog.LevelError)
	printProblems(w, err)
	n := 1
	var c *config.Error
	var in *ledger.InputError
	switch {
	case errors.As(err, &c):
		n = len(c.Diagnostics) + c.More
	case errors.As(err, &in):
		n = len(in.Diagnostics)
	}
	noun := "errors"
	if n == 1 {
		noun = "error"
	}
	fmt.Fprintf(w, "Not started: %d %s (exit %d). Look again with: nightporter doctor\n", n, noun, exitUsage)
	return exitCode(exitUsage)
}

// nextSignal passes on the next signal that ends the program.
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

// stderrLogger is stderrLog as a logger.
func stderrLogger() *slog.Logger { return slog.New(stderrLog()) }

// stderrLog returns the log on standard error: only warnings as text for a
// terminal, JSON lines for everything else, with priorities for systemd's journal.
func stderrLog() slog.Handler {
	switch {
	case term.IsTerminal(int(os.Stderr.Fd())):
		return slog.NewTextHandler(os.Stderr, logging.Options(slog.LevelWarn))
	case toJournal():
		return logging.JournalHandler(os.Stderr, slog.LevelInfo)
	}
	return slog.NewJSONHandler(os.Stderr, logging.Options(slog.LevelInfo))
}

// toJournal reports whether standard error is systemd's journal.
var toJournal = sync.OnceValue(func() bool {
	is, err := journal.StderrIsJournalStream()
	return is && err == nil
})

// problemWriter returns the writer for people's text about what is wrong: w, with
// a priority where it is the journal.
func problemWriter(w io.Writer, level slog.Level) io.Writer {
	if w == io.Writer(os.Stderr) && toJournal() {
		return logging.PriorityWriter(w, level)
	}
	return w
}
