// Package programtest runs the two programs, nightporter and hat, for tests:
// the files that a user has, and not a part of them in the test's process.
//
// A package's TestMain calls Run, which builds the programs:
//
//	func TestMain(m *testing.M) { leaktest.Main(func() int { return programtest.Run(m) }) }
//
// The packages whose tests need the programs run beside each other and share
// one build in .cache/programs (build.go). A Machine has a home, a
// configuration and a state folder of its own, and agents that are shell
// scripts (machine.go, agents). TwoTasks is a run on one (twotasks.go), and Forge a
// GitHub that it pushes to (forge.go). Scripts runs scripts of testscript, with
// commands of its own (script.go, command.go, untouched.go, boundary.go).
//
// The package is for tests alone (internal/importtest).
package programtest
