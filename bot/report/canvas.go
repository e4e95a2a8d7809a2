package report

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
	"strings"
	"sync"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// fonts parses the two Go fonts (BSD licence of the Go project), which hold
// Latin, Greek and Cyrillic. The key says whether the font is bold.
var fonts = sync.OnceValues(func() (map[bool]*sfnt.Font, error) {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	bold, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return nil, err
	}
	return map[bool]*sfnt.Font{false: regular, true: bold}, nil
})

// canvas draws on one image. It draws text itself, because gg transforms every
// glyph, which blurs it.
type canvas struct {
	palette
	*gg.Context
	img   *image.RGBA
	fonts map[bool]*sfnt.Font
	faces map[style]font.Face
	buf   sfnt.Buffer
	err   error
}

// style is the size and weight of a text.
type style struct {
	size float64
	bold bool
}

func newCanvas(w, h int, p palette) (*canvas, error) {
	all, err := fonts()
	if err != nil {
		return nil, fmt.Errorf("fonts of the digest's picture: %w", err)
	}
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	c := &canvas{palette: p, Context: gg.NewContextForRGBA(img), img: img, fonts: all, faces: map[style]font.Face{}}
	c.SetColor(p.background)
	c.Clear()
	return c, nil
}

// encode returns the image as a PNG, or the first error of drawing.
func (c *canvas) encode() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	var out bytes.Buffer
	if err := png.Encode(&out, c.img); err != nil {
		return nil, fmt.Errorf("encode the digest's picture: %w", err)
	}
	return out.Bytes(), nil
}

// encodeSmall returns the image as a PNG of 256 colours, those of the palette and the most
// frequent others, or the first error of drawing. What lies between them at the edges of
// letters becomes the nearest one, which nobody sees, and a picture full of words takes a
// third of the bytes.
func (c *canvas) encodeSmall() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	counts := map[color.RGBA]int{}
	at := func(n int) color.RGBA { // the image has no gaps between its rows
		return color.RGBA{c.img.Pix[n], c.img.Pix[n+1], c.img.Pix[n+2], c.img.Pix[n+3]}
	}
	for n := 0; n < len(c.img.Pix); n += 4 {
		counts[at(n)]++
	}
	colours := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B), cmp.Compare(a.A, b.A))
	})
	pal := c.palette.opaque() // also those of which there is little
	for _, x := range colours {
		if len(pal) < 256 && !slices.Contains(pal, color.Color(x)) {
			pal = append(pal, x)
		}
	}
	index := make(map[color.RGBA]uint8, len(colours))
	for _, x := range colours {
		index[x] = uint8(pal.Index(x)) //nolint:gosec // there are 256
	}
	small := image.NewPaletted(c.img.Rect, pal)
	for n := range small.Pix {
		small.Pix[n] = index[at(4*n)]
	}
	var out bytes.Buffer
	if err := png.Encode(&out, small); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return out.Bytes(), nil
}

func (c *canvas) fontFace(s style) font.Face {
	if f := c.faces[s]; f != nil {
		return f
	}
	f, err := opentype.NewFace(c.fonts[s.bold], &opentype.FaceOptions{Size: s.size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		c.err = fmt.Errorf("font of the digest's picture: %w", err)
		return nil
	}
	c.faces[s] = f
	return f
}

// hasGlyph reports whether the font has a glyph for a character.
func (c *canvas) hasGlyph(r rune, s style) bool {
	n, err := c.fonts[s.bold].GlyphIndex(&c.buf, r)
	return err == nil && n != 0
}

// boxWidth returns the width of the box drawn for a character without a glyph. A
// visible box shows that a character is missing.
func boxWidth(s style) float64 { return s.size * 0.62 }

// textWidth returns the width of a text in pixels.
func (c *canvas) textWidth(text string, s style) float64 {
	f := c.fontFace(s)
	if f == nil {
		return 0
	}
	w := 0.0
	for _, run := range c.splitRuns(text, s) {
		if run.boxes > 0 {
			w += float64(run.boxes) * boxWidth(s)
			continue
		}
		w += float64(font.MeasureString(f, run.text)) / 64
	}
	return w
}

// textRun is a part of a text: characters with glyphs, or a number of boxes for
// characters without.
type textRun struct {
	text  string
	boxes int
}

func (c *canvas) splitRuns(text string, s style) []textRun {
	var out []textRun
	for _, r := range text {
		n := len(out) - 1
		switch has := c.hasGlyph(r, s); {
		case has && n >= 0 && out[n].boxes == 0:
			out[n].text += string(r)
		case has:
			out = append(out, textRun{text: string(r)})
		case n >= 0 && out[n].boxes > 0:
			out[n].boxes++
		default:
			out = append(out, textRun{boxes: 1})
		}
	}
	return out
}

// drawText draws a text with its baseline at y. With ax = 0 it starts at x, with
// ax = 1 it ends there.
func (c *canvas) drawText(text string, x, y, ax float64, s style, col color.Color) {
	f := c.fontFace(s)
	if f == nil {
		return
	}
	x -= ax * c.textWidth(text, s)
	for _, run := range c.splitRuns(text, s) {
		if run.boxes > 0 {
			w := boxWidth(s)
			c.SetColor(col)
			c.SetLineWidth(max(1.5, s.size/16))
			for range run.boxes {
				c.DrawRectangle(x+w*0.14, y-s.size*0.66, w*0.72, s.size*0.66)
				c.Stroke()
				x += w
			}
			continue
		}
		d := font.Drawer{Dst: c.img, Src: image.NewUniform(col), Face: f, Dot: fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}}
		d.DrawString(run.text)
		x = float64(d.Dot.X) / 64
	}
}

// truncate shortens a text to a width and marks the cut with "…".
func (c *canvas) truncate(text string, most float64, s style) string {
	if c.textWidth(text, s) <= most {
		return text
	}
	runes := []rune(text)
	low, high := 0, len(runes) // number of runes that fit before "…"
	for low < high {
		n := (low + high + 1) / 2
		if c.textWidth(strings.TrimRight(string(runes[:n]), " ,;:·")+"…", s) <= most {
			low = n
		} else {
			high = n - 1
		}
	}
	return strings.TrimRight(string(runes[:low]), " ,;:·") + "…"
}

// shrinkToFit reduces the size of s until a text is at most most wide, but not
// below the size least.
func (c *canvas) shrinkToFit(text string, most float64, s style, least float64) style {
	for s.size > least && c.textWidth(text, s) > most {
		s.size--
	}
	return s
}

func (c *canvas) fillBox(x, y, w, h, r float64, col color.Color) {
	c.SetColor(col)
	c.DrawRoundedRectangle(x, y, w, h, min(r, w/2, h/2))
	c.Fill()
}

func (c *canvas) drawLine(x1, y1, x2, y2, width float64, col color.Color, dash ...float64) {
	c.SetColor(col)
	c.SetLineWidth(width)
	c.SetDash(dash...)
	c.DrawLine(x1, y1, x2, y2)
	c.Stroke()
	c.SetDash()
}
