package daemon

import (
	"slices"
	"testing"
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
