// Package forgetest is the conformance test of adapters of forges. Each runs it
// against a server, and the one within the process against itself.
//
//   - forgetest.go: Fixture, which an adapter's test provides, and Run
//   - request.go: one request for a branch, whatever was lost
//   - look.go: what a look shows, and when it shows nothing
//   - merge.go: replies and merges, once each
//   - garbage.go: answers that are none
//   - failure.go: errors, their remedies and times, and the token in none of them
package forgetest
