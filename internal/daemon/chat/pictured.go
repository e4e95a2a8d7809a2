package chat

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/screenshot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// pictured returns the picture of a question that compares a start with its result:
// both, or the result alone where they are the same or there is no other. Without its
// files a question is its text.
func (h *Hub) pictured(p ledger.Pictured) []byte {
	if p.Result.Picture == nil || h.o.Files == nil {
		return nil
	}
	result, err := h.o.Files.Read(p.Result.Picture.Hash)
	var made []byte
	switch {
	case err != nil:
	case p.Start.Picture == nil || p.Same:
		made, err = screenshot.Single(result, bot.MaxPicture)
	default:
		var start []byte
		if start, err = h.o.Files.Read(p.Start.Picture.Hash); err == nil {
			made, err = screenshot.Pair(start, result, bot.MaxPicture)
		}
	}
	if err != nil {
		h.o.Log.Warn("a question has no pictures", "error", err)
		return nil
	}
	return made
}
