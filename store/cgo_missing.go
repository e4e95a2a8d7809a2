//go:build !cgo

package store

// SQLite is written in C. Without a compiler go switches cgo off, and what it then
// prints names parts of SQLite alone: this line comes first and says what to do.
var _ = nightporter_needs_a_C_compiler_for_SQLite__apt_install_gcc_libc6_dev
