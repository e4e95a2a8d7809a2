package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// enqueue is Store.enqueue for one message.
func (m *Memory) enqueue(o ledger.Outgoing, now string) {
	if o.Key != "" {
		m.replaceEdits(o.Chat, o.Key)
	}
	if o.Key != "" && o.Ahead {
		for _, r := range m.messages {
			if r.Chat == o.Chat && r.Key == o.Key && r.state == queued && !r.Edit && r.tried == 0 {
				r.drop()
			}
		}
	}
	m.addMessage(message{Outgoing: o, time: now})
	m.coalesce(o.Chat, o.Key)
}

func (m *Memory) addMessage(row message) {
	m.lastID++
	row.id, row.state, row.tried = m.lastID, queued, 0
	row.Body = cloneBytes(row.Body)
	if row.place == 0 {
		row.place = row.id
	}
	m.messages = append(m.messages, &row)
	if n := len(m.messages); n > 1 && m.messages[n-2].place > row.place {
		slices.SortStableFunc(m.messages, func(a, b *message) int { return int(a.place - b.place) })
	}
}

// remove deletes the rows for which gone is true and returns their number.
func (m *Memory) remove(gone func(*message) bool) int {
	before := len(m.messages)
	m.messages = slices.DeleteFunc(m.messages, gone)
	return before - len(m.messages)
}

func (m *Memory) replaceEdits(chat, key string) {
	out := func(r *message) bool { return r.Chat == chat && r.Key == key && r.state == queued && r.Edit }
	for _, r := range m.messages {
		if out(r) && r.tried > 0 {
			r.drop()
		}
	}
	m.remove(out)
}

func (r *message) drop() { r.state, r.settled = dropped, r.time }

func (m *Memory) coalesce(chat, key string) {
	if key == "" {
		return
	}
	var edit, send *message // the newest of each
	edits := 0
	for _, r := range m.messages {
		switch {
		case r.Chat != chat || r.Key != key || r.state != queued:
		case r.Edit:
			edit = r
			edits++
		default:
			send = r
		}
	}
	switch {
	case edit == nil:
	case send != nil && send.place > edit.place:
		m.replaceEdits(chat, key)
	case edits > 1:
		m.replaceEdits(chat, key)
		m.addMessage(*edit)
		m.coalesce(chat, key)
	case send != nil && send.tried > 0:
	case send != nil:
		next := *send
		next.Body, next.Class = edit.Body, edit.Class
		m.remove(func(r *message) bool { return r == send || r == edit })
		m.addMessage(next)
	default:
		edit.Edit = m.shownID(chat, key) != ""
	}
}

// newest returns the row with the highest place among those for which want
// returns true, nil for none.
func (m *Memory) newest(want func(*message) bool) *message {
	for _, r := range slices.Backward(m.messages) {
		if want(r) {
			return r
		}
	}
	return nil
}

func (m *Memory) shownID(chat, key string) string {
	if r := m.newest(func(r *message) bool { return r.Chat == chat && r.Key == key && key != "" && r.state == sent }); r != nil {
		return r.platform
	}
	return ""
}

// Chats is Store.Chats.
func (m *Memory) Chats(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var chats []string
	for _, r := range m.messages {
		if r.state == queued && !slices.Contains(chats, r.Chat) {
			chats = append(chats, r.Chat)
		}
	}
	return chats, nil
}

// NextMessage is Store.NextMessage.
func (m *Memory) NextMessage(ctx context.Context, chat string) (ledger.QueuedMessage, bool, error) {
	all, err := m.Queued(ctx, chat)
	if err != nil || len(all) == 0 {
		return ledger.QueuedMessage{}, false, err
	}
	return all[0], true, nil
}

// Queued is Store.Queued.
func (m *Memory) Queued(_ context.Context, chat string) ([]ledger.QueuedMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ahead, sends, edits []ledger.QueuedMessage
	for _, r := range m.messages {
		if r.state != queued || r.Chat != chat {
			continue
		}
		q, err := r.queued(m.shownID(chat, r.Key))
		if err != nil {
			return nil, err
		}
		q.Body = bytes.Clone(q.Body)
		switch {
		case q.Edit:
			edits = append(edits, q)
		case q.Ahead:
			ahead = append(ahead, q)
		default:
			sends = append(sends, q)
		}
	}
	return slices.Concat(ahead, sends, edits), nil
}

// change calls do with the message that has the id.
func (m *Memory) change(ctx context.Context, op string, id int64, do func(*message) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	op = fmt.Sprintf("%s message %d", op, id)
	if ctx.Err() != nil {
		return fail(op, context.Cause(ctx))
	}
	for _, r := range m.messages {
		if r.id == id {
			return fail(op, do(r))
		}
	}
	return fail(op, ledger.ErrReplaced)
}

// BeginDelivery is Store.BeginDelivery.
func (m *Memory) BeginDelivery(ctx context.Context, id int64) error {
	return m.change(ctx, "try", id, func(r *message) error {
		if r.state != queued {
			return ledger.ErrReplaced
		}
		r.tried++
		return nil
	})
}

// AbortDelivery is Store.AbortDelivery.
func (m *Memory) AbortDelivery(ctx context.Context, id int64) error {
	return m.change(ctx, "take back", id, func(r *message) error {
		if r.state == queued {
			r.tried = max(r.tried-1, 0)
			m.coalesce(r.Chat, r.Key)
		}
		return nil
	})
}

