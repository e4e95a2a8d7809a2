// Package chattest is the conformance test of chat adapters. Each adapter runs it
// against a fake of its platform.
//
//   - chattest.go: Fixture, which an adapter's test provides, and Run
//   - send.go: the contract of bot.Sender
//   - receive.go: the contract with bot.Receiver
//   - recorder.go: Recorder, a bot.Receiver
//   - output.go: Output, what an adapter says of itself
//   - screen.go: a message as a phone shows it, for the tests of its senders
//
// The tests hold that a send's error says truly whether the message arrived, that
// every input arrives at least once and under one key, and that no error contains
// the token. The package knows no platform.
package chattest
