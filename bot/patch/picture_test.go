package patch_test

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot/patch"
	"github.com/nightporter/nightporter/internal/width"
)

func columns(s string) int { return width.Of(s) }

// maxPicture is the limit of a message's picture, in bytes.
const maxPicture = 300_000

func checkPicture(t testing.TB, p patch.Page) {
	t.Helper()
	data, err := patch.Draw(p, "shop #5")
	if err != nil {
		t.Fatal(err)
	}
	size, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || size.Width != 1080 || size.Height > 1280 || len(data) > maxPicture {
		t.Fatalf("%dx%d, %d bytes, %v", size.Width, size.Height, len(data), err)
	}
}

// TestPicture checks the size of the pictures and that the same page gives the same
// bytes. Whoever changes them looks at them: what reads well no test can say.
func TestPicture(t *testing.T) {
	all := pages(patch.PictureLayout, sample)
	if len(all) != 2 || !patch.Drawable(all) {
		t.Fatalf("%d pages, drawable: %v", len(all), patch.Drawable(all))
	}
	for _, p := range all {
		checkPicture(t, p)
		first, _ := patch.Draw(p, "shop #5")
		again, _ := patch.Draw(p, "shop #5")
		if !bytes.Equal(first, again) {
			t.Error("two drawings differ")
		}
	}
	for _, hostile := range []string{
		"diff --git a/x b/x\n@@ -99999999,1 +99999999,2 @@ " + strings.Repeat("long ", 50) + "\n-a\x00\u202e漢字\n+" + strings.Repeat("e\u0301\u0301\u0301\u0301\U000e0100", 90) + "\n",
		"diff --git a/" + strings.Repeat("deep/", 60) + "x b/" + strings.Repeat("deep/", 60) + "x\nnew file mode 120000\n@@ -0,0 +1 @@\n+👩‍👩‍👧\n\\ No newline at end of file\n",
	} {
		for _, p := range pages(patch.PictureLayout, hostile) {
			checkPicture(t, p)
		}
	}
	if patch.Drawable(pages(patch.PictureLayout, "diff --git a/x b/x\n@@ -1 +1 @@\n-漢字漢字漢字\n+漢字かな漢字\n")) {
		t.Error("the font has no Chinese, and it would be boxes")
	}
}

func BenchmarkPicture(b *testing.B) {
	p := pages(patch.PictureLayout, sample)[0]
	for b.Loop() {
		if _, err := patch.Draw(p, "shop #5"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHTML(b *testing.B) {
	for b.Loop() {
		render(sample)
	}
}
