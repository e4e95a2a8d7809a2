package payload

import (
	"testing"
)

// TestEventTable checks that no event in the table has an empty cell.
func TestEventTable(t *testing.T) {
	for name, row := range events {
		if len(row.fields) == 0 || row.shape == "" || Shape(name) != row.shape {
			t.Errorf("%s has no fields, or no example", name)
		}
		known := map[string]bool{}
		for _, f := range row.fields {
			known[f.name] = true
		}
		for _, f := range row.anyOf {
			if !known[f] {
				t.Errorf("%s has to carry %s, which is none of its fields", name, f)
			}
		}
	}
}
