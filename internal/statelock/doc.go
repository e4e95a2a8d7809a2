// Package statelock keeps a state folder to one process at a time.
//
// The lock (lock.go) is an open-file-description lock on the file "lock" in the
// folder. The kernel releases it when its holder ends, also by SIGKILL. A
// classic POSIX record lock is no alternative: the process would lose it as
// soon as any library opened and closed the file. The file contains the
// holder's process id, for messages only. owner.go names whose folder it is.
//
// The package is separate from package store, so that a session's shim can
// check for a daemon without linking the database. The tests hold that a check
// never takes or drops the lock, and that a killed holder releases it.
package statelock
