package transport

import "log/slog"

// Secret is a string that prints, logs and marshals as Redacted. Convert it to a
// string to use it.
type Secret string

// Redacted replaces a secret in any output.
const Redacted = "(secret)"

// String hides the secret from fmt.
func (Secret) String() string { return Redacted }

// GoString hides the secret from %#v.
func (Secret) GoString() string { return Redacted }

// MarshalText hides the secret from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// LogValue hides the secret from log/slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(Redacted) }
