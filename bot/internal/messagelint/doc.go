// Package messagelint checks messages to people, for the tests of the packages
// that compose them: their form on both platforms, their vocabulary, and whether
// a message with a sound says what happens next.
//
//   - check.go: Check, Pushed and Frame
//   - jargon.go: Jargon, the words that only readers of the source understand
//   - keys.go: Keys, the table of all message keys and their last lines
//   - entries.go: Entries, the table of ledger entries and the packages that show them
//
// Product code never imports it. Its own tests hold that each rule rejects a
// message that breaks it, that both tables agree with the source code, and that
// no text from outside, however hostile, breaks a message's frame.
package messagelint
