// Package toolchain knows the programs that install versions of other programs,
// such as rustup: where each keeps them (manager.go), which files of a repository
// name a version (file.go), and which of these versions is not installed
// (missing.go).
//
// Sessions cannot write the managers' folders. A manager that would install a
// version by itself fails there with "read-only file system", which names neither
// the version nor the remedy. Missing does, before a run.
//
// The package only reads, starts no program, and passes on nothing of a file but
// words in the form of a version.
package toolchain
