package patch

import (
	"image/color"
	"math"
	"strconv"
	"strings"
	"testing"
)

// luminance is that of WCAG 2.
func luminance(c color.RGBA) float64 {
	part := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
}

func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast checks that every text of a picture and of an HTML file can be read
// on every ground that it stands on.
func TestContrast(t *testing.T) {
	check := func(where, name string, ink, ground color.RGBA) {
		if c := contrast(ink, ground); c < 4.5 {
			t.Errorf("%s: %s has a contrast of %.2f", where, name, c)
		}
	}
	grounds := map[string]color.RGBA{"plain": inkGround, "added": inkAdded, "removed": inkRemoved, "added word": inkAddedW, "removed word": inkRemoveW}
	for where, ground := range grounds {
		check(where, "text", inkText, ground)
		for class, ink := range inkClass {
			check(where, strconv.Itoa(int(class)), ink, ground)
		}
	}
	for _, ground := range []color.RGBA{inkGround, inkPanel, inkAdded, inkRemoved} {
		check("line", "soft", inkSoft, ground)
	}
	check("head", "plus", inkPlus, inkPanel)
	check("head", "minus", inkMinus, inkPanel)
	check("added", "plus", inkPlus, inkAdded)
	check("removed", "minus", inkMinus, inkRemoved)
	check("odd", "name", inkGround, inkOdd)

	light, dark, _ := strings.Cut(css, "prefers-color-scheme:dark")
	for scheme, text := range map[string]string{"light": light, "dark": dark} {
		value := func(name string) color.RGBA {
			_, rest, found := strings.Cut(text, "--"+name+":#")
			if !found {
				t.Fatalf("%s: no --%s", scheme, name)
			}
			hex := rest[:strings.IndexAny(rest, ";}")]
			if len(hex) == 3 {
				hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
			}
			n, err := strconv.ParseUint(hex, 16, 24)
			if err != nil {
				t.Fatal(err)
			}
			return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}
		}
		for _, ground := range []string{"g", "a", "aw", "d", "dw"} {
			for _, ink := range []string{"t", "k", "s", "n", "c", "m", "y"} {
				check(scheme+" "+ground, ink, value(ink), value(ground))
			}
		}
		for _, pair := range [][2]string{{"f", "g"}, {"f", "p"}, {"f", "a"}, {"f", "d"}, {"t", "p"}, {"ap", "a"}, {"ap", "p"}, {"dp", "d"}, {"dp", "p"}, {"o", "ob"}} {
			check(scheme+" "+pair[1], pair[0], value(pair[0]), value(pair[1]))
		}
	}
}
