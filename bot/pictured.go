package bot

import "github.com/nightporter/nightporter/loop/ledger"

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
