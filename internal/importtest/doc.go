// Package arrows holds no code, only tests: they keep the house in the shape
// that docs/architecture.md draws. One test reads every import of every
// package, another looks for what the pure core must not do, a third at what
// the agents' client is linked from.
package importtest
