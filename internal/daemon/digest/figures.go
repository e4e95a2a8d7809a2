package digest

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/report"
)

// DrawFigures returns the picture of a ledger's figures as PNG. A panic becomes an error.
func (m *Maker) DrawFigures(s report.Stats, dark bool) ([]byte, error) {
	return guarded(func() ([]byte, error) { return report.StatsPicture(s, dark) })
}

// WithFigures adds the picture to the text of figures. It returns the text alone if the
// picture is too large or drawing fails: the text says all that matters.
func (m *Maker) WithFigures(text bot.Message, s report.Stats) bot.Message {
	picture, err := m.DrawFigures(s, true)
	switch {
	case err != nil:
		m.Log.Error("figures cannot be drawn", "project", s.Project, "error", err)
	case len(picture) > bot.MaxPicture:
		m.Log.Warn("picture of figures is too large to be sent", "project", s.Project, "bytes", len(picture))
	default:
		text.Picture, text.PictureName, text.Alt = picture, "figures.png", report.StatsAlt(s)
	}
	return text
}
