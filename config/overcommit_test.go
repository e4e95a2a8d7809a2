package config

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestOvercommitted: lanes whose sessions may use more memory together than the machine
// has are told, with the limit that fits.
func TestOvercommitted(t *testing.T) {
	const gb = 1_000_000_000
	two := 2
	for _, c := range []struct {
		memory  Memory
		lanes   int
		most    *int
		machine int64
		text    string
	}{
		{Memory{}, 1, nil, 8 * gb, ""},
		{Memory{}, 4, nil, 8 * gb, `4 sessions at a time may use 24.0 GB of memory together, and the machine has 8.0: what goes over it can end any of them; memory = "22%" in [limits], or fewer at a time`},
		{Memory{}, 4, &two, 8 * gb, `2 sessions at a time may use 12.0 GB of memory together, and the machine has 8.0: what goes over it can end any of them; memory = "45%" in [limits], or fewer at a time`},
		{Memory{Set: true, Percent: 25}, 4, nil, 8 * gb, ""},
		{Memory{Set: true, Bytes: 3 * gb}, 3, nil, 8 * gb, `3 sessions at a time may use 9.0 GB of memory together, and the machine has 8.0: what goes over it can end any of them; memory = "30%" in [limits], or fewer at a time`},
		{Memory{Set: true}, 4, nil, 8 * gb, ""}, // no limit
		{Memory{}, 4, nil, 0, ""},               // unknown
	} {
		cfg := Empty()
		cfg.Limits.Memory, cfg.MaxSessions = c.memory, c.most
		got := ""
		if d, over := cfg.Overcommitted(ledger.Settings{Parallel: c.lanes}, c.machine); over {
			got = d.Text + "; " + d.Remedy
		}
		if got != c.text {
			t.Errorf("%+v, %d lanes, %d bytes: %q\nwant %q", c.memory, c.lanes, c.machine, got, c.text)
		}
	}
}
