// Package daemon is nightporter while it runs: it holds a state folder and
// answers whoever asks, works on one run (Options.Run), or stays, works on every
// configured project and talks with people (Options.Stays).
//
// daemon.go puts the rooms together, stay.go has what only a daemon that stays
// does, reload.go takes a changed configuration over, engine.go is the engine as
// the rooms see it, ask.go finds a daemon or stands in for one, and state.go
// takes the state folder. The rooms are packages below:
//
//	project    the configuration in force: settings, adapters, warnings
//	session    sessions: runners, sockets, and what is answered to a hat
//	operator   what people ask for at the host
//	chat       the conversation on all platforms of the table in platform
//	digest     what a night came to, for whoever asks and when it is due
//	autostart  runs that begin by themselves
//	metrics, logging, systemd
//
// # Lifecycle
//
// Everything that runs is a service as package service has it: Start(ctx) error
// and Stop(). Start of a daemon returns when its socket answers, the chats are
// being connected and unfinished runs are about to be taken up; ctx bounds that
// alone. Stop may be called twice, at any time, and before Start. It ends, each
// before the next: whoever waits for news, the reports to the service manager
// and what works by the clock, runs that begin by themselves, the chats, the
// operator's socket, the engine, the journal, the sockets of sessions, the store,
// the log, and gives the state folder back. It waits for all of it and leaves no
// goroutine of its own behind; the log's library leaves an idle one. What can
// take long is bounded: requests of the operator by 5 s, a call to a platform by
// 5 s. Sessions are not waited for; they go on, and the next daemon takes them
// up.
//
// No room imports this package or another program's; no text in a room decides
// anything. A room that needs another is given it.
package daemon
