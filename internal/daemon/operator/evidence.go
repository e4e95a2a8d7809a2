package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
)

// evidence answers with all ledger records of a task.
func (svc *Service) evidence(ctx context.Context, s loop.State, id string) (api.Reply, error) {
	t, ok := s.Project.Find(id)
	if !ok {
		return api.Reply{Text: fmt.Sprintf("%s has no task %q. Its tasks: nightporter tasks", s.Project.Name, id)}, nil
	}
	records, err := svc.Records(ctx, s.Project.Name, t.Task.ID)
	if err != nil {
		return api.Reply{}, err
	}
	lines := []json.RawMessage{}
	for _, r := range records {
		line, err := bot.RecordJSON(r)
		if err != nil {
			return api.Reply{}, err
		}
		lines = append(lines, line)
	}
	return reply(bot.Evidence(records, time.Local).Text(80), lines)
}
