package digest

import (
	"time"

	"github.com/nightporter/nightporter/config"
)

// Day returns the local day of the latest due digest, and its due time.
func Day(at config.Clock, now time.Time) (string, time.Time) { return digestDay(at, now) }

// Week returns the ISO week of the latest due digest, and its due time.
func Week(at config.WeekTime, now time.Time) (string, time.Time) { return digestWeek(at, now) }

// RecoverPanic converts a panic to an error.
func RecoverPanic(made func() (int, error)) (int, error) { return guarded(made) }
