package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/page"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// evidence answers with all ledger records of a task, an attempt or a wave and, last,
// with the check of the chain that they are in. As HTML its text is a page. A chain that
// is not whole is no OK.
func (svc *Service) evidence(ctx context.Context, s loop.State, id string, html bool) (api.Reply, error) {
	check := svc.CheckChain(ctx, s.Project.Name)
	p := page.Evidence{Project: s.Project.Name, Check: check, Zone: svc.o.Projects.Zone(), Now: svc.now()}
	missing, err := svc.proved(ctx, s, id, &p)
	if err != nil && check.Break == nil { // otherwise the break says why a record cannot be read
		return api.Reply{}, err
	}
	if missing != "" {
		return api.Reply{Text: missing}, nil
	}
	lines := []json.RawMessage{}
	for _, r := range p.Records {
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
	text := ""
	if html {
		made, err := p.HTML()
		if err != nil {
			return api.Reply{}, err
		}
		text, lines = string(made), nil // the page has the entries
	} else {
		text = bot.Evidence(p.Records, check, p.Zone).Text(80)
	}
	r, err := reply(text, append(lines, last))
	r.OK = check.Break == nil
	return r, err
}

// proved reads the records of what id names into p. missing says, for people, that
// there is no such thing; "" = there is.
func (svc *Service) proved(ctx context.Context, s loop.State, id string, p *page.Evidence) (missing string, err error) {
	t, ok := s.Project.Find(id)
	attempt := ""
	if !ok {
		t, attempt, ok = bot.FindAttempt(s, id)
	}
	if ok {
		p.Name, p.Title, p.Text = t.Task.ID, t.Task.Title, t.Task.Body
		p.Pictures = svc.sent(s, t.Task.ID)
		p.Records, err = bot.TaskRecords(ctx, svc, s.Project.Name, t, attempt)
		p.Pictures = append(p.Pictures, svc.taken(p.Records)...)
		return "", err
	}
	run, n, ok := bot.FindWave(s, id)
	if !ok {
		return fmt.Sprintf("%s has no task %q. Its tasks: nightporter tasks", s.Project.Name, id), nil
	}
	p.Name = fmt.Sprintf("wave %d", n)
	if p.Records, err = bot.WaveRecords(ctx, svc, s.Project.Name, run, n); err == nil && len(p.Records) == 0 {
		missing = fmt.Sprintf("%s has no wave %d. Its waves: nightporter waves", cmp.Or(run, "no run"), n)
	}
	return missing, err
}

// sent returns the pictures that people sent with a task and with answers about it.
func (svc *Service) sent(s loop.State, task string) (all []page.Picture) {
	for _, a := range s.Project.AttachedToTask(task) {
		for n, f := range a.Files {
			if !f.Picture() {
				continue
			}
			p := page.Picture{Name: f.FileName(a.To, n+1), Type: f.Type}
			if data, err := svc.o.Attachments.Read(f.Hash); err == nil { // else the page says that it is missing
				p.Data = data
			}
			all = append(all, p)
		}
	}
	return all
}

// taken returns the pictures of the last start and result among records.
func (svc *Service) taken(records []ledger.Record) (all []page.Picture) {
	for _, r := range slices.Backward(records) {
		e, err := r.Entry()
		if err != nil {
			continue // the chain reports it
		}
		b, is := e.Body.(ledger.TaskPictured)
		if !is || b.Result.Tree == "" {
			continue
		}
		for _, s := range []struct {
			name string
			is   *ledger.Picture
		}{{"start", b.Start.Picture}, {"result", b.Result.Picture}} {
			if s.is == nil {
				continue
			}
			p := page.Picture{Name: s.name, Type: "image/png"}
			if data, err := svc.o.Attachments.Read(s.is.Hash); err == nil { // else the page says that it is missing
				p.Data = data
			}
			all = append(all, p)
		}
		return all
	}
	return nil
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
