package delivery

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// lookCopies is how often the reply to a look is sent at most while nobody knows
// whether it arrived: a person who misses it once more asks again.
const lookCopies = 2

// lookOf returns what a queued reply to a look is an answer to, "" for any other
// message. Replies of one kind that wait tell the same, so the last of them is enough.
func lookOf(m ledger.QueuedMessage) string {
	var msg bot.Message
	switch {
	case m.Class != ledger.ClassLook, m.Edit, json.Unmarshal(m.Body, &msg) != nil:
		return ""
	case strings.HasPrefix(m.Key, liveKeys):
		return m.Key
	case msg.Look == "":
		return ""
	}
	return msg.Key + " " + msg.Project + " " + msg.Look
}

// repeatedLooks returns the ids of the looks that a later one of the same kind
// answers too: a person who gets no answer asks again and again.
func repeatedLooks(queued []ledger.QueuedMessage) map[int64]bool {
	repeated, later := map[int64]bool{}, map[string]bool{}
	for _, m := range slices.Backward(queued) {
		kind := lookOf(m)
		if kind == "" {
			continue
		}
		repeated[m.ID] = later[kind]
		later[kind] = true
	}
	return repeated
}

// dropRepeated drops the old ones among the repeated looks, and returns the other
// messages.
func (c *chat) dropRepeated(ctx context.Context, queued []ledger.QueuedMessage, now time.Time) (kept []ledger.QueuedMessage, err error) {
	repeated := repeatedLooks(queued)
	for _, m := range queued {
		if !repeated[m.ID] || now.Sub(m.Time) <= staleAfter {
			kept = append(kept, m)
			continue
		}
		if err := c.drop(ctx, m, whyRepeated); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

const whyRepeated = "a later answer says it"

// current returns what the reply to a look says by now: a live message has its newest
// text, and any other one that is no longer new a line with the time that it is of.
func (c *chat) current(m ledger.QueuedMessage, msg bot.Message, now time.Time) (current bot.Message, asOf string) {
	if m.Class != ledger.ClassLook || now.Sub(m.Time) <= staleAfter {
		return msg, ""
	}
	if live := c.d.o.Live; live != nil && strings.HasPrefix(m.Key, liveKeys) {
		if newest, _ := live.Text(c.address, m.Key); len(newest.Lines) > 0 {
			return newest, ""
		}
	}
	return msg, "As of " + bot.Clock(m.Time, now) + "."
}
