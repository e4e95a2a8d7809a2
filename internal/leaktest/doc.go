// Package leaktest ends the processes that tests leave behind, and fails the
// test program for them. A package whose tests start processes calls Main from
// its TestMain:
//
//	func TestMain(m *testing.M) { leaktest.Main(m.Run) }
//
// Main runs the tests in a child of the test program. The parent is the
// subreaper of all their processes, also of those that leave their session and
// process group as a daemon's sessions do. So it finds what is left however the
// tests end: a panic, a timeout of go test, a kill. A cleanup inside the tests
// would not run then.
//
// The package is for tests alone (internal/importtest).
package leaktest
