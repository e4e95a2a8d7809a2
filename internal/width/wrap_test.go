package width_test

import (
	"slices"
	"testing"

	"github.com/nightporter/nightporter/internal/width"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want []string
	}{
		{"", 10, []string{""}},
		{"one two", 10, []string{"one two"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"init --add --repo x", 8, []string{"init", "--add", "--repo x"}},
		{"a 0123456789 b", 4, []string{"a", "0123", "4567", "89 b"}},
		{"店店店", 4, []string{"店店", "店"}},
		{"店", 1, []string{"店"}},
	} {
		if got := width.Wrap(c.text, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
