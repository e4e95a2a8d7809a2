// Package adapter describes each coding agent in one row of a table: its
// program, how it receives the prompt, how its output is read, its login, and
// the phrases with which it reports failures.
//
//	agent.go          Agent, the row, and the table
//	command.go        the row of the user's own commands
//	claude*.go        the row of Claude Code: command line, stream, output, login
//	codex*.go         the row of Codex
//	opencode*.go      the row of opencode, and how it is seen to go in a circle
//	event_stream.go   what the readers of other streams than Claude Code's share
//	gemini*.go        the row of Gemini CLI
//	qwen*.go          the row of Qwen Code
//	copilot*.go       the row of Copilot CLI
//	pi*.go            the row of pi
//	stop_hook.go      what makes a program ask before it ends a session or writes a file
//	spent.go          what the answers of a running session cost
//	scripted.go       the row of the scripted agent
//	wording.go        phrases about limits, refused logins and unreachable servers
//	action*.go         the last tool call in the events of known programs
//	event_block.go    an event that an agent wrote into its last message
//	error_event.go    errors in the events of programs that a command runs
//	reset.go          the end of a limit, read from such a phrase
//	login.go          Login, the parts of a login
//	text.go           lines of output, and escaping
//
// To add an agent, write its row in a file of its own and name the row in the
// table. Code that lists agents (the configuration, init, login, doctor, the
// boundary) reads the table.
//
// The package starts no process, writes no file and keeps no state: package
// agent runs sessions, and asks this package for the command line and for the
// verdict on the output. It judges a session by its event and its output, never
// by its exit code alone.
//
// The tests hold that every cell of every row is set, and that no output makes a
// reader fail.
package adapter
