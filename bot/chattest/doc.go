// Package chattest is what every platform's adapter has to hold to, as tests
// that each of them runs against its far end: what a bot.Sender answers, what a
// bot.Receiver is handed, and that nothing is lost or handed over as two things
// (SPEC 6.7).
package chattest
