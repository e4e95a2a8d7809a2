// Package exchange swaps two files, so that a program can replace one that others
// write without a lock and then see what it replaced: a rename would lose what was
// saved at the last moment.
//
// The system call is not in the standard library, which internal/fsutil keeps to.
package exchange
