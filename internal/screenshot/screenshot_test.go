package screenshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"
)

// page returns a picture as PNG, encoded with a compression of its own.
func page(t *testing.T, w, h int, at func(x, y int) color.NRGBA, c png.CompressionLevel) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, at(x, y))
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: c}).Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func stripes(x, y int) color.NRGBA {
	return color.NRGBA{R: uint8(x), G: uint8(y), B: 7, A: 0xff}
}

// withText adds a chunk with a text behind the head of a PNG, and bytes behind its end.
func withText(data []byte, text, after string) []byte {
	const head = 8 + 25
	chunk := append([]byte("tEXt"), text...)
	var b bytes.Buffer
	b.Write(data[:head])
	_ = binary.Write(&b, binary.BigEndian, uint32(len(text)))
	b.Write(chunk)
	_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(chunk))
	b.Write(data[head:])
	b.WriteString(after)
	return b.Bytes()
}

// sized returns the head of a PNG that claims a size.
func sized(data []byte, w, h uint32) []byte {
	data = bytes.Clone(data)
	binary.BigEndian.PutUint32(data[16:], w)
	binary.BigEndian.PutUint32(data[20:], h)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

func TestClean(t *testing.T) {
	a := page(t, 30, 20, stripes, png.BestCompression)
	want, w, h, err := Clean(a)
	if err != nil || w != 30 || h != 20 {
		t.Fatalf("%d×%d, %v", w, h, err)
	}
	same := page(t, 30, 20, stripes, png.NoCompression)
	if bytes.Equal(a, same) {
		t.Fatal("the files do not differ")
	}
	for name, data := range map[string][]byte{"other bytes": same, "text": withText(a, "Comment\x00<script>", "PK\x03\x04")} {
		got, _, _, err := Clean(data)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: equal pixels are not equal bytes, %v", name, err)
		}
	}
	other := page(t, 30, 20, func(x, y int) color.NRGBA {
		c := stripes(x, y)
		if x == 29 && y == 19 {
			c.B++
		}
		return c
	}, png.BestCompression)
	if got, _, _, err := Clean(other); err != nil || bytes.Equal(got, want) {
		t.Errorf("a pixel differs and nothing shows it, %v", err)
	}
}

func TestCleanRefuses(t *testing.T) {
	a := page(t, 30, 20, stripes, png.DefaultCompression)
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("<svg onload=alert(1)>"), "jpeg": {0xff, 0xd8, 0xff, 0xe0}, "cut": a[:len(a)/2], "head": a[:20],
		"bomb": sized(a, 65000, 65000), "wide": sized(a, MaxSide+1, 1), "negative": sized(a, 1<<31, 1<<31), "other size": sized(a, 4000, 4000),
	} {
		if _, _, _, err := Clean(data); !errors.Is(err, ErrNoPicture) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPair(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct{ w, h int }{"screen": {1280, 800}, "small": {3, 2}, "one pixel": {1, 1}, "long": {400, 9000}, "wide": {9000, 3}} {
		start := page(t, c.w, c.h, stripes, png.DefaultCompression)
		result := page(t, c.w, c.h, func(int, int) color.NRGBA {
			return color.NRGBA{R: uint8(noise.Uint32()), G: uint8(noise.Uint32()), A: 0xff}
		}, png.DefaultCompression)
		const limit = 300_000
		got, err := Pair(start, result, limit)
		if err != nil || len(got) > limit {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
			continue
		}
		is, err := png.DecodeConfig(bytes.NewReader(got))
		if err != nil || is.Width > pairWidth || is.Height > 2*pairHeight+pairGap || is.Height < pairGap+2 {
			t.Errorf("%s: %d×%d, %v", name, is.Width, is.Height, err)
		}
	}
	if _, err := Pair(page(t, 3, 3, stripes, 0), []byte("x"), 1000); !errors.Is(err, ErrNoPicture) {
		t.Errorf("no picture: %v", err)
	}
	if got, err := Single(page(t, 30, 20, stripes, 0), 100_000); err != nil || len(got) == 0 {
		t.Errorf("one alone: %d bytes, %v", len(got), err)
	}
	if _, err := Single(page(t, 30, 20, stripes, 0), 10); !errors.Is(err, ErrNoPicture) {
		t.Errorf("into 10 bytes: %v", err)
	}
}
