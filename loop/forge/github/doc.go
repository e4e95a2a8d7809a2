// Package github is the adapter to GitHub and GitHub Enterprise.
//
//   - github.go: Forge, its calls and their errors
//   - info.go: the repository and the account
//   - request.go: find, create and edit a pull request; extras.go: labels,
//     reviewers and its draft state
//   - look.go: what a pull request shows; checks.go, comments.go and authors.go:
//     its parts; log.go: the end of a failed job's log
//   - tag.go: the tag of a look, and changed.go: which of many to look at
//   - reply.go, merge.go: comments and merges
//
// What GitHub keeps for 304 answers (ETags) is in the tags, so that a restart costs
// nothing. Changed keeps the list of a repository and the tips of its branches in
// memory; the first call after a restart reads them anew.
package github
