// Package agent runs sessions: a coding agent, or a command of the project that
// has to run in the same boundary.
//
// Four processes take part, and each can lose the one above it:
//
//	daemon      Runner: makes the session's folder, starts the shim, waits
//	supervisor  ShimMain: outlives the daemon; output, limits, exit.json
//	reaper      ShimInner "tree": PID 1 of the session where there are
//	            namespaces, else a subreaper; mounts, and ends the whole tree
//	the agent   ShimInner "confine" until it gives up its rights and becomes
//	            the agent: Landlock, user id, no new privileges, exec
//
// The boundary has three levels. At level 3 the session has namespaces of its
// own (PID, mount, IPC; a user namespace where the daemon is not root), sees
// everything outside read-only, finds the state folder, credentials and run
// folders empty, and is under Landlock besides. At level 2 there is Landlock
// and a subreaper. At level 1 there is a subreaper only, and writes outside
// are found by comparison. The level of a machine is tried, not guessed:
// Runner.Level runs a real session at each until one works.
//
// The files:
//
//	runner.go definition.go session.go  what a daemon configures and asks
//	start.go env.go wrappers.go         a session's folders, environment and PATH
//	login.go                            agents' logins, kept, lent and taken back
//	shim.go limits.go output.go         the supervisor, its limits, what it keeps of the output
//	reaper.go mount.go tree.go          the reaper, its mounts, the processes below it
//	confine.go landlock.go user.go      the last step before the agent
//	level.go hide.go reach.go           what a level keeps from sessions
//	wait.go output_tail.go tidy.go      how sessions end, what they print, what they leave
//	folder.go install.go                the files of a session, the programs that run it
//
// What is known of each agent is in package adapter. A session's folder
// STATE/sessions/ID is a contract between releases: each adopts the sessions of
// the one before; its files are in folder.go.
//
// The package never decides: it does not retry, does not choose an agent, and
// does not judge a session's work. It never runs git, and never starts anything
// that a session wrote outside of the boundary.
//
// The tests hold that a session is started once however often Start is called;
// that its whole process tree is gone when Wait returns, whoever was killed
// before; that nothing that the level hides can be read, and nothing outside
// written; and that an agent's keys reach no command of the project.
package agent
