// Package project is what a daemon knows of projects besides the ledger.
//
// Catalog (catalog.go) is the configuration in force: which projects are worked
// on, the warnings about each (warnings.go), and the adapters of a project, with
// its hats on disk (hatfiles.go). Planner (planner.go) holds it against the
// ledger and resolves the settings of a run; unbuilt.go lists settings that
// nothing would hold to. problem.go says errors to people.
package project
