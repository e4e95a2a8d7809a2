package operator

import (
	"context"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/digest"
)

// Digest is the output of `nightporter digest --json`. Fields are added, never
// renamed.
type Digest struct {
	Project string    `json:"project"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Text    string    `json:"text"`
	Alt     string    `json:"alt"` // text alternative of the picture
	Picture []byte    `json:"picture,omitempty"`
	Fault   string    `json:"fault,omitempty"` // error that kept the picture from being drawn
}

// digestOfAll answers with the digests of all projects that have had a run, as the
// morning sends them.
func (svc *Service) digestOfAll(ctx context.Context, args map[string]string) (api.Reply, error) {
	names := bot.WithRuns(svc)
	switch {
	case len(names) == 0:
		return api.Reply{Text: "no digest: no project has had a run (there are: " + strings.Join(svc.Projects(), " ") + ")"}, nil
	case args["look"] != "":
		return api.Reply{Text: "one picture is of one project: --project " + strings.Join(names, " | ")}, nil
	}
	var texts []string
	var all []Digest
	for _, name := range names {
		text, d, err := svc.digestOf(ctx, name, args)
		if err != nil {
			return api.Reply{}, err
		}
		texts, all = append(texts, text), append(all, d)
	}
	return reply(strings.Join(texts, "\n\n"), all)
}

// digestView answers with the digest of a project for the terminal: the text and its
// alternative, and the picture if Args["look"] is "dark" or "light".
func (svc *Service) digestView(ctx context.Context, project string, args map[string]string) (api.Reply, error) {
	text, d, err := svc.digestOf(ctx, project, args)
	if err != nil {
		return api.Reply{}, err
	}
	return reply(text, d)
}

func (svc *Service) digestOf(ctx context.Context, project string, args map[string]string) (text string, out Digest, err error) {
	q := bot.DigestQuery{Span: args["span"], Admin: true, Now: svc.now()}
	f, err := svc.facts(ctx, project, &q)
	if err != nil {
		return "", out, err
	}
	m, err := digest.Text(f, q.Span)
	if err != nil {
		return "", out, err
	}
	alt, err := digest.AltText(f)
	if err != nil {
		return "", out, err
	}
	out = Digest{Project: project, From: f.From, To: f.To, Text: m.Text(0), Alt: alt}
	m.Alt = alt
	if look := args["look"]; look != "" {
		if out.Picture, err = svc.o.Digests.Draw(f, look != "light"); err != nil {
			svc.o.Log.Error("picture of the digest", "project", project, "error", err)
			out.Fault = err.Error()
		}
	}
	return m.Text(80), out, nil
}

// Digest returns the digest as a chat shows it, with the picture unless the
// query spans everything. Only admins see the count of strangers.
func (svc *Service) Digest(ctx context.Context, project string, q bot.DigestQuery) (bot.Message, error) {
	f, err := svc.facts(ctx, project, &q)
	if err != nil {
		return bot.Message{}, err
	}
	if !q.Admin {
		f.Strangers = 0
	}
	m, err := digest.Text(f, q.Span)
	if err != nil || q.Span == bot.SpanAll {
		return m, err
	}
	return svc.o.Digests.WithPicture(ctx, m, f, q.Now), nil
}

// facts reads the facts of the queried span, in the configured time zone.
func (svc *Service) facts(ctx context.Context, project string, q *bot.DigestQuery) (report.Facts, error) {
	q.Now = q.Now.In(svc.o.Projects.Zone())
	s, _ := svc.recorded(project)
	return svc.o.Digests.Facts(ctx, s, q.From(s.Shared.Digest), q.Now)
}
