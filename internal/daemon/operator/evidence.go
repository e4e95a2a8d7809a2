package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// evidence answers with all ledger records of a task and, last, with the check
// of the chain that they are in. A chain that is not whole is no OK.
func (svc *Service) evidence(ctx context.Context, s loop.State, id string) (api.Reply, error) {
	t, ok := s.Project.Find(id)
	if !ok {
		return api.Reply{Text: fmt.Sprintf("%s has no task %q. Its tasks: nightporter tasks", s.Project.Name, id)}, nil
	}
	check := svc.CheckChain(ctx, s.Project.Name)
	records, err := svc.Records(ctx, s.Project.Name, t.Task.ID)
	if err != nil && check.Break == nil { // otherwise the break says why a record cannot be read
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
	last, err := json.Marshal(struct {
		Chain bot.ChainCheck `json:"chain"`
	}{check})
	if err != nil {
		return api.Reply{}, err
	}
	r, err := reply(bot.Evidence(records, check, svc.o.Projects.Zone()).Text(80), append(lines, last))
	r.OK = check.Break == nil
	return r, err
}

// CheckChain recomputes the chain of a project's stream and compares it with
// the ledger's own head and with those that commits name.
func (svc *Service) CheckChain(ctx context.Context, project string) bot.ChainCheck {
	found, err := svc.anchors(ctx, project)
	if err != nil {
		return svc.notRecomputed(project, err)
	}
	stream := ledger.ProjectStream(project)
	breaks, end, err := svc.o.Store.VerifyStream(ctx, stream, found.known())
	if err != nil {
		return svc.notRecomputed(project, err)
	}
	check := bot.ChainCheck{Recomputed: true, Whole: len(breaks) == 0, End: end}
	if len(breaks) > 0 {
		check.Break = &bot.ChainBreak{Seq: breaks[0].Seq, Text: breaks[0].Text, Others: len(breaks) - 1}
		return check
	}
	for _, h := range found.heads {
		if h.Stream == stream && h.Seq > check.Named {
			check.Named, check.Commit = h.Seq, h.commit
		}
	}
	return check
}

// notRecomputed returns the check that was not made.
func (svc *Service) notRecomputed(project string, err error) bot.ChainCheck {
	svc.o.Log.Warn("chain not recomputed", "project", project, "error", err)
	why := "see nightporter.log"
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		why = "it took too long"
	case errors.Is(err, store.ErrBroken):
		why = "the database is damaged"
	}
	return bot.ChainCheck{Why: why}
}
