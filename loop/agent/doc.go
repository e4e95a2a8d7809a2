// Package agent runs sessions: a coding agent, or a command of the project that
// has to run in the same boundary.
//
// Four processes take part, and each survives the end of the one above it:
//
//	daemon      Runner: makes the session's folder, starts the shim, waits
//	supervisor  shimMain: outlives the daemon; output, limits, exit.json
//	reaper      shimInner "tree": PID 1 of the session where there are
//	            namespaces, else a subreaper; mounts, and ends the whole tree
//	the agent   shimInner "confine" until it gives up its rights and becomes
//	            the agent: Landlock, user id, no new privileges, exec
//
// The boundary has three levels. At level 3 the session has namespaces of its
// own (PID, mount, IPC; a user namespace unless the daemon is root), terminals
// of its own, sees
// everything outside read-only, sees empty folders in place of the state
// folder, credentials and run folders, and is under Landlock besides. At level
// 2 there is Landlock and a subreaper. At level 1 there is a subreaper only,
// and writes outside are found by comparison. The machine's level is found by
// trial: Runner.Level runs a real session at each level until one works.
//
// The files:
//
//	runner.go definition.go session.go  the interface for the daemon
//	version.go probe.go                 what an agent's program says of itself, and whether it works
//	start.go env.go wrappers.go profile.go  a session's folders, environment and PATH
//	login.go agent_home.go              agents' logins, lent to sessions and taken back; other files in HOME
//	shim.go limits.go output.go         the supervisor, its limits and the kept output
//	output_watch.go                     sessions that get nowhere, or have spent what they may
//	bounds.go                           memory, processes and files that a session may use
//	reaper_process.go                   the reaper as its supervisor sees it
//	reaper.go mount_linux.go tree.go    the reaper, its mounts, the processes below it
//	cache.go                            the caches of a session, apart by trust
//	surroundings.go mask.go             what commands get for setup or verification, and its removal from output
//	confine.go landlock.go user.go      the last step before the agent
//	devices_linux.go seccomp_linux.go   a /dev of the session's own, and the calls that the kernel refuses it
//	closed.go network.go network_linux.go  a closed network: the plan, the supervisor's side, its listeners
//	supervised_linux.go                 the same without namespaces: the kernel asks about each connection
//	host_request.go                     hosts that a session asks for, between supervisor and daemon
//	namespaces_linux.go privileges_linux.go pidfd_linux.go kernel_linux.go  the rest of what only Linux has
//	kernel_other.go                     what stands in for it elsewhere: level 1, compiled and never run
//	level.go hide.go reach.go exposed.go  the protection that each level gives, and what it leaves
//	wait.go output_tail.go tidy.go      a session's end, its latest output, its removal
//	failures.go missing.go denied.go    what failed in a command; a shell that did not find hat; refused calls
//	disk.go leftover.go                 a full disk, and secrets in what setup left
//	folder.go install.go                the files of a session, the programs that run it
//
// Package adapter describes each agent. A session's folder STATE/sessions/ID is
// a contract between releases: each adopts the sessions of the one before; its
// files are in folder.go.
//
// The package makes no decisions: it does not retry, does not choose an agent,
// and does not judge a session's work. It never runs git, and never runs a
// session's files outside of the boundary.
//
// The tests hold that a session is started once however often Start is called;
// that its whole process tree is gone when Wait returns, even if its supervisor
// or reaper was killed; that hidden files cannot be read and files outside not
// be written; that a closed network leads to named hosts alone; that no session's
// write into a cache reaches a trusted one; that
// an agent's keys reach no command of the project; and that what a project has for
// setup reaches setup of committed files alone.
package agent
