package chat

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestPictured makes the picture of a question from the files beside the ledger.
func TestPictured(t *testing.T) {
	h := &Hub{o: Options{Files: attachment.Open(t.TempDir()), Log: slog.New(slog.DiscardHandler)}}
	keep := func(c color.Color) *ledger.Picture {
		img := image.NewNRGBA(image.Rect(0, 0, 40, 30))
		img.Set(3, 3, c)
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		hash, err := h.o.Files.Put(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return &ledger.Picture{Hash: hash, Width: 40, Height: 30}
	}
	start, result := ledger.Shot{Tree: "c0", Picture: keep(color.White)}, ledger.Shot{Tree: "t1", Picture: keep(color.Black)}
	height := func(p ledger.Pictured) int {
		data := h.pictured(p)
		if len(data) == 0 || len(data) > bot.MaxPicture {
			return 0
		}
		is, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return is.Height
	}
	for name, c := range map[string]struct {
		is   ledger.Pictured
		want int
	}{
		"both":      {ledger.Compare(start, result), 30 + 12 + 30},
		"same":      {ledger.Compare(start, ledger.Shot{Tree: "t1", Picture: start.Picture}), 30},
		"result":    {ledger.Compare(ledger.Shot{Tree: "c0"}, result), 30},
		"no result": {ledger.Compare(start, ledger.Shot{Tree: "t1"}), 0},
		"gone":      {ledger.Compare(start, ledger.Shot{Tree: "t1", Picture: &ledger.Picture{Hash: attachment.Hash(nil)}}), 0},
	} {
		if got := height(c.is); got != c.want {
			t.Errorf("%s: a height of %d, want %d", name, got, c.want)
		}
	}
}
