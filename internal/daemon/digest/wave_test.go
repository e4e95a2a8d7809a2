package digest_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestWaveFault checks that a wave whose picture cannot be made has none: a panic ends
// no decision, and the log has its stack.
func TestWaveFault(t *testing.T) {
	var log bytes.Buffer
	m := &digest.Maker{Log: slog.New(slog.NewTextHandler(&log, nil))}
	s, w, now := loop.State{}, ledger.WaveEnded{Wave: 2, Failed: []ledger.WaveReport{{Task: "B1", Why: "red"}}}, time.Now()
	for _, c := range []struct {
		draw    func(report.Wave, bool) ([]byte, error)
		says    string
		picture bool
	}{
		{report.WavePicture, "", true},
		{func(report.Wave, bool) ([]byte, error) { panic("index out of range") }, "index out of range", false},
		{func(report.Wave, bool) ([]byte, error) { return make([]byte, bot.MaxPicture+1), nil }, "too large", false},
	} {
		log.Reset()
		m.DrawWave = c.draw
		picture, alt := m.WavePicture(m.Wave(s, w, now), time.UTC)
		if (len(picture) > 0) != c.picture || (alt != "") != c.picture {
			t.Errorf("%q: %d bytes, %q", c.says, len(picture), alt)
		}
		if !strings.Contains(log.String(), c.says) || c.says == "index out of range" && !strings.Contains(log.String(), "wave_test.go") || c.says == "" && log.Len() > 0 {
			t.Errorf("the log says %s", log.String())
		}
	}
}
