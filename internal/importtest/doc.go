// Package importtest holds no code, only tests of the repository as a whole.
//
//   - arrows_test.go: every package imports only what the table of
//     docs/architecture.md 12 allows it.
//   - pure_test.go: the pure core does no I/O, reads no clock, starts no
//     goroutine and draws no random number.
//   - race_test.go: what make test runs without the race detector starts no
//     goroutine.
//   - children_test.go: tests that start processes run below internal/leaktest.
//   - client_test.go: the agents' client is linked from little.
//   - darwin_test.go: everything compiles for macOS, and docs/operating.md says what is
//     missing there.
//   - docs_test.go: the documents name every package and setting, and their
//     links lead somewhere.
//   - citation_test.go: every citation of a section, a decision or a page of
//     docs leads somewhere.
package importtest
