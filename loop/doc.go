// Package loop is the pure core of nightporter: what a night means.
//
// It holds the State of one project and of the house, the inputs that can
// reach it, the entries that record what was decided, and the effects that
// ask the outside to act:
//
//	Decide(State, Input) → Entries + Effects + Answer
//	Apply(State, Entry)  → State
//
// Nothing in here does I/O, reads a clock, starts a goroutine or draws a
// random number, so a night can be replayed, and a crash at any point can be
// simulated by folding the entries that were committed before it. Package
// engine is the shell around it; adapters (store, agent, task, workspace)
// import this package for its types only.
package loop
