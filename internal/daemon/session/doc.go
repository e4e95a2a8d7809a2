// Package session is the daemon's side of sessions: the runner of the
// configuration in force (runners.go, agents.go), a socket for each session
// (sockets.go), and what is answered there (api.go). A session is named by the
// token of its socket, never by a request.
package session
