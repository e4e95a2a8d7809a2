package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/statelock"
)

// finish ends an interview: it tries what would fail at 3:00 and starts the daemon with
// a code for the phone, or names the one command that comes next. asked ends the
// handling of signals by the questions before.
func (p *initWizard) finish(ctx context.Context, asked func(), d initDraft) error {
	state, err := config.StateDir(p.flags.state)
	if err != nil {
		return err
	}
	if daemon.Listens(state) {
		pid, _, _ := statelock.Held(state)
		next := fmt.Sprintf("kill -HUP %d", pid)
		if d.global.TokenFile != "" {
			next = "start it again, then: nightporter pair"
		}
		p.ask.say(fmt.Sprintf("%s nightporter runs already (pid %d). To let it know: %s", bot.SignLook, pid, next))
		return nil
	}
	check, run, up := p.commands(d)
	fmt.Fprintf(p.out, "\n%s\n", check)
	asked()
	if code := p.check(ctx, d); code != 0 {
		fmt.Fprintf(p.out, "\n%s Mend what is marked, then: %s\n", bot.SignLook, check)
		return exitCode(1)
	}
	next := run
	if d.live() {
		start, err := p.agreeToStart()
		switch {
		case err == nil && start:
			return p.start()
		case err != nil:
			fmt.Fprintln(p.out)
		}
		next = up
	}
	fmt.Fprintf(p.out, "Next: %s\n", next)
	return nil
}

func (p *initWizard) agreeToStart() (bool, error) {
	ctx, stop := signal.NotifyContext(p.cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return p.ask.agree(ctx, "Start nightporter here now, and let your phone in?")
}

// start is `nightporter up --pair` in this process.
func (p *initWizard) start() error {
	return up(p.cmd, p.flags.config, p.flags.state, true)
}

// check is `nightporter run --check` in this process. It returns the exit code.
func (p *initWizard) check(ctx context.Context, d initDraft) int {
	cmd := runCommand()
	args := []string{"--check", "--repo", d.project.Repo}
	if p.flags.config != "" {
		args = append(args, "--config", p.flags.config)
	}
	if p.flags.state != "" {
		args = append(args, "--state", p.flags.state)
	}
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader("")) // what is typed is for the next question
	cmd.SetOut(p.out)
	cmd.SetErr(p.err)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(context.WithoutCancel(ctx))
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	printProblems(p.err, err)
	return exitUsage
}
