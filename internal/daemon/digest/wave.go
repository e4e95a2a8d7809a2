package digest

import (
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Wave returns the picture of a wave that has ended, and its alternative text; nil if it
// cannot be drawn or is too large. It is called within a decision, so a failure is
// logged and tells nobody: the words of the summary say all that matters. It reads
// nothing but its arguments, and takes as long as the picture of a digest.
func (m *Maker) Wave(s loop.State, w ledger.WaveEnded, now time.Time) (picture []byte, alt string) {
	picture, err := guarded(func() ([]byte, error) {
		of := report.WaveOf(s, w, now)
		alt = report.WaveAlt(of)
		return m.DrawWave(of, true)
	})
	switch {
	case err != nil:
		stack := ""
		if f, ok := err.(*panicError); ok { //nolint:errorlint // as guarded returns it
			stack = f.stack
		}
		m.Log.Error("a wave cannot be drawn", "project", s.Project.Name, "wave", w.Wave, "error", err, "stack", stack)
		return nil, ""
	case len(picture) > bot.MaxPicture:
		m.Log.Warn("picture of a wave is too large to be sent", "project", s.Project.Name, "wave", w.Wave, "bytes", len(picture))
		return nil, ""
	}
	return picture, alt
}
