package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/tui"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/socket"
)

func watchCommand() *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "watch [PROJECT]",
		Short: "A live screen of what a project is at",
		Long: `A live screen of what a project is at: run, tasks, the hat in hand and what its
agent printed last, sessions by hat, guidance, what happened last. Keys give
guidance, pause, resume, stop, answer questions and show tasks, logs and diffs;
? lists them. q quits, and nightporter goes on. From 120 columns and 36 lines it
also shows what the session at work says and does, and the plan or the diff of its
task.
Where the output is no terminal, the status is printed once.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.project = args[0]
			}
			if !interactive(cmd.InOrStdin()) || columns(cmd.OutOrStdout()) == 0 {
				return f.ask(cmd.Context(), func(a asker) error {
					r, err := a.View(cmd.Context(), api.View{Name: "status", Project: f.project})
					return printReply(cmd, r, err, false)
				})
			}
			state, err := config.StateDir(f.state)
			if err != nil {
				return err
			}
			if !daemon.Listens(state) {
				return errors.New("nightporter is not running. Start it: nightporter up")
			}
			client, err := socket.Operator(state)
			if err != nil {
				return err
			}
			return tui.Run(cmd.Context(), watchClient{client}, cmd.InOrStdin(), cmd.OutOrStdout(), tui.Options{
				Project: f.project, Color: colour(cmd.OutOrStdout()),
				Size: func() (int, int) { return terminalSize(cmd.OutOrStdout()) },
			})
		},
	}
	f.add(cmd)
	return cmd
}

// watchClient connects the screen to the daemon's socket.
type watchClient struct{ client *socket.OperatorClient }

// Look implements tui.Client.
func (w watchClient) Look(ctx context.Context, project, seen string, patient bool) (tui.Scene, error) {
	ask := w.client.TryView
	if patient {
		ask = w.client.View
	}
	r, err := ask(ctx, api.View{Name: api.ViewWatch, Project: project, Args: map[string]string{api.ArgSeen: seen}})
	if err := viewError(ctx, r, err); err != nil {
		return tui.Scene{}, err
	}
	var scene tui.Scene
	if err := json.Unmarshal(r.Data, &scene); err != nil {
		return tui.Scene{}, fmt.Errorf("answer to watch: %w", err)
	}
	return scene, nil
}

// Pane implements tui.Client.
func (w watchClient) Pane(ctx context.Context, q tui.PaneRequest) (tui.Pane, error) {
	var pane tui.Pane
	r, err := w.client.TryView(ctx, api.View{Name: api.ViewPane, Project: q.Project, Args: map[string]string{
		api.ArgPane: string(q.Kind), api.ArgTask: q.Task, api.ArgSeen: q.Seen,
	}})
	if err := viewError(ctx, r, err); err != nil {
		return pane, err
	}
	if err := json.Unmarshal(r.Data, &pane); err != nil {
		return pane, fmt.Errorf("answer to pane: %w", err)
	}
	return pane, nil
}

// viewError returns the error of a view for the screen, nil for one with data.
func viewError(ctx context.Context, r api.Reply, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, api.ErrLater):
		return fmt.Errorf("%w: %w", tui.ErrOffline, err)
	case err != nil:
		return err
	case !r.OK:
		return errors.New(strings.TrimPrefix(r.Text, bot.SignFailed+" "))
	}
	return nil
}

// Send implements tui.Client. It sends the line as `nightporter guidance` does.
func (w watchClient) Send(ctx context.Context, line tui.Line) (tui.Answer, error) {
	r, err := w.client.Command(ctx, api.Command{Key: line.Key, Project: line.Project, Text: line.Text, Actor: "console"})
	if errors.Is(err, api.ErrLater) {
		err = fmt.Errorf("%w: %w", tui.ErrOffline, err)
	}
	return tui.Answer{OK: r.OK, Text: r.Text}, err
}
