// Package gitea is the adapter to Gitea and Forgejo.
//
//   - gitea.go: Forge, its calls and their errors
//   - info.go: the repository and the account
//   - request.go: find, create and edit a pull request; extras.go: labels and
//     reviewers
//   - look.go: what a pull request shows; checks.go, comments.go and authors.go:
//     its parts
//   - tag.go: the tag of a look, and changed.go: which of many to look at
//   - reply.go, merge.go: comments and merges
//
// Gitea has no ETags. A tag has a hash of the view instead, and Changed compares
// the list of a repository with the tags. Jobs of Gitea's actions have no log here:
// its interface does not tell a status's job.
package gitea
