package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
)

func digestCommand() *cobra.Command {
	var f askFlags
	var out string
	var light, asJSON bool
	cmd := &cobra.Command{
		Use:   "digest [last|today|7d|all]",
		Short: "The morning summary of a project, and its picture",
		Long: `The morning summary of a project: what needs you, what was done, what failed and
why. Without a word it is about what the last one was about, up to now.
--out FILE.png writes its picture.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			args := map[string]string{}
			if len(words) > 0 {
				if args["span"] = strings.ToLower(words[0]); !bot.IsSpan(words[0]) {
					return fmt.Errorf("%q is no span: type last, today, all, or days like 7d", words[0])
				}
			}
			if out != "" {
				if !strings.HasSuffix(strings.ToLower(out), ".png") {
					return fmt.Errorf("--out %s: the picture is a PNG; name a file that ends in .png", out)
				}
				if args["look"] = "dark"; light {
					args["look"] = "light"
				}
			}
			return f.ask(cmd.Context(), func(a asker) error {
				r, err := a.View(cmd.Context(), api.View{Name: "digest", Project: f.project, Args: args})
				if err == nil && r.OK && out != "" {
					err = writePicture(out, &r)
				}
				return show(cmd, r, err, asJSON)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&out, "out", "", "write the picture to this file, FILE.png")
	cmd.Flags().BoolVar(&light, "light", false, "with --out: on a light ground")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// digestJSON is `nightporter digest --json`. Fields are added, never renamed.
type digestJSON struct {
	Project string    `json:"project"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Text    string    `json:"text"`
	Alt     string    `json:"alt"` // the picture in words
	Picture []byte    `json:"picture,omitempty"`
	Fault   string    `json:"fault,omitempty"` // why there is no picture
}

// writePicture writes the picture of an answer, and takes it out of that.
func writePicture(file string, r *api.Reply) error {
	var d digestJSON
	err := json.Unmarshal(r.Data, &d)
	switch {
	case err == nil && d.Fault != "": // the text is there all the same
		r.OK, r.Text = false, r.Text+"\n"+bot.SignFailed+" "+file+" is not written: "+d.Fault
		return nil
	case err != nil || len(d.Picture) == 0:
		return errors.New("the answer has no picture: nightporter up is of another release; start it again")
	}
	if err := os.WriteFile(file, d.Picture, 0o644); err != nil { //nolint:gosec // a picture that somebody wants to show
		return fmt.Errorf("write the picture: %w", err)
	}
	d.Picture = nil
	r.Data, err = json.Marshal(d)
	r.Text += "\nPicture " + file
	return err
}

// digestView is the digest for the terminal: the text, the picture in words,
// and the picture where a look is asked for.
func (d *operatorService) digestView(ctx context.Context, project string, args map[string]string) (api.Reply, error) {
	q := bot.DigestQuery{Span: args["span"], Admin: true, Now: time.Now()}
	f, err := d.facts(ctx, project, &q)
	if err != nil {
		return api.Reply{}, err
	}
	m, err := composed(f, q.Span)
	if err != nil {
		return api.Reply{}, err
	}
	alt, err := inWords(f)
	if err != nil {
		return api.Reply{}, err
	}
	out := digestJSON{Project: project, From: f.From, To: f.To, Text: m.Text(0), Alt: alt}
	m.Alt = alt
	if look := args["look"]; look != "" {
		if out.Picture, err = d.porter.draw(f, look != "light"); err != nil {
			d.porter.log.Error("picture of the digest", "project", project, "error", err)
			out.Fault = err.Error()
		}
	}
	return reply(m.Text(80), out)
}

// Digest is the digest as a chat shows it.
func (d *operatorService) Digest(ctx context.Context, project string, q bot.DigestQuery) (bot.Message, error) {
	f, err := d.facts(ctx, project, &q)
	if err != nil {
		return bot.Message{}, err
	}
	if !q.Admin {
		f.Strangers = 0
	}
	m, err := composed(f, q.Span)
	if err != nil || q.Span == bot.SpanAll {
		return m, err
	}
	return d.porter.drawn(ctx, m, f, q.Now), nil
}

// facts are those of a span that somebody asks for, in the people's zone.
func (d *operatorService) facts(ctx context.Context, project string, q *bot.DigestQuery) (report.Facts, error) {
	q.Now = q.Now.In(d.zone())
	s, _ := d.State(project)
	return d.porter.facts(ctx, s, q.From(s.Shared.Digest), q.Now)
}

// facts reads what a digest says from the ledger.
func (p *porter) facts(ctx context.Context, s loop.State, from, to time.Time) (report.Facts, error) {
	return guarded(func() (report.Facts, error) { return report.Read(ctx, p.store, s, from, to) })
}

// cameBack notes in the ledger that no nightporter was there since off.
func (p *porter) cameBack(ctx context.Context, off time.Time) {
	if off.IsZero() {
		return
	}
	if _, err := p.do(ctx, loop.Input{Actor: "daemon", Idle: true, Body: loop.CameBack{Off: off}}); err != nil && ctx.Err() == nil {
		p.log.Error("note the time away", "error", err)
	}
}
