// Package project holds what a daemon knows of projects besides the ledger.
//
// Files: catalog.go has the configuration in force, with the warnings about each
// project (warnings.go); ports.go opens a project's adapters, and hatfiles.go
// reads its hats on disk. planner.go compares the configuration with the ledger
// and resolves the settings of a run; obstacle.go finds projects that cannot be
// worked on now; unbuilt.go lists settings without effect. reading.go reads the
// sources of all projects for looks between runs; self.go names this nightporter in claims. problem.go formats errors for people.
//
// Nothing here writes to the ledger or starts a run. A setting that limits cost
// or guards safety is never ignored silently: it takes effect or it refuses the
// run. The test of hat files holds that they are read from trusted folders only.
package project
