// Package transport is the HTTP connection that every chat adapter has to its
// platform: single calls with a time limit, the state of the connection, the
// pauses after failures, and tokens that no output shows.
//
//   - conn.go: Conn and its Options
//   - exchange.go: one call, its Response or NoResponseError
//   - state.go: State and Trouble
//   - backoff.go: Backoff and Sleep
//   - lane.go: Lane, for what may take long
//   - secret.go: Secret
//
// The package never interprets a response: adapters do. It never follows a
// redirect, and no error, log line or state contains a token. Its tests hold
// that State.Since changes only between connected and not connected, and that a
// NoResponseError says truly whether the call may have had an effect.
package transport
