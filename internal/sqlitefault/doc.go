// Package sqlitefault is a SQLite file system in memory with faults, for tests
// and the simulator: disks that lose power, tear pages, lie about fsync, are full
// or report errors. It must not be imported by product code.
//
// Files: disk.go has the Disk and its faults, file.go its files, vfs.go the
// registration with SQLite.
//
// A Disk has two contents: what the operating system shows, and what a power cut
// leaves. A write changes the first; Sync moves it to the second. Cut decides for
// every sector that was written and not synced whether it reached the disk, so
// that pages tear. Each decision comes from the disk's seed and the order of
// calls: the same calls on the same seed give the same disk.
//
// A sync that fails loses what it was to make durable, as on Linux: a later one
// that succeeds does not bring it back.
//
// What it leaves out: shared memory, so that WAL needs locking_mode=EXCLUSIVE and
// one connection (store.OpenOn), and readers never run beside a commit; the
// creation of a directory entry, which is durable with the file's first Sync; and
// SQLite's own random numbers (salts of the WAL), which change no decision.
//
//	disk := sqlitefault.New(seed)
//	s, err := store.OpenOn(disk)
//	…
//	disk.Cut()            // the power goes: every call fails from here
//	_ = s.Close()         // its errors mean nothing
//	disk.Restart()
//	s, err = store.OpenOn(disk)
package sqlitefault
