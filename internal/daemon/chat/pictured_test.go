package chat

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
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

// TestDraw: a message gets the picture of its drawing, and keeps its words where there is
// none; what several chats show is drawn once.
func TestDraw(t *testing.T) {
	drawn, at := 0, time.Now()
	h := &Hub{o: Options{Catalog: project.NewCatalog(t.TempDir(), &config.Config{}, nil, engine.Place{}), Log: slog.New(slog.DiscardHandler), Digests: &digest.Maker{
		Log: slog.New(slog.DiscardHandler),
		DrawWave: func(w report.Wave, _ bool) ([]byte, error) {
			drawn++
			if w.Project == "broken" {
				panic("index out of range")
			}
			return []byte("png of " + w.Project), nil
		},
	}}}
	for _, c := range []struct {
		project, picture string
		drawn            int
	}{{"shop", "png of shop", 1}, {"shop", "png of shop", 1}, {"broken", "", 2}, {"blog", "png of blog", 3}} {
		m := h.draw(bot.Message{Lines: []bot.Line{{Text: "words"}}, Drawing: &bot.Drawing{Wave: h.o.Digests.Wave(loop.State{Project: loop.Project{Name: c.project}}, ledger.WaveEnded{Wave: 2}, at)}})
		if string(m.Picture) != c.picture || (m.Alt != "") != (c.picture != "") || m.Lines[0].Text != "words" || drawn != c.drawn {
			t.Errorf("%s: picture %q, alt %q, drawn %d times", c.project, m.Picture, m.Alt, drawn)
		}
	}
	gone := ledger.Compare(ledger.Shot{}, ledger.Shot{Tree: "t1", Picture: &ledger.Picture{Hash: "gone"}})
	if m := h.draw(bot.Message{Lines: []bot.Line{{Text: "words"}}, Drawing: &bot.Drawing{Pictured: &bot.Compared{Task: "Task 5", Pictured: gone}}}); len(m.Picture) > 0 || m.Alt != "" {
		t.Errorf("without files: %+v", m)
	}
}
