package telegram

import (
	"encoding/json"
	"slices"
	"time"
)

const (
	conflict        = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
	webhookConflict = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)

// Limits of getUpdates, and how long Telegram keeps unconfirmed updates.
const (
	maxLimit     = 100
	maxPoll      = 50 * time.Second
	keepMessages = 24 * time.Hour
	keepPresses  = 150 * time.Second
)

// queue holds the unconfirmed updates.
type queue struct {
	waiting             []update
	next                int
	allowed             []string // requested kinds, nil = the default kinds
	poller              chan struct{}
	ignoreConfirmations int // number of confirmations to ignore
}

// update is an update in the queue.
type update struct {
	id      int
	body    map[string]any
	expires time.Time // deleted after
}

// push queues an update, unless the bot does not request its kind. The caller
// holds s.mu.
func (s *Server) push(kind string, what any) {
	q := &s.updates
	if q.allowed != nil && !slices.Contains(q.allowed, kind) {
		return
	}
	keep := keepMessages
	if kind == "callback_query" {
		keep = keepPresses
	}
	id := q.next
	q.next++
	q.waiting = append(q.waiting, update{id: id, body: map[string]any{"update_id": id, kind: what}, expires: s.o.Clock().Add(keep)})
	s.notifyChange()
}

// Inject queues an update with any content, sets its update_id and returns it.
func (s *Server) Inject(body map[string]any) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.updates.next
	s.updates.next++
	body["update_id"] = id
	s.updates.waiting = append(s.updates.waiting, update{id: id, body: body, expires: s.o.Clock().Add(keepMessages)})
	s.notifyChange()
	return id
}

// Renumber continues the ids of updates from next, as Telegram does with a random
// number after a week without updates.
func (s *Server) Renumber(next int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates.next = next
	s.updates.waiting = nil
}

// IgnoreConfirmations makes the next n confirmations ineffective, so that their
// updates are delivered again, as after a failure at Telegram.
func (s *Server) IgnoreConfirmations(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates.ignoreConfirmations = n
}

// Unconfirmed returns the number of unconfirmed updates.
func (s *Server) Unconfirmed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.updates.waiting)
}

// SetWebhook sets a webhook, which excludes polling; "" removes it.
func (s *Server) SetWebhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = url
	s.endPoll()
}

// PollElsewhere polls as a second bot with the same token, which ends the first
// one's long poll with 409. It returns false if nobody was polling.
func (s *Server) PollElsewhere() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endPoll()
}

// endPoll ends the current poll. The caller holds s.mu.
func (s *Server) endPoll() bool {
	if s.updates.poller == nil {
		return false
	}
	close(s.updates.poller)
	s.updates.poller = nil
	return true
}

// Polling reports whether a bot is polling.
func (s *Server) Polling() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.updates.poller != nil
}

// getUpdates serves a long poll, and ends the poll of another caller with 409.
func (s *Server) getUpdates(c call) methodResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook != "" {
		return methodResult{code: 409, text: webhookConflict}
	}
	if list, given := c.params["allowed_updates"]; given {
		var kinds []string
		if err := json.Unmarshal([]byte(list), &kinds); err != nil {
			return bad("can't parse allowed_updates: expected an Array of String")
		}
		s.updates.allowed = kinds
		if len(kinds) == 0 {
			s.updates.allowed = nil
		}
	}
	s.confirm(int(c.num("offset")))
	limit := int(c.num("limit"))
	if limit < 1 || limit > maxLimit {
		limit = maxLimit
	}

	s.endPoll()
	mine := make(chan struct{})
	s.updates.poller = mine
	s.notifyChange()
	defer func() {
		if s.updates.poller == mine {
			s.updates.poller = nil
		}
	}()
	deadline := time.NewTimer(min(time.Duration(c.num("timeout"))*time.Second, maxPoll))
	defer deadline.Stop()
	for late := c.num("timeout") <= 0; ; {
		now := s.o.Clock()
		s.updates.waiting = slices.DeleteFunc(s.updates.waiting, func(u update) bool { return now.After(u.expires) })
		if n := min(limit, len(s.updates.waiting)); n > 0 || late {
			out := make([]map[string]any, 0, n)
			for _, u := range s.updates.waiting[:n] {
				out = append(out, u.body)
			}
			return ok(out)
		}
		changed := s.changed
		s.mu.Unlock()
		kicked := false
		select {
		case <-changed:
		case <-mine:
			kicked = true
		case <-deadline.C:
			late = true
		case <-c.ctx.Done():
			late = true
		}
		s.mu.Lock()
		if kicked {
			if s.webhook != "" {
				return methodResult{code: 409, text: webhookConflict}
			}
			return methodResult{code: 409, text: conflict}
		}
	}
}

// confirm removes the updates that the bot confirms. An offset far above all
// ids confirms nothing, and delivery starts with the first update: the public
// server's source does the same, because ids restart on another server.
func (s *Server) confirm(offset int) {
	q := &s.updates
	if offset != 0 && q.ignoreConfirmations > 0 {
		q.ignoreConfirmations--
		return
	}
	switch {
	case offset > q.next+10 || offset == 0:
	case offset > 0:
		q.waiting = slices.DeleteFunc(q.waiting, func(u update) bool { return u.id < offset })
	default:
		q.waiting = q.waiting[max(0, len(q.waiting)+offset):]
	}
}
