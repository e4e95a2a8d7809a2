package digest

import (
	"encoding/json"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Wave returns what the picture of a wave that has ended shows, nil if that is unknown.
// It is called within a decision, so a failure is logged and tells nobody: the words of
// the summary say all that matters.
func (m *Maker) Wave(s loop.State, w ledger.WaveEnded, now time.Time) json.RawMessage {
	of, err := guarded(func() ([]byte, error) { return json.Marshal(report.WaveOf(s, w, now)) })
	if err != nil {
		m.reportWave(s.Project.Name, err)
		return nil
	}
	return of
}

// WavePicture draws what Wave returned, with times in a zone, and returns the picture
// and its alternative text; nil if it cannot be drawn or is too large, which is logged.
func (m *Maker) WavePicture(of json.RawMessage, zone *time.Location) (picture []byte, alt string) {
	var w report.Wave
	picture, err := guarded(func() ([]byte, error) {
		if err := json.Unmarshal(of, &w); err != nil {
			return nil, err
		}
		w = w.In(zone)
		alt = report.WaveAlt(w)
		return m.DrawWave(w, true)
	})
	switch {
	case err != nil:
		m.reportWave(w.Project, err)
		return nil, ""
	case len(picture) > bot.MaxPicture:
		m.Log.Warn("picture of a wave is too large to be sent", "project", w.Project, "bytes", len(picture))
		return nil, ""
	}
	return picture, alt
}

func (m *Maker) reportWave(project string, err error) {
	stack := ""
	if f, ok := err.(*panicError); ok { //nolint:errorlint // as guarded returns it
		stack = f.stack
	}
	m.Log.Error("a wave cannot be drawn", "project", project, "error", err, "stack", stack)
}
