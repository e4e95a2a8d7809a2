package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop/engine"
)

// Command carries out a line of the terminal. A refused line is a Reply without
// OK; api.ErrLater means that the daemon is stopping and the caller may retry.
func (svc *Service) Command(ctx context.Context, c api.Command) (api.Reply, error) {
	actor := c.Actor
	if actor == "" {
		actor = "console"
	}
	var answering bot.Service = svc
	if svc.o.Stays {
		answering = svc.Host()
	}
	m, err := bot.Handle(ctx, answering, bot.Request{
		Key: c.Key, Actor: actor, Name: svc.o.Person, Project: svc.project(c.Project), Text: c.Text, Time: svc.now(), Terminal: true,
	})
	if err != nil {
		svc.o.Log.Error("command", "text", c.Text, "error", err)
		if errors.Is(err, engine.ErrStopped) {
			return api.Reply{}, fmt.Errorf("%w: nightporter is stopping", api.ErrLater)
		}
	}
	text := m.Text(80)
	for _, also := range m.Also {
		text += "\n\n" + also.Text(80)
	}
	return api.Reply{OK: err == nil && !m.Refused, Text: text}, nil
}
