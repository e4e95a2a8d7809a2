// Package copilot is the cloud.Agent that works through GitHub: its coding agent
// takes issues that are assigned to it, and opens pull requests.
//
//   - agent.go: Agent, and the table of agents that GitHub has
//   - dispatch.go: the issue of a job, and comments that send a request back
//   - poll.go: the request of an issue, and the sessions of the agent
//   - fetch.go: the request with its checks, and its merge
//
// How GitHub's agent behaves: docs/spec 36. The package reads no comment, title
// or description for anything but marks of its own and the issues that a request
// closes.
//
// The tests hold: one issue for a key, whatever was lost; a request counts only if
// the agent's account opened it in the repository itself; and no error contains
// the token.
package copilot
