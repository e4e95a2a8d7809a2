package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShippedHatsAreNotShared: shipped documents are parsed once, and no caller can
// change the hats and patterns of the next one.
func TestShippedHatsAreNotShared(t *testing.T) {
	c := &Config{}
	first, _ := c.catalogue(nil)
	want, _ := c.catalogue(nil)
	for _, h := range first.hats {
		for _, list := range [][]string{h.Load, h.WriteAllowed, h.WriteDenied, h.Emits, h.Payload, h.Denied, h.Fallbacks} {
			clear(list)
		}
	}
	for _, f := range first.patterns {
		clear(f.pattern.Routes)
		clear(f.pattern.Threshold)
	}
	got, _ := c.catalogue(nil)
	if diff := cmp.Diff(want.hats, got.hats); diff != "" {
		t.Errorf("hats of another caller (-want +got):\n%s", diff)
	}
	for name, f := range want.patterns {
		if diff := cmp.Diff(f.pattern, got.patterns[name].pattern); diff != "" {
			t.Errorf("pattern %s of another caller (-want +got):\n%s", name, diff)
		}
	}
}
