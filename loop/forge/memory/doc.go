// Package memory is a forge within the process, for tests of what uses one: the
// same rules as those of the real ones (loop/forge/forgetest), and people and
// failures by calls.
//
//   - forge.go: Forge, the adapter
//   - people.go: what people, checks and the network do
package memory
