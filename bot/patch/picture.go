package patch

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Sizes of a picture, in pixels. Telegram shrinks a photo whose longer side has
// more than 1280, so a picture is no longer: its text would not be readable.
const (
	pictureWidth = 1080
	rowHeight    = 39
	headHeight   = 58
	textSize     = 29
	numberSize   = 22
	advance      = 17 // of a character
	smallAdvance = 13 // of a digit of a line's number
	margin       = 14
	signX        = 84 // right of the numbers
	textX        = 110
	bottom       = 12
)

// MaxPages is how many pages of a diff people turn over. A longer one is an HTML
// file.
const MaxPages = 8

// PictureLayout is the page of a picture.
var PictureLayout = Layout{Columns: (pictureWidth - textX - margin) / advance, Lead: (textX - margin) / advance, Rows: (1280 - headHeight - bottom) / rowHeight, Pages: MaxPages, Tab: 2, Numbers: true, Colored: true}

// TextLayout is the page of a message, whose lines have two columns more for the
// sign. With the lines above it a page has less than the 25 lines from which a
// platform makes a file of it.
var TextLayout = Layout{Columns: 30, Lead: 2, Rows: 20, Pages: MaxPages, Tab: 2}

// WideLayout is the page of a terminal.
var WideLayout = Layout{Rows: 5000, Tab: 4}

// Colours of a picture. Every text has a contrast of at least 4.5 to its ground,
// the minimum of WCAG AA.
var (
	inkGround  = color.RGBA{0x0d, 0x11, 0x17, 0xff}
	inkPanel   = color.RGBA{0x1c, 0x24, 0x31, 0xff}
	inkAdded   = color.RGBA{0x0f, 0x2a, 0x1c, 0xff}
	inkRemoved = color.RGBA{0x34, 0x16, 0x1b, 0xff}
	inkAddedW  = color.RGBA{0x15, 0x4a, 0x2a, 0xff} // words that differ
	inkRemoveW = color.RGBA{0x72, 0x20, 0x29, 0xff}
	inkOdd     = color.RGBA{0xf5, 0x9e, 0x0b, 0xff} // ground of characters that are named
	inkText    = color.RGBA{0xe6, 0xed, 0xf3, 0xff}
	inkSoft    = color.RGBA{0x9a, 0xa7, 0xb7, 0xff}
	inkPlus    = color.RGBA{0x4a, 0xde, 0x80, 0xff}
	inkMinus   = color.RGBA{0xff, 0x8f, 0x98, 0xff}

	inkClass = map[Class]color.RGBA{
		Comment: {0xa3, 0xae, 0xbd, 0xff}, String: {0xa5, 0xd6, 0xff, 0xff}, Number: {0xff, 0xc2, 0x7a, 0xff},
		Keyword: {0xff, 0xa0, 0xb4, 0xff}, Call: {0xd9, 0xbd, 0xff, 0xff}, Key: {0x8f, 0xe3, 0xc8, 0xff},
	}
)

type typeface struct {
	font *sfnt.Font
	bold *sfnt.Font
}

// typefaces parses the Go fonts of fixed width (BSD licence of the Go project),
// which hold Latin, Greek and Cyrillic.
var typefaces = sync.OnceValues(func() (typeface, error) {
	regular, err := opentype.Parse(gomono.TTF)
	if err != nil {
		return typeface{}, err
	}
	bold, err := opentype.Parse(gomonobold.TTF)
	return typeface{regular, bold}, err
})

// maxMissing is the share of characters without a glyph, one in so many, above
// which text is better than a picture.
const maxMissing = 50

// Drawable reports whether the font of the pictures has a glyph for nearly all
// characters of the pages.
func Drawable(pages []Page) bool {
	t, err := typefaces()
	if err != nil {
		return false
	}
	var buf sfnt.Buffer
	known := map[rune]bool{}
	all, missing := 0, 0
	for _, p := range pages {
		for _, row := range p.rows {
			for _, c := range row.cells {
				for _, r := range c.text {
					has, seen := known[r]
					if !seen {
						n, err := t.font.GlyphIndex(&buf, r)
						has = err == nil && n != 0
						known[r] = has
					}
					if all++; !has {
						missing++
					}
				}
			}
		}
	}
	return missing*maxMissing <= all
}

// canvas draws one page.
type canvas struct {
	img               *image.RGBA
	text, bold, small font.Face
	buf               sfnt.Buffer
	font              *sfnt.Font
	shapes            map[shapeKey]shape
}

// Draw returns a page as a PNG of at most 1080 by 1280 pixels. title stands above
// the rows.
func Draw(p Page, title string) ([]byte, error) {
	t, err := typefaces()
	if err != nil {
		return nil, fmt.Errorf("fonts of a diff's picture: %w", err)
	}
	c := canvas{img: image.NewRGBA(image.Rect(0, 0, pictureWidth, headHeight+len(p.rows)*rowHeight+bottom)), font: t.font, shapes: map[shapeKey]shape{}}
	for _, f := range []struct {
		to   *font.Face
		from *sfnt.Font
		size float64
	}{{&c.text, t.font, textSize}, {&c.bold, t.bold, textSize}, {&c.small, t.font, numberSize}} {
		if *f.to, err = opentype.NewFace(f.from, &opentype.FaceOptions{Size: f.size, DPI: 72, Hinting: font.HintingFull}); err != nil {
			return nil, fmt.Errorf("font of a diff's picture: %w", err)
		}
	}
	c.fill(c.img.Bounds(), inkGround)
	c.head(p, title)
	for n, r := range p.rows {
		c.row(r, headHeight+n*rowHeight)
	}
	var out bytes.Buffer
	e := png.Encoder{CompressionLevel: png.DefaultCompression}
	if err := e.Encode(&out, c.img); err != nil {
		return nil, fmt.Errorf("encode a diff's picture: %w", err)
	}
	return out.Bytes(), nil
}

