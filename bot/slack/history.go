package slack

import (
	"cmp"
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
	// recentThreads is how much older than the stored time stamp the beginning of a
	// thread may be whose newer replies are found in any case, aged how much
	// older where agedPages reach so far back. Those of what is still open are
	// found however old it is (Options.Open).
	recentThreads = 24 * time.Hour
	agedThreads   = 14 * 24 * time.Hour
	// maxReadBack is below what is kept of what was handled, so that nothing older
	// is handled a second time.
	maxReadBack = 14 * 24 * time.Hour
	// A page has two hundred messages.
	recentPages = 50
	agedPages   = 5
)

// tsOf is a time as a time stamp.
func tsOf(t time.Time) string {
	micro := t.UnixMicro()
	return strconv.FormatInt(micro/1e6, 10) + "." + strconv.FormatInt(1e6+micro%1e6, 10)[1:]
}

// missedMessages reads what was said since a time stamp, oldest first, in every
// conversation that the bot is in. now is the platform's time, zero where that
// is not known.
func (b *Bot) missedMessages(ctx context.Context, since string, now time.Time) ([]message, error) {
	from := timeOf(since).Add(-overlap)
	if now.IsZero() {
		now = b.o.Clock()
	}
	if limit := now.Add(-maxReadBack); from.Before(limit) {
		b.o.Log.Warn("what was said before is not read back", "since", limit)
		from = limit
	}
	all, err := b.conversations(ctx)
	if err != nil {
		return nil, err
	}
	var out []message
	for _, c := range all {
		list, err := b.missedInConversation(ctx, c, from)
		switch {
		case isPermanent(err):
			// One conversation that cannot be read must not silence all of them.
			b.o.Log.Warn("a conversation is not read back", "channel", c.id, "error", b.o.redact(err.Error()))
			continue
		case err != nil:
			return nil, err
		}
		out = append(out, list...)
	}
	slices.SortFunc(out, func(a, b message) int { return strings.Compare(a.TS, b.TS) })
	return out, nil
}

// missedInConversation reads what was said in a conversation, and in its threads, whoever
// began them: we may have been named there.
func (b *Bot) missedInConversation(ctx context.Context, c conversation, since time.Time) ([]message, error) {
	from, begun := tsOf(since), tsOf(since.Add(-recentThreads))
	read, whole, err := b.pages(ctx, recentPages, "conversations.history", url.Values{"channel": {c.id}, "oldest": {begun}})
	if err != nil {
		return nil, err
	}
	if !whole {
		b.o.Log.Warn("not all of a conversation is read back", "channel", c.id, "messages", len(read))
	}
	var out []message
	for _, m := range read {
		if m.TS > from {
			m.Channel = c.id
			out = append(out, m)
		}
	}
	old, _, err := b.pages(ctx, agedPages, "conversations.history", url.Values{"channel": {c.id}, "oldest": {tsOf(since.Add(-agedThreads))}, "latest": {begun}})
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, m := range append(read, old...) {
		if m.Latest > from { // else nothing is new
			roots = append(roots, m.TS)
		}
	}
	for _, id := range b.o.OpenQuestions(ctx, c.address) {
		if timestampForm.MatchString(id) && !slices.Contains(roots, id) {
			roots = append(roots, id)
		}
	}
	for _, root := range roots {
		replies, err := b.replies(ctx, c.id, root, from)
		switch {
		case isPermanent(err):
			continue
		case err != nil:
			return nil, err
		}
		out = append(out, replies...)
	}
	return out, nil
}

// replies reads what is newer in a thread. root may be any message of it.
func (b *Bot) replies(ctx context.Context, channel, root, from string) ([]message, error) {
	read, _, err := b.pages(ctx, recentPages, "conversations.replies", url.Values{"channel": {channel}, "ts": {root}, "oldest": {from}})
	if err != nil {
		return nil, err
	}
	began := ""
	for _, m := range read {
		switch {
		case m.TS == root && m.Thread != "" && m.Thread != root:
			return b.replies(ctx, channel, m.Thread, from) // which is its own thread
		case m.TS == root:
			began = m.User
		}
	}
	var out []message
	for _, m := range read {
		if m.TS > from && m.TS != root {
			m.Channel, m.Parent = channel, cmp.Or(m.Parent, began)
			out = append(out, m)
		}
	}
	return out, nil
}

// pages reads so many pages of messages. It reports whether these are all.
func (b *Bot) pages(ctx context.Context, most int, method string, p url.Values) (out []message, whole bool, err error) {
	p.Set("limit", "200")
	for range most {
		var page struct {
			Messages []message `json:"messages"`
			Meta     struct {
				Next string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := b.callWithRetry(ctx, method, p, &page); err != nil {
			return nil, false, err
		}
		out = append(out, page.Messages...)
		if page.Meta.Next == "" {
			return out, true, nil
		}
		p.Set("cursor", page.Meta.Next)
	}
	return out, false, nil
}

// conversation is one that the bot is in.
type conversation struct {
	id      string
	address string // the person's, of one of two
}

// conversations are those that the bot is in.
func (b *Bot) conversations(ctx context.Context) ([]conversation, error) {
	p := url.Values{"types": {"public_channel,private_channel,im"}, "exclude_archived": {"true"}, "limit": {"200"}}
	var out []conversation
	for range recentPages {
		var page struct {
			Channels []struct {
				ID   string `json:"id"`
				User string `json:"user"`
			} `json:"channels"`
			Meta struct {
				Next string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := b.callWithRetry(ctx, "users.conversations", p, &page); err != nil {
			return nil, err
		}
		for _, c := range page.Channels {
			if !idForm.MatchString(c.ID) {
				continue
			}
			found := conversation{id: c.ID, address: Prefix + c.ID}
			if isDirect(c.ID) && isPerson(c.User) {
				found.address = Prefix + c.User
				b.rememberDirect(c.User, c.ID)
			}
			out = append(out, found)
		}
		if page.Meta.Next == "" {
			break
		}
		p.Set("cursor", page.Meta.Next)
	}
	return out, nil
}

// callWithRetry is call that waits as the platform wants it to.
func (b *Bot) callWithRetry(ctx context.Context, method string, p url.Values, result any) error {
	const tries = 5
	for try := 1; ; try++ {
		_, err := b.call(ctx, method, p, result)
		var r *apiError
		if !errors.As(err, &r) || r.retryAfter == 0 || try == tries {
			return err
		}
		if err := b.o.Sleep(ctx, r.retryAfter); err != nil {
			return err
		}
	}
}
