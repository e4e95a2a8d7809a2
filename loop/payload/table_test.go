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

// TestField checks that a field is found by its exact name, however that is written.
func TestField(t *testing.T) {
	for data, want := range map[string]string{
		`{"no_change":"it is there"}`:      `"it is there"`,
		`{"no_chang\u0065":"it is there"}`: `"it is there"`,
		`{"No_change":"it is there"}`:      "",
		`{"summary":"no_change"}`:          "",
		`{"summary":"all of it"}`:          "",
		`{"no_change":`:                    "",
		``:                                 "",
	} {
		if got := string(Field([]byte(data), "no_change")); got != want {
			t.Errorf("Field(%s) = %s, want %s", data, got, want)
		}
	}
}
