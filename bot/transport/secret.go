package transport

import "log/slog"

// Secret is a text that never shows itself: printed, logged or as JSON it is
// Hidden (SPEC 6.6).
type Secret string

// Redacted stands for a secret.
const Redacted = "(secret)"

// String, GoString and MarshalText hide the secret from every way of printing.
func (Secret) String() string { return Redacted }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return Redacted }

// MarshalText hides the secret from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// LogValue hides the secret from log/slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(Redacted) }
