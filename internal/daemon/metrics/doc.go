// Package metrics counts what a daemon does, for Prometheus (metrics.go).
// Counters belong to this process and start at zero; gauges are computed from
// the state on request, so they are never stale.
//
// Labels are never free text: their values come from the configuration and from
// the ledger's constants, so their number is bounded. The test of the daemon's
// metrics holds both.
package metrics
