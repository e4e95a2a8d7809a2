// Package session is the daemon's side of sessions. runners.go has the runner of
// the configuration in force, agents.go its options, and transcript.go what people
// read of a session's output; sockets.go opens a socket for each session, and api.go
// answers the requests on it, write.go those before a file is written.
//
// The token of its socket identifies a session. A request never names a session,
// and no answer depends on a name that a session sends. Sessions cannot read
// files with tokens of chats.
package session
