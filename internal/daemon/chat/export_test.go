package chat

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// SetOutageFor changes how long an outage lasts before people are told.
func SetOutageFor(t *testing.T, d time.Duration) {
	usual := outageFor
	outageFor = map[ledger.Fault]time.Duration{ledger.FaultDisk: d, ledger.FaultMachine: d}
	t.Cleanup(func() { outageFor = usual })
}

// LiveText renders a live message.
func (h *Hub) LiveText(chat, key string) (bot.Message, bool) { return liveStatus{h}.Text(chat, key) }

// Barred reports whether a private chat belongs to a removed person.
func (h *Hub) Barred(chat string) bool { return h.revoked(chat) }

// Reads reports whether a person reads a thread, as far as is known.
func (h *Hub) Reads(thread, person string) bool { return h.members.read(thread, person) }

// Title sets a thread's title.
func (t *Threads) Title(chat, title string) { t.titles.Store(chat, title) }

// Forget drops the cached addresses of groups, as a restart would.
func (t *Threads) Forget() { t.moves.forget() }
