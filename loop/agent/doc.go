// Package agent runs one session at a time of a coding agent, or of a command
// that has to run in the same boundary (SPEC 2.3, 10, 12.1, 13).
//
// Four processes take part, and each can lose the one above it:
//
//	daemon       Runner: makes the session's folder, starts the shim, waits
//	supervisor   ShimMain: outlives the daemon; output, limits, exit.json
//	tree keeper  ShimInner "tree": PID 1 of the session where there are
//	             namespaces, else a subreaper; mounts, and ends the whole tree
//	the agent    ShimInner "confine" until it gives up its rights and becomes
//	             the agent: Landlock, user id, no new privileges, exec
//
// The boundary has three levels. At level 3 the session has namespaces of its
// own (PID, mount, IPC; a user namespace where the daemon is not root), sees
// everything outside read-only, finds the state folder, credentials and run
// folders empty, and is under Landlock besides. At level 2 there is Landlock
// and a subreaper. At level 1 there is a subreaper only, and writes outside
// are found by comparison. Which level a machine can do is tried, not guessed:
// Runner.Level runs a real session at each until one works.
//
// A session's folder STATE/sessions/ID is a contract between releases: each
// adopts the sessions of the one before. Its files are in folder.go.
package agent