// Sent is Store.Sent.
func (m *Memory) Sent(ctx context.Context, id int64, platformID string, at time.Time) (before string, err error) {
	err = m.change(ctx, "settle", id, func(r *message) error {
		if err := checkSent(*r, platformID, at); err != nil || r.state == sent {
			return err
		}
		if r.Edit {
			if shown := m.newest(func(o *message) bool {
				return o.Chat == r.Chat && o.Key == r.Key && o.state == sent && o.platform == platformID
			}); shown != nil {
				shown.Body, shown.Class = r.Body, r.Class
				m.remove(func(o *message) bool { return o == r })
				return nil
			}
		}
		before = m.shownID(r.Chat, r.Key)
		r.state, r.Edit, r.tried, r.platform, r.settled = sent, false, 0, platformID, formatTime(at)
		return nil
	})
	return before, err
}

// Drop is Store.Drop, but discards the reason.
func (m *Memory) Drop(ctx context.Context, id int64, _ string) error {
	return m.change(ctx, "drop", id, func(r *message) error {
		switch r.state {
		case dropped:
			return nil
		case sent:
			return errSent
		}
		r.drop()
		if r.passesDoubt() {
			for _, e := range m.messages {
				if e.Chat == r.Chat && e.Key == r.Key && e.Key != "" && e.state == queued && e.Edit {
					e.tried = max(e.tried, r.tried)
				}
			}
		}
		m.coalesce(r.Chat, r.Key)
		return nil
	})
}

// Forget is Store.Forget.
func (m *Memory) Forget(_ context.Context, chat string, classes ...ledger.MessageClass) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	n := 0
	for _, r := range m.messages {
		if r.Chat == chat && r.state == queued && !r.Edit && r.tried == 0 && slices.Contains(classes, r.Class) {
			r.drop()
			keys = append(keys, r.Key)
			n++
		}
	}
	for _, key := range keys {
		m.coalesce(chat, key)
	}
	return n, nil
}

// MoveChat is Store.MoveChat.
func (m *Memory) MoveChat(_ context.Context, from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if from == "" || to == "" {
		return fail("move chat", fmt.Errorf("from %q to %q: neither may be empty", from, to))
	}
	var moved []*message
	for _, r := range m.messages {
		if rest, ok := strings.CutPrefix(r.Chat, from); ok && r.state == queued && (rest == "" || rest[0] == '/') && from != to {
			r.Chat, r.ReplyTo = to+rest, ""
			moved = append(moved, r)
		}
	}
	for _, r := range moved {
		m.coalesce(r.Chat, r.Key)
	}
	return nil
}

// SentAt is Store.SentAt.
func (m *Memory) SentAt(_ context.Context, chat, platformID string) (ledger.SentMessage, bool, error) {
	return m.one(func(r *message) bool { return r.Chat == chat && r.state == sent && r.platform == platformID })
}

// SentFor is Store.SentFor.
func (m *Memory) SentFor(_ context.Context, chat, key string) (ledger.SentMessage, bool, error) {
	return m.one(func(r *message) bool { return r.Chat == chat && r.state == sent && r.Key == key && key != "" })
}

// Together is Store.Together.
func (m *Memory) Together(_ context.Context, chat, platformID string) ([]ledger.SentMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []ledger.SentMessage
	for _, r := range m.messages {
		if r.Chat != chat || r.state != sent || r.platform != platformID || r.Key == "" || m.shownID(chat, r.Key) != platformID {
			continue
		}
		shown, err := r.sent()
		if err != nil {
			return nil, err
		}
		shown.Body = bytes.Clone(shown.Body)
		all = append(all, shown)
	}
	return all, nil
}

// LastJoined is Store.LastJoined.
func (m *Memory) LastJoined(_ context.Context, chat, joins string) (ledger.SentMessage, bool, error) {
	return m.one(func(r *message) bool { return r.Chat == chat && r.state == sent && r.Joins == joins && joins != "" })
}

// AnswerTo is Store.AnswerTo.
func (m *Memory) AnswerTo(_ context.Context, chat, replyTo string) (ledger.SentMessage, bool, error) {
	answer := func(r *message) bool { return r.Chat == chat && r.ReplyTo == replyTo && replyTo != "" }
	found, ok, err := m.one(func(r *message) bool { return answer(r) && r.Key != "" })
	if ok || err != nil {
		return found, ok, err
	}
	return m.one(answer)
}

func (m *Memory) one(want func(*message) bool) (ledger.SentMessage, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.newest(want)
	if r == nil {
		return ledger.SentMessage{}, false, nil
	}
	shown, err := r.sent()
	shown.Body = bytes.Clone(shown.Body)
	return shown, err == nil, err
}

// ChatsWith is Store.ChatsWith.
func (m *Memory) ChatsWith(_ context.Context, key string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var chats []string
	for _, r := range m.messages {
		if r.Key == key && key != "" && r.state != dropped {
			chats = append(chats, r.Chat)
		}
	}
	slices.Sort(chats)
	return slices.Compact(chats), nil
}

// PruneMessages is Store.PruneMessages.
func (m *Memory) PruneMessages(_ context.Context, before time.Time) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := formatTime(before)
	last := map[*message]bool{}
	type place struct{ chat, key string }
	seen := map[place]bool{}
	for _, r := range slices.Backward(m.messages) {
		if p := (place{r.Chat, r.Key}); r.state == sent && r.Key != "" && !seen[p] {
			seen[p], last[r] = true, true
		}
	}
	return m.remove(func(r *message) bool { return r.state != queued && r.settled < limit && !last[r] }), nil
}

// Cursor is Store.Cursor.
func (m *Memory) Cursor(_ context.Context, name string) (ledger.Cursor, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.cursors[name]
	if !ok {
		return ledger.Cursor{}, false, nil
	}
	return c, true, nil
}
