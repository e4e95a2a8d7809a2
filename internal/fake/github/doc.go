// Package github is a fake GitHub for tests: one repository with pull requests,
// over real HTTP on 127.0.0.1.
//
// It has what a Gitea has not: check runs and the logs of jobs, ETags and 304
// answers, rate limits, merge queues, rules for branches, requests for reviews by
// teams, and repositories that were renamed.
//
//   - server.go: Server, its clock, faults and recorded calls
//   - repository.go: the repository, branches, rules and permissions
//   - pull.go: pull requests and merges
//   - talk.go: comments, reviews, labels and reviewers
//   - check.go: check runs, statuses and logs
//   - person.go: what people and checks do
//
// Answers have the fields and the words of GitHub's documentation and of its
// errors, as far as clients read them. Nothing in the product imports the package.
package github
