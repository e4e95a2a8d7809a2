// Package multicall makes the executable nightporter act as several programs
// (multicall.go): hat, the client of the agents; the wrapper of a denied program;
// the supervisor of a session; and the scripted agent of the demo. The name of
// the executable or an internal command selects one.
//
// The daemon starts all of them from its own executable. A test that runs a
// daemon in its process is that executable, so it must call Run first. Run must
// do nothing, and print nothing, for a process that is nightporter itself.
package multicall
