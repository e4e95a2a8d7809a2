// Package fault tells errors of the machine from mistakes: which errors are a
// ledger.Fault, so that what failed is tried again and nobody is blamed.
//
// It judges by error numbers and types, never by words. A component that learns of
// an error from a program's words turns them into an error number first (git's:
// loop/workspace/fault.go).
package fault
