// Package forge is the seam to the servers that a project's branches are pushed
// to: requests for a merge, their checks, comments and reviews.
//
//   - forge.go: Forge, which every adapter implements, and Watcher
//   - issue.go: Tracker, the issues of a repository
//   - plain.go: Plain, a remote without requests
//
// The adapters lie below it: github (GitHub and GitHub Enterprise) and gitea
// (Gitea and Forgejo). Package memory is a forge within the process, for tests.
// Package forgetest is the conformance test of all of them.
//
// An adapter decides nothing: it never retries, never waits, and holds no state
// that a restart would miss. Everything that it writes can be asked for again,
// because a crash may have hidden the answer: there is one request for a branch,
// one comment for a key and one merge (docs/spec 9.4). No error, log line or
// address contains the token.
package forge
