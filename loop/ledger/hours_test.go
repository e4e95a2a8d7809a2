package ledger

import (
	"testing"
	"time"
)

func TestHours(t *testing.T) {
	for in, want := range map[string]Hours{"23:00-07:00": "23:00-07:00", "off": QuietOff, "OFF": QuietOff, "default": "", "22:00–6:00": "22:00-06:00"} {
		if got, err := ParseHours(in); err != nil || got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	if got, err := ParseHours(" 9:05 - 17:30 "); err != nil || got != "09:05-17:30" {
		t.Errorf("%q, %v", got, err)
	}
	for _, in := range []string{"24:00-07:00", "23-7", "23:00", "07:00-07:00", "11pm", "23:60-07:00", "23:00-07:00x"} {
		if got, err := ParseHours(in); err == nil {
			t.Errorf("%q is taken as %q", in, got)
		}
	}
	at := func(clock string) time.Time {
		v, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		h    Hours
		at   string
		want bool
	}{
		{"23:00-07:00", "23:00", true}, {"23:00-07:00", "03:00", true}, {"23:00-07:00", "06:59", true}, {"23:00-07:00", "07:00", false},
		{"23:00-07:00", "22:59", false}, {"12:00-13:00", "12:30", true}, {"12:00-13:00", "13:00", false}, {QuietOff, "03:00", false}, {"", "03:00", false},
	} {
		if c.h.Has(at(c.at)) != c.want {
			t.Errorf("%s has %s: %v", c.h, c.at, !c.want)
		}
	}
}
