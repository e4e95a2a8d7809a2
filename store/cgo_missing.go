//go:build !cgo && linux

package store

// SQLite is written in C. Without a compiler go switches cgo off, and what it then
// prints names parts of SQLite alone: this line comes first and says what to do.
// Programs for other systems can be compiled all the same; see driver_missing.go.
var _ = nightporter_needs_a_C_compiler_for_SQLite__apt_install_gcc_libc6_dev
