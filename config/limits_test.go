package config

import (
	"strings"
	"testing"
)

func TestMemory(t *testing.T) {
	for in, want := range map[string]int64{
		"75%": 750 << 20, "100 %": 1000 << 20, "512MB": 512e6, "8GB": 8e9, "1.5 GiB": 3 << 29, "2g": 2e9, "64MB": 64e6, "0": 0,
	} {
		var s Memory
		if err := s.UnmarshalText([]byte(in)); err != nil || s.of(1000<<20) != want || !s.Set {
			t.Errorf("%q = %d, %v; want %d", in, s.of(1000<<20), err, want)
		}
	}
	for _, in := range []string{"", "lots", "0%", "101%", "-5%", "8", "GB", "-1GB", "NaNGB", "InfGB", "1e9TB", "1MB", "%", "B"} {
		var s Memory
		if err := s.UnmarshalText([]byte(in)); err == nil || !strings.Contains(err.Error(), "no limit") {
			t.Errorf("%q = %+v, %v", in, s, err)
		}
	}
}

func TestLimitsDefaults(t *testing.T) {
	var l Limits
	if l.MaxMemory(1000) != 750 || l.MaxProcesses() != 4096 || l.MaxFiles() != 65536 {
		t.Errorf("%d %d %d", l.MaxMemory(1000), l.MaxProcesses(), l.MaxFiles())
	}
	none := 0
	l = Limits{Memory: Memory{Set: true}, Processes: &none, Files: &none}
	if l.MaxMemory(1000) != 0 || l.MaxProcesses() != 0 || l.MaxFiles() != 0 {
		t.Errorf("no limits: %d %d %d", l.MaxMemory(1000), l.MaxProcesses(), l.MaxFiles())
	}
}
