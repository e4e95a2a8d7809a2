// Package secret finds what looks like a secret in text, by the rules of
// gitleaks (docs/decisions/0016).
//
// gitleaks.toml is the rule file of gitleaks v8.30.1, unchanged; its licence is
// in LICENSE.gitleaks. rules.go reads it, allow.go reads what a repository
// allows, scan.go applies the rules, redact.go takes secrets out of what people read. The rules are read at the first scan: the
// program starts without them.
//
// Nothing of this package logs or returns a value that it found, other than as
// a position in the caller's own text.
package secret
