package bot

import (
	"strings"
	"testing"
	"time"
)

// TestDiskMessages: the warning says how much is free and needed, and where to look;
// what the caches take only where it is known.
func TestDiskMessages(t *testing.T) {
	at := time.Date(2026, 11, 22, 3, 4, 0, 0, time.UTC)
	const free, need = 1_500_000_000, 2_147_483_648
	for want, m := range map[string]Message{
		"!LOOK the disk fills up · 03:04|1.5 GB free, a night needs 2.1 GB.|Caches take 12.0 GB, those of the last day are kept.|On the host: nightporter du": DiskLow(free, need, 12e9, at),
		"!LOOK the disk fills up · 03:04|1.5 GB free, a night needs 2.1 GB.|The caches take almost nothing.|On the host: nightporter du":                      DiskLow(free, need, 1e6, at),
		"!LOOK the disk fills up · 03:04|1.5 GB free, a night needs 2.1 GB.|On the host: nightporter du":                                                      DiskLow(free, need, -1, at),
		SignAgain + " the disk has room again · 03:04|1.5 GB free.":                                                                                           DiskFree(free, at),
	} {
		want = strings.Replace(want, "!LOOK", SignLook, 1)
		var lines []string
		for _, l := range m.Lines {
			lines = append(lines, l.Text)
		}
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
