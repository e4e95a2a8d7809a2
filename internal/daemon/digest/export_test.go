package digest

import (
	"time"

	"github.com/nightporter/nightporter/config"
)

// Day is the local day whose digest was due last.
func Day(at config.Clock, now time.Time) (string, time.Time) { return digestDay(at, now) }

// Week is the week whose digest was due last.
func Week(at config.WeekTime, now time.Time) (string, time.Time) { return digestWeek(at, now) }

// Guarded makes an error of a panic.
func Guarded(made func() (int, error)) (int, error) { return guarded(made) }
