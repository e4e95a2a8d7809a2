package report

import (
	"image/color"
	"slices"

	"github.com/nightporter/nightporter/bot"
)

// palette is the set of colours of one picture.
type palette struct {
	background, panel, grid color.Color
	text, soft, faint       color.Color
	green, red, amber, blue color.Color
	violet, pink, slate     color.Color
	burndownFill            color.Color // below the burndown line
	waitFill                color.Color // behind times without work
	hats                    []color.Color
}

func rgb(hex uint32) color.NRGBA { return rgba(hex, 255) }

func rgba(hex uint32, alpha uint8) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: alpha} //nolint:gosec // three bytes of it
}

// darkPalette returns the colours on a dark ground. In both palettes every text
// has a contrast of at least 4.5 to its ground, the minimum of WCAG AA.
func darkPalette() palette {
	p := palette{
		background: rgb(0x0f172a), panel: rgb(0x1e293b), grid: rgb(0x334155),
		text: rgb(0xf8fafc), soft: rgb(0xcbd5e1), faint: rgb(0x94a3b8),
		green: rgb(0x22c55e), red: rgb(0xf87171), amber: rgb(0xf59e0b), blue: rgb(0x3b82f6),
		violet: rgb(0xa78bfa), pink: rgb(0xf472b6), slate: rgb(0x94a3b8),
		burndownFill: rgba(0x3b82f6, 60), waitFill: rgba(0xf59e0b, 46),
	}
	p.hats = []color.Color{rgb(0xa78bfa), rgb(0x2dd4bf), rgb(0xfb923c), rgb(0xe879f9), rgb(0xa3e635), rgb(0x38bdf8)}
	return p
}

func lightPalette() palette {
	p := palette{
		background: rgb(0xffffff), panel: rgb(0xf1f5f9), grid: rgb(0xcbd5e1),
		text: rgb(0x0f172a), soft: rgb(0x334155), faint: rgb(0x5b6779),
		green: rgb(0x15803d), red: rgb(0xdc2626), amber: rgb(0xb45309), blue: rgb(0x2563eb),
		violet: rgb(0x7c3aed), pink: rgb(0xbe185d), slate: rgb(0x64748b),
		burndownFill: rgba(0x2563eb, 36), waitFill: rgba(0xb45309, 34),
	}
	p.hats = []color.Color{rgb(0x7c3aed), rgb(0x0f766e), rgb(0xc2410c), rgb(0xa21caf), rgb(0x4d7c0f), rgb(0x0369a1)}
	return p
}

// opaque returns the colours that cover what is below them.
func (p palette) opaque() (out color.Palette) {
	all := []color.Color{p.background, p.panel, p.grid, p.text, p.soft, p.faint, p.green, p.red, p.amber, p.blue, p.violet, p.pink, p.slate}
	for _, c := range append(all, p.hats...) {
		if x := color.RGBAModel.Convert(c); !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

// hatColor returns the colour of a hat, and whether the hat has a fixed one.
// Hats of users take the remaining colours in turn: n counts them.
func (p palette) hatColor(name string, n int) (c color.Color, own bool) {
	switch name {
	case "planner":
		return p.slate, true
	case "builder":
		return p.blue, true
	case "reviewer":
		return p.green, true
	case "fixer":
		return p.amber, true
	}
	return p.hats[n%len(p.hats)], false
}

// hatColors returns the colour of each hat of a night.
func (f Facts) hatColors(p palette) map[string]color.Color {
	colors, others := map[string]color.Color{}, 0
	for _, h := range f.Hats {
		col, own := p.hatColor(h.Name, others)
		if !own {
			others++
		}
		colors[h.Name] = col
	}
	return colors
}

// signColor returns the colour for a line that begins with the sign s.
func (p palette) signColor(s string) color.Color {
	switch s {
	case bot.SignBlocked, bot.SignFailed:
		return p.red
	case bot.SignDone:
		return p.green
	case bot.SignPaused:
		return p.slate
	}
	return p.amber
}
