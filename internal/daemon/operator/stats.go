package operator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/stats"
	"github.com/nightporter/nightporter/store"
)

// statsFolds caches the folds of ledgers to figures. A ledger is read whole once; after
// that only newer entries are read. The read is made by the request that asks, which may
// give up; the next one goes on where it stopped.
type statsFolds struct {
	mu sync.Mutex
	of map[string]*statsFold // by project
}

// statsFold is a fold up to the entry seq. Requests about one project wait for each
// other, those about others do not.
type statsFold struct {
	turn chan struct{} // holds a value while a request reads
	zone string
	fold *stats.Fold
	seq  int64
}

// get returns the fold of a project, which the caller has to itself until it calls
// release. It waits until ctx ends.
func (s *statsFolds) get(ctx context.Context, project string) (f *statsFold, release func(), err error) {
	s.mu.Lock()
	if s.of == nil {
		s.of = map[string]*statsFold{}
	}
	if f = s.of[project]; f == nil {
		f = &statsFold{turn: make(chan struct{}, 1)}
		s.of[project] = f
	}
	s.mu.Unlock()
	select {
	case f.turn <- struct{}{}:
		return f, func() { <-f.turn }, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// read returns a project's figures up to now.
func (s *statsFolds) read(ctx context.Context, from *store.Store, project string, since stats.Since, now time.Time) (stats.Report, error) {
	f, release, err := s.get(ctx, project)
	if err != nil {
		return stats.Report{}, fmt.Errorf("figures of %s: %w", project, err)
	}
	defer release()
	if zone := now.Location().String(); f.fold == nil || f.zone != zone { // other days
		f.zone, f.fold, f.seq = zone, stats.New(now.Location()), 0
	}
	err = from.RecordsAfter(ctx, ledger.ProjectStream(project), f.seq, stats.Types(), func(r ledger.Record) error {
		f.seq = r.Seq
		if e, err := r.Entry(); err == nil { // skips unreadable entries
			f.fold.Apply(e)
		}
		return nil
	})
	if err != nil {
		return stats.Report{}, fmt.Errorf("figures of %s: %w", project, err)
	}
	return f.fold.Report(since, now), nil
}

// Stats returns a project's figures as a chat shows them, with a picture of the whole.
func (svc *Service) Stats(ctx context.Context, project string, q bot.StatsQuery) (bot.Message, error) {
	r, err := svc.figures.read(ctx, svc.o.Store, project, q.Since, q.Now.In(svc.o.Projects.Zone()))
	if errors.Is(err, context.DeadlineExceeded) {
		return bot.StatsReading(project, q), nil
	}
	if err != nil {
		return bot.Message{}, err
	}
	m := bot.Stats(project, r, q.By)
	if q.By == "" && !r.All.IsZero() {
		m = svc.o.Digests.WithFigures(m, report.Stats{Project: project, Report: r})
	}
	return m, nil
}

// Stats is the output of `nightporter stats --json`. What is null is unknown. Fields are
// added, never renamed.
type Stats struct {
	Project string        `json:"project"`
	Since   string        `json:"since"`         // run, all, or days: 30d
	Run     string        `json:"run,omitempty"` // with since run
	From    time.Time     `json:"from,omitzero"` // first day that has figures
	All     Figures       `json:"all"`
	By      []NamedFigure `json:"by,omitempty"`   // of --by, or of all four
	Days    []DayFigure   `json:"days,omitempty"` // that have figures
	Picture []byte        `json:"picture,omitempty"`
	Fault   string        `json:"fault,omitempty"` // error that kept the picture from being drawn
}

// NamedFigure has the figures of a hat, an agent, a model or a size.
type NamedFigure struct {
	By   string `json:"by"`
	Name string `json:"name"` // "" = the agent's own model, or no task
	Figures
}

// DayFigure has the figures of a day.
type DayFigure struct {
	Day string `json:"day"` // 2026-11-20
	Figures
}

// Figures are sums and the rates that follow from them (docs/spec 10.9).
type Figures struct {
	Sessions     int     `json:"sessions"`
	Failed       int     `json:"failed_sessions"`
	Known        float64 `json:"cost_known_usd"`     // of the sessions whose cost is known
	Unpriced     int     `json:"unpriced"`           // sessions whose cost is unknown
	Estimated    int     `json:"estimated"`          // of the known ones, those whose agent did not say it: by the price of its tokens, or usd_estimate
	Tokens       int64   `json:"tokens_known"`       // of the sessions that reported any
	Untold       int     `json:"untold"`             // sessions whose tokens are unknown
	Read         int64   `json:"tokens_read_known"`  // of tokens_known, those that models read, cached ones too
	Unsplit      int     `json:"read_untold"`        // sessions of which it is unknown what of their tokens was read
	Prompt       int64   `json:"prompt_bytes_known"` // of the prompts that sessions were given
	Unsized      int     `json:"prompts_unknown"`    // sessions whose prompt is not known
	Finished     int     `json:"tasks_finished"`
	Done         int     `json:"tasks_done"`
	FirstPass    int     `json:"first_pass"`
	FixRounds    int     `json:"fix_rounds"`
	Reviews      int     `json:"reviews"`
	Judged       int     `json:"reviews_judged"` // whose issues all say what they contradict
	Contradicted int     `json:"contradictions"` // of reviews_judged

	CostUSD          *float64 `json:"cost_usd"`
	CompletionRate   *float64 `json:"completion_rate"`
	FirstPassRate    *float64 `json:"first_pass_rate"`
	Contradiction    *float64 `json:"contradiction_rate"`
	CostATask        *float64 `json:"cost_a_task_usd"`
	TokensASession   *int64   `json:"tokens_a_session"`
	ReadASession     *int64   `json:"tokens_read_a_session"`
	PromptASession   *int64   `json:"prompt_tokens_a_session_estimated"`
	MinutesASession  *float64 `json:"minutes_a_session"`
	FixRoundsPerTask *float64 `json:"fix_rounds_a_task"`
}

// figuresOf returns figures with their rates.
func figuresOf(f stats.Figures) Figures {
	out := Figures{
		Sessions: f.Sessions, Failed: f.Failed, Known: f.USD, Unpriced: f.Unpriced, Estimated: f.Estimated, Tokens: f.Tokens, Untold: f.Untold,
		Read: f.Read, Unsplit: f.Unsplit, Prompt: f.Prompt, Unsized: f.Unsized,
		Finished: f.Finished, Done: f.Done, FirstPass: f.FirstPass, FixRounds: f.FixRounds, Reviews: f.Reviews, Judged: f.Judged, Contradicted: f.Contradicted,
	}
	part := func(n float64, of int) *float64 {
		if of == 0 {
			return nil
		}
		n /= float64(of)
		return &n
	}
	if f.Unpriced == 0 {
		out.CostUSD = &f.USD
	}
	out.CompletionRate, out.FirstPassRate = part(float64(f.Done), f.Finished), part(float64(f.FirstPass), f.Done)
	out.Contradiction, out.FixRoundsPerTask = part(float64(f.Contradicted), f.Judged), part(float64(f.FixRounds), f.Done)
	out.MinutesASession = part(float64(f.Ms)/60_000, f.Sessions)
	if usd, known := f.CostATask(); known {
		out.CostATask = &usd
	}
	for _, mean := range []struct {
		to **int64
		of func() (int64, int)
	}{{&out.TokensASession, f.TokensASession}, {&out.ReadASession, f.ReadASession}, {&out.PromptASession, f.PromptASession}} {
		if n, of := mean.of(); of > 0 {
			*mean.to = &n
		}
	}
	return out
}

// statsView answers with the figures of a project for the terminal, and with the picture
// if Args["look"] is "dark" or "light".
func (svc *Service) statsView(ctx context.Context, project string, args map[string]string) (api.Reply, error) {
	q := bot.ParseStats(args["words"], svc.now())
	r, err := svc.figures.read(ctx, svc.o.Store, project, q.Since, q.Now)
	if err != nil {
		return api.Reply{}, err
	}
	out := Stats{Project: project, Since: q.Since.String(), Run: r.Run, From: r.From, All: figuresOf(r.All)}
	for _, by := range stats.Kinds() {
		if q.By != "" && q.By != by {
			continue
		}
		for _, p := range r.By[by] {
			out.By = append(out.By, NamedFigure{By: string(by), Name: p.Name, Figures: figuresOf(p.Figures)})
		}
	}
	for _, d := range r.Days {
		out.Days = append(out.Days, DayFigure{Day: d.Date.Format(time.DateOnly), Figures: figuresOf(d.Figures)})
	}
	m := bot.Stats(project, r, q.By)
	switch look := args["look"]; {
	case look != "" && r.All.IsZero():
		out.Fault = "there are no figures to draw"
	case look != "":
		s := report.Stats{Project: project, Report: r}
		if out.Picture, err = svc.o.Digests.DrawFigures(s, look != "light"); err != nil {
			svc.o.Log.Error("picture of the figures", "project", project, "error", err)
			out.Fault = err.Error()
		}
	}
	return reply(m.Text(80), out)
}
