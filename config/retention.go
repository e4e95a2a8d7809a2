package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Retention is the section [retention]: how long what is settled is kept. The
// ledger is kept for ever. A key that the file omits has its default, which the
// methods return.
type Retention struct {
	Sessions  Days `toml:"sessions"`   // folders of ended sessions and of runs that are not a project's last, and hidden refs of runs
	Messages  Days `toml:"messages"`   // messages that were sent or dropped
	Effects   Days `toml:"effects"`    // effects that are settled
	Inputs    Days `toml:"inputs"`     // keys of inputs, which keep repeats out
	CacheSize Size `toml:"cache_size"` // all caches and layers of setup together
	Backups   *int `toml:"backups"`    // copies of the ledger that were made before updates
}

// minInputs is the shortest time for which keys of inputs are kept: a platform
// may deliver an update again after a day, and Slack is read back after time off.
const minInputs = 7

// KeptSessions returns how long the folders of sessions and runs, and the hidden refs
// of runs, are kept.
func (r Retention) KeptSessions() time.Duration { return r.Sessions.or(14) }

// KeptMessages returns how long settled messages are kept.
func (r Retention) KeptMessages() time.Duration { return r.Messages.or(30) }

// KeptEffects returns how long settled effects are kept.
func (r Retention) KeptEffects() time.Duration { return r.Effects.or(30) }

// KeptInputs returns how long the keys of inputs are kept.
func (r Retention) KeptInputs() time.Duration { return r.Inputs.or(30) }

// KeptBackups returns how many copies from before updates are kept.
func (r Retention) KeptBackups() int {
	if r.Backups == nil {
		return 3
	}
	return *r.Backups
}

// Caches returns the bound in bytes for all caches on a disk of the given size:
// by default 20 GB or a tenth of the disk, whichever is less.
func (r Retention) Caches(disk uint64) int64 {
	if r.CacheSize > 0 {
		return int64(r.CacheSize)
	}
	return min(20e9, int64(disk/10))
}

// retention checks [retention].
func (c *checker) retention() {
	if n := c.cfg.Retention.Inputs; n > 0 && n < minInputs {
		c.value(fmt.Sprintf("%dd is too short: a message that a chat delivers again would be taken for a new one; at least %dd", n, minInputs), "retention", "inputs")
	}
}

// Days is a number of days, written as "30d" or "4w". 0 is unset.
type Days int

// UnmarshalText reads a number of days or weeks.
func (d *Days) UnmarshalText(text []byte) error {
	number, unit := string(text), 1
	switch {
	case strings.HasSuffix(number, "d"):
		number = strings.TrimSuffix(number, "d")
	case strings.HasSuffix(number, "w"):
		number, unit = strings.TrimSuffix(number, "w"), 7
	default:
		number = ""
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 36500/unit {
		return fmt.Errorf(`%q is no number of days from "1d" on: write it like "30d" or "4w"`, text)
	}
	*d = Days(n * unit)
	return nil
}

func (d Days) or(days Days) time.Duration {
	if d == 0 {
		d = days
	}
	return time.Duration(d) * 24 * time.Hour
}
