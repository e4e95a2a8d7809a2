package markdown

import (
	"slices"
	"testing"
)

func TestPlanAllow(t *testing.T) {
	for line, want := range map[string][]string{
		"- Allow: `npm publish`, `gh release  create v1`": {"npm publish", "gh release create v1"},
		"- **Allow:** `kubectl`":                          {"kubectl"},
		"- Allow: none":                                   nil,
	} {
		if got := parseOne(t, "- [ ] **Task 1: Publish**\n  "+line+"\n").Allow; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
