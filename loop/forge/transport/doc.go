// Package transport is the HTTP client of the adapters of forges: what they have
// in common.
//
//   - client.go: Client, which sends the token to one server and to no other
//   - failure.go: answers and lost answers as *ledger.ForgeError
//
// Tests hold that a token reaches no other host, whatever an answer says, and that
// no error contains it.
package transport
