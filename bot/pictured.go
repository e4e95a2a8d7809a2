package bot

import (
	"encoding/json"
	"slices"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

const picturesLabel = "Pictures: "

// pictured says how the result of the task that a question is about looks.
func (m *Message) pictured(_ loop.State, q ledger.Question) {
	if q.Pictured == nil {
		return
	}
	if text := PicturedText(*q.Pictured); text != "" {
		m.add(picturesLabel + text + ".")
	}
}

// Drawing is what the picture of a message shows. A decision must not wait until it is
// drawn, so the message has what to draw, and whoever delivers it draws it. One of the
// fields is set.
type Drawing struct {
	Wave     json.RawMessage `json:"wave,omitempty"`     // a wave that has ended: a report.Wave
	Pictured *Compared       `json:"pictured,omitempty"` // how a task looks
}

// Compared is how a task looked at its start and looks now.
type Compared struct {
	Task string `json:"task"`
	ledger.Pictured
}

// ShowPictured puts a picture above a question: of the start above the result, or of
// the result alone where there is no other one to compare it with. The text says how
// they compare, for people who do not see it. A picture that is too large is left out.
func (m *Message) ShowPictured(p Compared, picture []byte) {
	if len(picture) == 0 || len(picture) > MaxPicture {
		return
	}
	m.Picture, m.PictureName, m.Alt = picture, "pictures.png", shortID(p.Task)+", its result"
	if p.Same || p.Start.Picture == nil {
		return
	}
	m.Alt = shortID(p.Task) + ", its start above and its result below"
	for n, l := range m.Lines {
		if text := PicturedText(p.Pictured) + "."; l.Text == picturesLabel+text {
			m.Lines = slices.Clone(m.Lines)
			m.Lines[n].Text = "Pictures, start above, result below: " + text
		}
	}
}

// PicturedText says in a few words what the pictures of a start and of a result show,
// "" while the second one is not taken yet.
func PicturedText(p ledger.Pictured) string {
	switch {
	case p.Result.Tree == "":
		return ""
	case p.Same:
		return "the result looks exactly like the start"
	case p.Start.Picture != nil && p.Result.Picture != nil:
		return "the result looks different from the start"
	case p.Result.Picture != nil:
		return "none of the start: " + noPicture(p.Start)
	case p.Start.Picture != nil:
		return "none of the result: " + noPicture(p.Result)
	}
	return "none: " + noPicture(p.Result)
}

// noPicture says why there is no picture, in words that a command printed.
func noPicture(s ledger.Shot) string { return Cut(Foreign(s.Why), 60) }

// PicturedSign returns the sign in front of PicturedText. A picture is no proof: what
// does not look as expected is for a person to look at, and nothing has failed.
func PicturedSign(p ledger.Pictured) string {
	if !p.Same && p.Start.Picture != nil && p.Result.Picture != nil {
		return SignDone
	}
	return SignLook
}
