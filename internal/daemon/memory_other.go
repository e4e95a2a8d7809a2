//go:build !linux

package daemon

// closeMemory does nothing: on macOS only programs with an entitlement for it read
// another process's memory.
func closeMemory() error { return nil }
