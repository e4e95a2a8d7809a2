// Package intake takes bug reports that sites post to an address of this machine
// (docs/spec 3.11). A report is answered with its id once the ledger has it; from then on
// it is an addition like any other, which the engine writes into the project's inbox.
//
//	server.go  the address: who may post, how much, how often
//	probe.go   whether a server takes reports at an address
//	report.go  a posted report: what it says, and which id it gets
//
// Whatever is posted is by strangers. What a site says of a report's life (its id, that it
// is fixed, who works on it) is not taken from it.
package intake
