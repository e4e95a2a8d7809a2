// Package engine is the shell around the pure core of package loop: it takes
// inputs, lets the core decide, commits what was decided in one transaction,
// and carries out the effects.
//
// One goroutine owns every State. All inputs of all projects pass through it,
// because they all end in the same single-writer transaction anyway, and
// because a session's lease is the house's and its plan the project's: both
// are decided and committed together. What takes time is an effect, and every
// effect has a goroutine of its own whose result is the next input.
//
// After a crash, what was committed is folded again, and every effect without
// a result is carried out again: a repeatable one just so, a findable one
// looks first. That is all there is to recovery.
package engine
