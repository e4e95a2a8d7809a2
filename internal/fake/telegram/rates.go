package telegram

import (
	"slices"
	"time"
)

// Telegram's published limits: one message a second in a chat with short bursts,
// 20 a minute in a group, 30 a second overall. Edits count.
const (
	burst       = 5 // in burstWindow
	burstWindow = 4 * time.Second
	perGroup    = 20
	groupWindow = time.Minute
	perBot      = 30
	botWindow   = time.Second
)

// rates are the times of recent sends.
type rates struct {
	chats map[int64][]time.Time
	all   []time.Time
}

// tooFast records a send, or returns how many seconds the bot must wait. The
// caller holds s.mu.
func (s *Server) tooFast(id int64) int {
	if !s.o.Rates {
		return 0
	}
	if s.rates.chats == nil {
		s.rates.chats = map[int64][]time.Time{}
	}
	most, window := burst, burstWindow
	if isGroup(id) {
		most, window = perGroup, groupWindow
	}
	now := s.o.Clock()
	young := func(list []time.Time, window time.Duration) []time.Time {
		return slices.DeleteFunc(list, func(t time.Time) bool { return now.Sub(t) >= window })
	}
	mine := young(s.rates.chats[id], window)
	s.rates.all = young(s.rates.all, botWindow)
	s.rates.chats[id] = mine
	switch {
	case len(mine) >= most:
		return max(1, int((window-now.Sub(mine[0]))/time.Second)+1)
	case len(s.rates.all) >= perBot:
		return 1
	}
	s.rates.chats[id] = append(mine, now)
	s.rates.all = append(s.rates.all, now)
	return 0
}
