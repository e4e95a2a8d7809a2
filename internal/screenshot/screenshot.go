package screenshot

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	xdraw "golang.org/x/image/draw"
)

// Limits of a picture. A page as high as Chromium makes it by itself is far below.
const (
	MaxPixels = 16 << 20
	MaxSide   = 16 << 10
)

// ErrNoPicture means that a file is no PNG, or not one that can be kept.
var ErrNoPicture = errors.New("no picture")

// Clean returns the pixels of a PNG as a PNG, with its size. An error says why the file
// cannot be used, for people.
func Clean(data []byte) (clean []byte, width, height int, err error) {
	img, err := decode(data)
	if err != nil {
		return nil, 0, 0, err
	}
	clean, err = encode(img)
	return clean, img.Rect.Dx(), img.Rect.Dy(), err
}

// decode returns the pixels of a PNG, from 0,0, with 8 bits a channel.
func decode(data []byte) (*image.NRGBA, error) {
	is, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("what it left is %w in the format PNG", ErrNoPicture)
	}
	if w, h := is.Width, is.Height; w > MaxSide || h > MaxSide || w*h > MaxPixels {
		return nil, fmt.Errorf("its picture has %d×%d pixels, which is too many: %w", w, h, ErrNoPicture)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("its picture is damaged: %w", ErrNoPicture)
	}
	out := image.NewNRGBA(image.Rect(0, 0, is.Width, is.Height))
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out, nil
}

func encode(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return b.Bytes(), nil
}

// Measures of Pair, in pixels.
const (
	pairWidth  = 1000 // of each picture, at most
	pairHeight = 1200
	pairGap    = 12
	pairLeast  = 100 // narrower, nothing is seen any more
)

// gapColour separates the two pictures whether a phone is dark or light.
var gapColour = color.NRGBA{R: 0xd0, G: 0x40, B: 0x40, A: 0xff}

// Pair returns one picture with the start above the result, of at most limit bytes.
// Both are reduced alike until they fit; what is below the height of a screen is cut
// off.
func Pair(start, result []byte, limit int) ([]byte, error) {
	return fit(limit, start, result)
}

// Single returns one picture of at most limit bytes.
func Single(data []byte, limit int) ([]byte, error) { return fit(limit, data) }

func fit(limit int, files ...[]byte) ([]byte, error) {
	var all []*image.NRGBA
	width := 1
	for _, data := range files {
		img, err := decode(data)
		if err != nil {
			return nil, err
		}
		all = append(all, img)
		width = max(width, img.Rect.Dx())
	}
	for to := min(width, pairWidth); ; to = to * 3 / 4 {
		made, err := encode(stack(all, width, to))
		if err != nil || len(made) <= limit {
			return made, err
		}
		if to < pairLeast {
			return nil, fmt.Errorf("the picture does not fit into %d bytes: %w", limit, ErrNoPicture)
		}
	}
}

// stack draws pictures below each other. A width of from pixels becomes one of to.
func stack(all []*image.NRGBA, from, to int) image.Image {
	height := -pairGap
	var sizes []image.Rectangle
	for _, img := range all {
		cut := img.Rect
		cut.Max.Y = min(cut.Max.Y, max(1, pairHeight*from/pairWidth))
		sizes = append(sizes, cut)
		height += max(1, cut.Dy()*to/from) + pairGap
	}
	out := image.NewNRGBA(image.Rect(0, 0, to, height))
	draw.Draw(out, out.Rect, image.NewUniform(gapColour), image.Point{}, draw.Src)
	y := 0
	for n, img := range all {
		at := image.Rect(0, y, max(1, sizes[n].Dx()*to/from), y+max(1, sizes[n].Dy()*to/from))
		draw.Draw(out, at, image.White, image.Point{}, draw.Src)
		xdraw.ApproxBiLinear.Scale(out, at, img, sizes[n], draw.Over, nil)
		y = at.Max.Y + pairGap
	}
	return out
}
