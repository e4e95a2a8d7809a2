package bot

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Unsaved announces that nothing can be committed, and so nothing begins, since a
// time. It is sent without the outbox, which lies on the same disk.
func Unsaved(text string, why ledger.Fault, since, now time.Time) Message {
	m := newMessage("outage", SignLook+" nothing can be saved · "+now.Format("15:04"))
	m.add("Since " + Clock(since, now) + ":")
	m.quote(text)
	if why == ledger.FaultLedger {
		m.add("What runs goes on; nothing new begins. On the host, stop nightporter; nightporter verify says what to restore.")
		m.add("Sent directly: commands get no answer until then.")
		return m
	}
	m.add("What runs goes on; nothing new begins. Make room on the host.")
	m.add("Goes on by itself. Sent directly: commands get no answer until then.")
	return m
}

// SavedAgain announces the end of what Unsaved announced.
func SavedAgain(since, now time.Time) Message {
	m := newMessage("outage.over", SignAgain+" saved again · "+now.Format("15:04"))
	m.add("Nothing could be saved for " + Took(now.Sub(since)) + ". All goes on.")
	return m
}

// DiskLow warns that the disk of the state folder fills up. made is what the caches
// take, which are made again when they are missing; below 0 = unknown.
func DiskLow(free, need, made int64, now time.Time) Message {
	m := newMessage("disk", SignLook+" the disk fills up · "+now.Format("15:04"))
	m.add(gigabytes(free) + " free, a night needs " + gigabytes(need) + ".")
	switch {
	case made < 0:
	case made < 1e8:
		m.add("The caches take almost nothing.")
	default:
		m.add("Caches take " + gigabytes(made) + ", those of the last day are kept.")
	}
	m.add("On the host: nightporter du")
	return m
}

// DiskFree announces the end of what DiskLow announced.
func DiskFree(free int64, now time.Time) Message {
	m := newMessage("disk.over", SignAgain+" the disk has room again · "+now.Format("15:04"))
	m.add(gigabytes(free) + " free.")
	return m
}

func gigabytes(n int64) string { return fmt.Sprintf("%.1f GB", float64(n)/1e9) }
