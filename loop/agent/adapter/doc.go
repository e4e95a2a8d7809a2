// Package adapter holds what nightporter knows of each coding agent, one row
// an agent: its program, how it gets its prompt, how its output is read, its
// login, the words in which it says that it cannot go on.
//
//	agent.go          Agent, the row, and the table of all of them
//	command.go        the row of any command of the user's
//	claude*.go        the row of Claude Code: command line, stream, output, login
//	scripted.go       the row of the scripted agent
//	reserved.go       agents whose names are taken and that are not built
//	wording.go        the phrases of limits, refused logins and servers out of reach
//	reset.go          when a limit ends, read from such a phrase
//	login.go          Login, what a login consists of
//	text.go           lines of output, and text made harmless
//
// To add an agent, write its row in a file of its own and name the row in the
// table. Whoever lists agents (the configuration, init, login, doctor, the
// boundary) reads the table.
//
// The package starts no process, writes no file and keeps no state: package
// agent runs sessions, and asks this one what to run and what came of it. A
// session is judged by its event and its output, never by its exit code alone.
//
// The tests hold that every cell of every built row is filled, that reserved
// rows hold nothing but their name and program, and that no output whatever
// makes a reader fail.
package adapter
