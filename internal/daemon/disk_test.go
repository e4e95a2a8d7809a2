package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestPressure gives free space over time, in GiB of a disk of 100, and wants the
// samples at which the warning comes and goes.
func TestPressure(t *testing.T) {
	for name, c := range map[string]struct {
		free []float64
		want []int
	}{
		"plenty":              {[]float64{50, 49, 50, 48}, nil},
		"below two":           {[]float64{3, 2.5, 1.9, 1.8, 2.1, 3}, []int{2, 5}},
		"the last day took":   {[]float64{30, 26, 22, 18, 14}, []int{4}},
		"once per change":     {[]float64{1.9, 1.9, 2.05, 1.9, 2.1, 1.9}, []int{0}},
		"freed again":         {[]float64{14, 1, 14, 15}, []int{1, 3}},
		"from the beginning":  {[]float64{0}, []int{0}},
		"a tenth is no night": {[]float64{10, 9, 8, 7}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var p pressure
			var got []int
			for n, f := range c.free {
				if p.add(uint64(f*(1<<30)), 100<<30) {
					got = append(got, n)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("changes at %v, want %v", got, c.want)
			}
		})
	}
}

// TestPressureOverRestart checks that a restart forgets neither what the last day
// took nor that people were told, and that a day later it does.
func TestPressureOverRestart(t *testing.T) {
	const size = 100 << 30
	gib := func(f float64) uint64 { return uint64(f * (1 << 30)) }
	now := time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC)
	state := t.TempDir()
	var p pressure
	for _, f := range []float64{30, 26, 22} {
		p.add(gib(f), size)
	}
	p.save(state, now)

	next := readPressure(state, now.Add(time.Hour))
	if !next.add(gib(14), size) || !next.low {
		t.Errorf("the day before took 16 GiB, and 14 are enough after a restart: %+v", next)
	}
	next.save(state, now.Add(time.Hour))
	again := readPressure(state, now.Add(2*time.Hour))
	if again.add(gib(14), size) || !again.low {
		t.Error("people are told a second time after a restart")
	}
	late := readPressure(state, now.Add(26*time.Hour))
	if late.add(gib(14), size) || late.low {
		t.Errorf("samples of two days ago count: %+v", late)
	}
	for _, text := range []string{"", "{", `{"at":"2027-01-01T00:00:00Z","free":[1]}`} {
		if err := os.WriteFile(filepath.Join(state, diskFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p := readPressure(state, now); len(p.free) != 0 || p.low {
			t.Errorf("%q is read as %+v", text, p)
		}
	}
}
