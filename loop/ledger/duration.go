package ledger

import (
	"fmt"
	"strings"
	"time"
)

// Duration is a time.Duration that TOML and ledger entries contain as text: "60m",
// "1h30m". Reading a negative one is an error.
type Duration time.Duration

// D returns d as the standard library's type.
func (d Duration) D() time.Duration { return time.Duration(d) }

// String returns the duration as people write it: "15m", not "15m0s".
func (d Duration) String() string {
	text := d.D().String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// MarshalText writes the duration in Go's notation.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads Go's notation, for example "90s" or "1h".
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration: write it like \"15m\" or \"1h30m\"", text)
	}
	if v < 0 {
		return fmt.Errorf("%q is negative: write a duration like \"15m\"", text)
	}
	*d = Duration(v)
	return nil
}
