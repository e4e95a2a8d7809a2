package loop

import (
	"github.com/nightporter/nightporter/loop/ledger"
)

// reports are what tasks of a script may say as bug reports, by name.
var reports = map[string]struct {
	body, page string
	priority   int
}{
	"total":   {"I clicked Pay on the cart page and saw NaN instead of the total.", "/cart", 4},
	"label":   {"The button on the login page says Sing in instead of Sign in.", "/login", 2},
	"date":    {"I opened the invoice list and the date column shows 1970 instead of the date of the invoice.", "/invoices", 2},
	"crash":   {"I saved my profile and saw the error TypeError: user.name is undefined.", "/profile", 3},
	"again":   {"I clicked Pay on the cart page and saw NaN instead of the total.", "/cart", 1},
	"saved":   {"I clicked Save on the settings page and the text of the field was cut off instead of kept.", "/settings", 1},
	"widget":  {"The weather widget shows the wrong town.", "", 3},
	"vague":   {"Everything feels somehow wrong lately and I do not like it.", "", 4},
	"nothing": {"asdf asdf", "", 4},
}

// sort carries out an EffectTriage as the engine does.
func (d *director) sort(b ledger.EffectTriage) Triaged {
	return SortReports(d.s, b, d.words, d.kinds, d.now)
}
