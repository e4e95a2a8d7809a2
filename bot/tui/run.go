package tui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Run shows the screen until the user leaves it. The run continues.
func Run(ctx context.Context, client Client, in io.Reader, out io.Writer, opt Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := tea.NewProgram(newModel(ctx, client, opt), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out))
	end, err := p.Run()
	if errors.Is(err, tea.ErrInterrupted) {
		return nil // Ctrl-C leaves, like q
	}
	if err != nil {
		return fmt.Errorf("screen: %w", err)
	}
	if m, ok := end.(model); ok {
		return m.err
	}
	return nil
}

func newModel(ctx context.Context, client Client, opt Options) model {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Key == nil {
		opt.Key = func() string { return "watch:" + rand.Text() }
	}
	looks, leave := context.WithCancel(ctx)
	asked := map[PaneKind]context.CancelFunc{} // used by Update alone
	return model{
		opt: opt, now: opt.Now(), input: newInput(""),
		requestScene: func(project, seen string, patient bool, gen int) tea.Cmd {
			if looks.Err() != nil && ctx.Err() == nil { // cancelled by a switch of the project
				looks, leave = context.WithCancel(ctx)
			}
			now := looks
			return func() tea.Msg {
				scene, err := client.Look(now, project, seen, patient)
				return sceneMsg{gen, scene, err}
			}
		},
		cancelLook: func() { leave() },
		panes:      newPanes(), detail: PanePlan, focus: PaneOutput,
		requestPane: func(q PaneRequest, gen int) tea.Cmd {
			ask, cancel := context.WithCancel(ctx)
			asked[q.Kind] = cancel
			return func() tea.Msg {
				defer cancel()
				pane, err := client.Pane(ask, q)
				return paneMsg{q.Kind, gen, pane, err}
			}
		},
		cancelPane: func(kind PaneKind) {
			if cancel := asked[kind]; cancel != nil {
				cancel()
			}
		},
		send: func(s sent) tea.Cmd {
			return func() tea.Msg {
				answer, err := client.Send(ctx, s.Line)
				return answerMsg{s, answer, err}
			}
		},
	}
}