func (c *canvas) fill(r image.Rectangle, col color.Color) {
	draw.Draw(c.img, r, image.NewUniform(col), image.Point{}, draw.Src)
}

// head draws the title, and the page's number at the right.
func (c *canvas) head(p Page, title string) {
	at := ""
	if p.Of > 1 {
		at = strconv.Itoa(p.N) + "/" + strconv.Itoa(p.Of)
	}
	columns := (pictureWidth-2*margin)/advance - len(at) - 2
	if p.File != "" {
		title += "  " + p.File
	}
	all := textCells(title, Plain)
	for n, used := 0, 0; n < len(all); n++ {
		if used += all[n].columns; used > columns-1 {
			all = append(all[:n:n], cell{text: "…", columns: 1})
			break
		}
	}
	c.cells(all, margin, headHeight-20, c.text, inkSoft)
	c.string(at, pictureWidth-margin-len(at)*advance, headHeight-20, c.text, inkSoft)
}

func (c *canvas) row(r row, y int) {
	base := y + rowHeight - 11
	box := image.Rect(0, y, pictureWidth, y+rowHeight)
	switch r.kind {
	case rowFile, rowBefore:
		box.Min.Y += 2 // apart from a file above that has no lines
		c.fill(box, inkPanel)
		ink := inkText
		if r.kind == rowBefore {
			ink = inkOdd
		}
		c.cells(r.cells, margin, base, c.bold, ink)
		c.counts(r.counts, base)
		return
	case rowInfo:
		c.cells(r.cells, textX, base, c.text, inkSoft)
		return
	case rowHunk:
		c.fill(image.Rect(0, y+rowHeight/2, signX-10, y+rowHeight/2+2), inkPanel)
		c.cells(r.cells, textX, base, c.text, inkSoft)
		return
	}
	sign, changed := inkText, color.RGBA{}
	switch r.sign {
	case Added:
		c.fill(box, inkAdded)
		sign, changed = inkPlus, inkAddedW
	case Removed:
		c.fill(box, inkRemoved)
		sign, changed = inkMinus, inkRemoveW
	}
	if r.kind == rowLine {
		number := strconv.Itoa(r.number)
		c.string(number, signX-12-len(number)*smallAdvance, base-1, c.small, inkSoft)
		if r.sign != Context {
			c.string(map[Kind]string{Added: "+", Removed: "−"}[r.sign], signX, base, c.bold, sign)
		}
	} else {
		c.string("›", signX, base, c.text, inkSoft)
	}
	x := textX
	for _, cell := range r.cells {
		w := cell.columns * advance
		if cell.changed {
			c.fill(image.Rect(x, y+2, x+w, y+rowHeight-2), changed)
		}
		x += w
	}
	c.cells(r.cells, textX, base, c.text, inkText)
}

// counts draws what happened to a file at the end of its row.
func (c *canvas) counts(s string, base int) {
	x := pictureWidth - margin - utf8.RuneCountInString(s)*advance
	for word := range strings.SplitSeq(s, " ") {
		ink := inkSoft
		switch {
		case strings.HasPrefix(word, "+"):
			ink = inkPlus
		case strings.HasPrefix(word, "−"):
			ink = inkMinus
		}
		c.string(word, x, base, c.text, ink)
		x += (utf8.RuneCountInString(word) + 1) * advance
	}
}

// cells draws cells from x on, each at its column. A character without a glyph is
// a box.
func (c *canvas) cells(all []cell, x, base int, face font.Face, ink color.RGBA) {
	for _, cell := range all {
		col := ink
		if own, has := inkClass[cell.class]; has && ink == inkText {
			col = own
		}
		if cell.odd {
			c.fill(image.Rect(x, base-26, x+cell.columns*advance, base+9), inkOdd)
			col = inkGround
		}
		at := x
		for _, r := range cell.text {
			switch n, err := c.font.GlyphIndex(&c.buf, r); {
			case r == ' ':
			case err != nil || n == 0:
				c.box(at, base, col)
			default:
				c.string(string(r), at, base, face, col)
			}
			at += advance
		}
		x += cell.columns * advance
	}
}

func (c *canvas) box(x, base int, col color.Color) {
	c.fill(image.Rect(x+2, base-20, x+advance-2, base), col)
	c.fill(image.Rect(x+4, base-18, x+advance-4, base-2), inkGround)
}

// string draws a text, each character in a column of its own. Shapes are kept: a
// face makes them anew for every character.
func (c *canvas) string(s string, x, base int, face font.Face, col color.Color) {
	step := advance
	if face == c.small {
		step = smallAdvance
	}
	src := image.NewUniform(col)
	for _, r := range s {
		key := shapeKey{face, r}
		g, known := c.shapes[key]
		if !known {
			at, mask, offset, _, ok := face.Glyph(fixed.P(0, 0), r)
			if ok {
				copied := image.NewAlpha(image.Rect(0, 0, at.Dx(), at.Dy())) // the face reuses its mask
				draw.Draw(copied, copied.Bounds(), mask, offset, draw.Src)
				for n, a := range copied.Pix { // sixteen shades look the same, and take a third less space
					copied.Pix[n] = a >> 4 * 17
				}
				g = shape{at, copied}
			}
			c.shapes[key] = g
		}
		if g.mask != nil {
			draw.DrawMask(c.img, g.at.Add(image.Pt(x, base)), src, image.Point{}, g.mask, image.Point{}, draw.Over)
		}
		x += step
	}
}

type shapeKey struct {
	face font.Face
	r    rune
}

// shape is a character's ink, drawn at the origin.
type shape struct {
	at   image.Rectangle
	mask *image.Alpha
}
