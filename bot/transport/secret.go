package transport

import "log/slog"

// Secret is a text that never shows itself: printed, logged or as JSON it is
// Hidden (SPEC 6.6).
type Secret string

// Hidden stands for a secret.
const Hidden = "(secret)"

// String, GoString and MarshalText hide the secret from every way of printing.
func (Secret) String() string { return Hidden }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return Hidden }

// MarshalText hides the secret from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(Hidden), nil }

// LogValue hides the secret from log/slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(Hidden) }
