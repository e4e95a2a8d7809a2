package slack

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How far back is read.
const (
	// overlap is read twice: events of several conversations come in any order.
	overlap = 5 * time.Minute
	// threads is how much older than the stored time stamp the beginning of a
	// thread may be whose newer replies are read.
	threads = 24 * time.Hour
	// farthest is below what is kept of what was handled, so that nothing older
	// is handled a second time.
	farthest = 14 * 24 * time.Hour
	pages    = 50 // of one conversation, two hundred messages each
)

// tsOf is a time as a time stamp.
func tsOf(t time.Time) string {
	micro := t.UnixMicro()
	return strconv.FormatInt(micro/1e6, 10) + "." + strconv.FormatInt(1e6+micro%1e6, 10)[1:]
}

// missed reads what was said since a time stamp, oldest first, in every
// conversation that the bot is in.
func (b *Bot) missed(ctx context.Context, since string) ([]message, error) {
	from := moment(since).Add(-overlap)
	if limit := b.o.Clock().Add(-farthest); from.Before(limit) {
		b.o.Log.Warn("what was said before is not read back", "since", limit)
		from = limit
	}
	all, err := b.conversations(ctx)
	if err != nil {
		return nil, err
	}
	var out []message
	for _, id := range all {
		list, err := b.missedIn(ctx, id, tsOf(from), tsOf(from.Add(-threads)))
		switch {
		case final(err):
			// One conversation that cannot be read must not silence all of them.
			b.o.Log.Warn("a conversation is not read back", "channel", id, "error", b.o.without(err.Error()))
			continue
		case err != nil:
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortFunc(out, func(a, b message) int { return strings.Compare(a.TS, b.TS) })
	return out, nil
}

func (b *Bot) missedIn(ctx context.Context, id, from, begun string) ([]message, error) {
	read, err := b.pages(ctx, "conversations.history", url.Values{"channel": {id}, "oldest": {begun}})
	if err != nil {
		return nil, err
	}
	var out []message
	for _, m := range read {
		m.Channel = id
		if m.TS > from {
			out = append(out, m)
		}
		if m.Latest <= from {
			continue // nothing new
		}
		// Whoever's thread it is: we may have been named in it.
		replies, err := b.pages(ctx, "conversations.replies", url.Values{"channel": {id}, "ts": {m.TS}, "oldest": {from}})
		switch {
		case final(err):
			continue
		case err != nil:
			return nil, err
		}
		for _, r := range replies {
			if r.Channel = id; r.TS > from && r.TS != m.TS {
				r.Parent = or(r.Parent, m.User)
				out = append(out, r)
			}
		}
	}
	return out, nil
}

// pages reads all pages of messages.
func (b *Bot) pages(ctx context.Context, method string, p url.Values) ([]message, error) {
	var out []message
	p.Set("limit", "200")
	for range pages {
		var page struct {
			Messages []message `json:"messages"`
			Meta     struct {
				Next string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := b.patient(ctx, method, p, &page); err != nil {
			return nil, err
		}
		out = append(out, page.Messages...)
		if page.Meta.Next == "" {
			return out, nil
		}
		p.Set("cursor", page.Meta.Next)
	}
	b.o.Log.Warn("not all of a conversation is read back", "channel", p.Get("channel"), "messages", len(out))
	return out, nil
}

// conversations are the ids of those that the bot is in.
func (b *Bot) conversations(ctx context.Context) ([]string, error) {
	p := url.Values{"types": {"public_channel,private_channel,im"}, "exclude_archived": {"true"}, "limit": {"200"}}
	var out []string
	for range pages {
		var page struct {
			Channels []struct {
				ID   string `json:"id"`
				User string `json:"user"`
			} `json:"channels"`
			Meta struct {
				Next string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := b.patient(ctx, "users.conversations", p, &page); err != nil {
			return nil, err
		}
		for _, c := range page.Channels {
			if idForm.MatchString(c.ID) {
				out = append(out, c.ID)
				b.learn(c.User, c.ID)
			}
		}
		if page.Meta.Next == "" {
			break
		}
		p.Set("cursor", page.Meta.Next)
	}
	return out, nil
}

// patient is call that waits as the platform wants it to.
func (b *Bot) patient(ctx context.Context, method string, p url.Values, result any) error {
	const tries = 5
	for try := 1; ; try++ {
		_, err := b.call(ctx, method, b.o.BotToken, p, result)
		var r *refusal
		if !errors.As(err, &r) || r.after == 0 || try == tries {
			return err
		}
		if err := b.o.Wait(ctx, r.after); err != nil {
			return err
		}
	}
}
