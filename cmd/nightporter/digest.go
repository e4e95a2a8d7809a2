package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
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
func (d *desk) digestView(ctx context.Context, project string, args map[string]string) (api.Reply, error) {
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
func (d *desk) Digest(ctx context.Context, project string, q bot.DigestQuery) (bot.Message, error) {
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
func (d *desk) facts(ctx context.Context, project string, q *bot.DigestQuery) (report.Facts, error) {
	q.Now = q.Now.In(d.zone())
	s, _ := d.State(project)
	return d.porter.facts(ctx, s, q.From(s.House.Digest), q.Now)
}

// lookBack is how far before a span its records are read: what happened in it
// began earlier.
const lookBack = 24 * time.Hour

// Types of entries that may be older than that and still say what goes on: a
// run that waits, and the agent that it waits for.
var (
	standing = []string{loop.RunStateSet{}.EntryType(), loop.RunEnded{}.EntryType()}
	holding  = []string{loop.AgentParked{}.EntryType()}
)

// facts reads what a digest says from the ledger.
func (p *porter) facts(ctx context.Context, s loop.State, from, to time.Time) (report.Facts, error) {
	records, err := p.recordsAbout(ctx, loop.HouseStream, from, holding)
	if err == nil {
		var own []loop.Record
		own, err = p.recordsAbout(ctx, loop.ProjectStream(s.Project.Name), from, standing)
		records = append(records, own...)
	}
	if err != nil {
		return report.Facts{}, fmt.Errorf("digest of %s: %w", s.Project.Name, err)
	}
	// The house comes first where both have an entry of one decision.
	slices.SortStableFunc(records, func(a, b loop.Record) int { return a.Time.Compare(b.Time) })
	return guarded(func() (report.Facts, error) { return report.Collect(records, s, from, to) })
}

// recordsAbout reads a stream from lookBack before a time on, from the last
// entry before that, so that the stream's head is known where nothing came
// since; and what older entry of the types is the last one.
func (p *porter) recordsAbout(ctx context.Context, stream string, from time.Time, types []string) ([]loop.Record, error) {
	before, err := p.entryBefore(ctx, stream, from.Add(-lookBack))
	if err != nil {
		return nil, err
	}
	var records []loop.Record
	after := max(before-1, 0)
	old, found, err := p.store.LastRecord(ctx, stream, after, types...)
	if err != nil {
		return nil, err
	}
	if found {
		records = append(records, old)
	}
	err = p.store.Records(ctx, stream, after, func(r loop.Record) error {
		records = append(records, r)
		return nil
	})
	return records, err
}

var errEnough = errors.New("enough was read")

// entryBefore is the number of a stream's last entry before a time, 0 for
// none. Where the clock was set back it is about that.
func (p *porter) entryBefore(ctx context.Context, stream string, t time.Time) (int64, error) {
	last, _, err := p.store.Head(ctx, stream)
	if err != nil {
		return 0, err
	}
	low, high := int64(0), last // it is one of these
	for low < high {
		mid := (low + high + 1) / 2
		before := false
		err := p.store.Records(ctx, stream, mid-1, func(r loop.Record) error {
			before = r.Time.Before(t)
			return errEnough
		})
		if err != nil && !errors.Is(err, errEnough) {
			return 0, err
		}
		if before {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low, nil
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
