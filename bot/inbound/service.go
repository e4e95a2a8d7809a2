package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// requestService is the bot.Service for one request. The request's first input is
// committed with the reply and the cursor.
type requestService struct {
	Service
	request       *request
	done          bool   // reply and cursor are committed
	accepted      bool   // one of several inputs was accepted
	senderRemoved bool   // the sender was removed while the request was handled
	toast         string // acknowledgement of a press
	err           error  // the error of an input that left nothing committed
}

// Do decides an input of the request. If a command leads to several inputs,
// each has its own key, and the reply is committed at the end.
func (c *requestService) Do(ctx context.Context, in loop.Input) (ledger.Answer, error) {
	v := c.request
	in.Body, in.Role = v.confirmLate(in), v.who.Role
	in.Body = v.hear(in.Body)
	if in.Key != v.in.Key {
		a, err := c.Service.Do(ctx, in)
		c.senderRemoved = c.senderRemoved || a.Code == ledger.CodeTakenOut
		c.accepted = c.accepted || a.OK
		return a, c.keepError(err)
	}
	if _, hears := in.Body.(loop.HearVoice); takesFiles(in.Body) && (hears || !v.spoken()) {
		if err := v.load(ctx); err != nil {
			c.err = err
			return ledger.Answer{}, err
		}
		in.Files, in.Album = v.files, v.albumKey()
	}
	before, _ := v.o.Service.State(in.Project)
	a, err := c.Service.DoWith(ctx, in, func(a ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor) {
		v.taken = a.Attached
		msgs := v.replies(before, in, a)
		if strings.HasPrefix(v.key, onceKey) && v.in.Press != "" && a.OK {
			msgs = append(msgs, v.removeButtons(answered)...)
		}
		return msgs, v.in.Cursor
	})
	v.settle(a, err)
	if err != nil {
		return a, c.keepError(err)
	}
	c.done, c.senderRemoved = true, a.Code == ledger.CodeTakenOut
	c.toast = v.toastFor(in, a)
	return a, nil
}

// Records, Runs, CheckChain, Changes, Diff, Hats, Offer and Digest read disks and run programs, and
// the chat's next input waits for them. A time limit keeps a slow /diff from
// delaying a /stop (docs/spec 6.3).

// Records is bot.Service's, within Options.Patience.
func (c *requestService) Records(ctx context.Context, project, task string) ([]ledger.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Records(ctx, project, task)
}

// Runs is bot.Service's, within Options.Patience.
func (c *requestService) Runs(ctx context.Context, project string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Runs(ctx, project)
}

// RunRecords is bot.Service's, within Options.Patience.
func (c *requestService) RunRecords(ctx context.Context, project, run string, types ...string) ([]ledger.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.RunRecords(ctx, project, run, types...)
}

// CheckChain is bot.Service's, within Options.Patience.
func (c *requestService) CheckChain(ctx context.Context, project string) bot.ChainCheck {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.CheckChain(ctx, project)
}

// Changes is bot.Service's, within Options.Patience.
func (c *requestService) Changes(ctx context.Context, project, target string) ([]bot.DiffVersion, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Changes(ctx, project, target)
}

// Diff is bot.Service's, within Options.Patience.
func (c *requestService) Diff(ctx context.Context, project, target string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Diff(ctx, project, target)
}

// Hats is bot.Service's, within Options.Patience.
func (c *requestService) Hats(ctx context.Context, project, pattern string) (bot.HatSet, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Hats(ctx, project, pattern)
}

// Offer is bot.DaemonService's, within Options.Patience.
func (c *requestService) Offer(ctx context.Context, project string, f bot.RunFlags) (loop.OfferRun, error) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return c.Service.Offer(ctx, project, f)
}

// Digest is bot.Digester's, within Options.Patience.
func (c *requestService) Digest(ctx context.Context, project string, q bot.DigestQuery) (bot.Message, error) {
	d, ok := c.Service.(bot.Digester)
	if !ok {
		return bot.NoDigest(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return d.Digest(ctx, project, q)
}

// Stats is bot.StatsReader's, within Options.Patience.
func (c *requestService) Stats(ctx context.Context, project string, q bot.StatsQuery) (bot.Message, error) {
	r, ok := c.Service.(bot.StatsReader)
	if !ok {
		return bot.NoStats(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return r.Stats(ctx, project, q)
}

// Place is bot.Placer's.
func (c *requestService) Place(project string, r bot.Request) string {
	p, ok := c.Service.(bot.Placer)
	if !ok {
		return ""
	}
	return p.Place(project, r)
}

// ReadSource is bot.SourceReader's, within Options.Patience.
func (c *requestService) ReadSource(ctx context.Context, project string) (bot.SourceReading, error) {
	r, ok := c.Service.(bot.SourceReader)
	if !ok {
		return bot.SourceReading{}, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "no run is under way, and this one can read no other source"}}}
	}
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return r.ReadSource(ctx, project)
}

// ReadInbox is bot.SourceReader's, within Options.Patience.
func (c *requestService) ReadInbox(ctx context.Context, project string) (bot.SourceReading, error) {
	r, ok := c.Service.(bot.SourceReader)
	if !ok {
		return bot.SourceReading{}, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "no run on bug reports is under way, and this one can read no other source"}}}
	}
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	return r.ReadInbox(ctx, project)
}

// Blocked is bot.Blocker's.
func (c *requestService) Blocked(project string) (why string, rests bool) {
	b, ok := c.Service.(bot.Blocker)
	if !ok {
		return "", false
	}
	return b.Blocked(project)
}

// LookAgain is bot.Blocker's, within Options.Patience.
func (c *requestService) LookAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.request.o.Patience)
	defer cancel()
	if b, ok := c.Service.(bot.Blocker); ok {
		b.LookAgain(ctx)
	}
}

// keepError keeps an error after which the platform must deliver the input
// again. It ignores an error that a person has to correct: repeating the input
// would not help.
func (c *requestService) keepError(err error) error {
	var input *ledger.InputError
	if err != nil && !errors.As(err, &input) {
		c.err = fmt.Errorf("decide: %w", err)
	}
	return err
}

// askAfter is the age at which a command that starts, stops or resumes
// something is confirmed first (docs/spec 6.7).
const askAfter = time.Hour

// confirmLate turns an old command that starts, stops or resumes something into a
// question about it. A press is never old: platforms drop old presses.
func (v *request) confirmLate(in loop.Input) loop.InputBody {
	if v.in.Press != "" || v.in.Sent.IsZero() || v.now.Sub(v.in.Sent) < askAfter {
		return in.Body
	}
	var deed ledger.DeferredCommand
	switch b := in.Body.(type) {
	case loop.Pause:
		if deed = ledger.DeferPause; b.Now {
			deed = ledger.DeferPauseNow
		}
	case loop.Stop:
		if deed = ledger.DeferStop; b.Now {
			deed = ledger.DeferStopNow
		}
	case loop.Resume:
		deed = ledger.DeferResume
	case loop.Now:
		if deed = ledger.DeferNow; strings.TrimSpace(b.Text) != "" {
			return in.Body // it is confirmed anyway
		}
	default:
		return in.Body
	}
	if s, ok := v.o.Service.State(in.Project); !ok || s.Project.Run.Over() {
		return in.Body // no run is active, so the core refuses the command
	}
	return loop.Late{Line: "/" + string(deed), Do: deed, Sent: v.in.Sent.In(v.now.Location())}
}
