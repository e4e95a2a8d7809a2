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

// How far back messages are read after an outage.
const (
	// time before the cursor that is read again: events of different
	// conversations arrive in any order
	overlap = 5 * time.Minute
	// recentThreads and agedThreads are maximum ages of a thread's first
	// message, before the cursor, for its new replies to be found: always
	// within recentThreads, and within agedThreads as far as agedPages reach.
	// Threads of Options.OpenQuestions are found at any age.
	recentThreads = 24 * time.Hour
	agedThreads   = 14 * 24 * time.Hour
	// maxReadBack limits how far back messages are read. It is shorter than the
	// time that keys of handled inputs are kept, so that no message is handled
	// twice.
	maxReadBack = 14 * 24 * time.Hour
	// Pages hold 200 messages.
	recentPages = 50
	agedPages   = 5
)

// tsOf converts a time to a Slack timestamp.
func tsOf(t time.Time) string {
	micro := t.UnixMicro()
	return strconv.FormatInt(micro/1e6, 10) + "." + strconv.FormatInt(1e6+micro%1e6, 10)[1:]
}

// missedMessages returns all messages since a timestamp in all conversations of
// the bot, the oldest first. now is Slack's time, zero if unknown.
func (b *Bot) missedMessages(ctx context.Context, since string, now time.Time) ([]message, error) {
	from := timeOf(since).Add(-overlap)
	if now.IsZero() {
		now = b.o.Clock()
	}
	if limit := now.Add(-maxReadBack); from.Before(limit) {
		b.o.Log.Warn("older messages are not read back", "since", limit)
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
			// One unreadable conversation must not block the others.
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

// missedInConversation returns the messages since a time in a conversation and in
// all its threads, because any of them may mention the bot.
func (b *Bot) missedInConversation(ctx context.Context, c conversation, since time.Time) ([]message, error) {
	from, begun := tsOf(since), tsOf(since.Add(-recentThreads))
	read, whole, err := b.pages(ctx, recentPages, "conversations.history", url.Values{"channel": {c.id}, "oldest": {begun}})
	if err != nil {
		return nil, err
	}
	if !whole {
		b.o.Log.Warn("a conversation is read back in part", "channel", c.id, "messages", len(read))
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
		if m.Latest > from { // otherwise the thread has no new replies
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

// replies returns the new messages of a thread. root may be any message of it.
func (b *Bot) replies(ctx context.Context, channel, root, from string) ([]message, error) {
	read, _, err := b.pages(ctx, recentPages, "conversations.replies", url.Values{"channel": {channel}, "ts": {root}, "oldest": {from}})
	if err != nil {
		return nil, err
	}
	began := ""
	for _, m := range read {
		switch {
		case m.TS == root && m.Thread != "" && m.Thread != root:
			return b.replies(ctx, channel, m.Thread, from) // root is a reply itself
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

// pages reads up to most pages of messages. whole reports that there are no more.
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

// conversation is a conversation that the bot is a member of.
type conversation struct {
	id      string
	address string // of a direct conversation, the person's address
}

// conversations returns all conversations that the bot is a member of.
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

// callWithRetry is call, with the waits that Slack's rate limits ask for.
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
