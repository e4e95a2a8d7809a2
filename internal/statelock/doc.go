// Package statelock keeps a state folder to one process (SPEC 13).
//
// The lock is an open-file-description lock on the file "lock" in the folder:
// the kernel gives it back however its holder ends, kill -9 included, and it
// does not fall when some library opens and closes the same file, as a
// classic POSIX record lock would. The file's content, the holder's process
// id, is only for people; the lock itself is what counts.
//
// It is a package of its own so that a session's shim can ask whether a
// daemon lives without linking the database.
package statelock
