// Package diskuse knows what lies in a state folder: how much space each kind of
// content takes (usage.go), and which caches can be dropped (cache.go). It reads
// names, sizes and times, never content, and looks without a lock: while a daemon
// works, and where the ledger is gone.
//
// Trim is the only function that removes anything. It drops what is made again
// when it is missing, that which was used longest ago first, and never what a
// busy project may use, nor what was marked as used meanwhile: sessions mark caches
// and layers before they are mounted, and both sides hold the lock of the project's
// folder. It renames before it removes, so that a crash leaves no partial cache
// under a name that is used.
package diskuse
