// Package agents is the table of the real agent programs that end-to-end tests connect to
// the scripted model server (internal/fake/models): where each comes from, what leads it
// to that server, and what its shell tool is called.
//
//   - agents.go: Agent and the table
//   - package.json: what agents.sh installs beside the programs of make e2e
//
// The tests of loop/agent run single sessions of them, those of cmd/nightporter whole
// nights. The package is for tests alone.
package agents
