// Package notify says who is told what of a decision (SPEC 6.4).
//
// Compose is a function of a decision: it turns entries into messages for the
// people who are let in, to be committed together with the entries. A push is
// a message of its own; everything that happens to a question or a guidance
// afterwards is an edit of the message that told of it, in every chat where
// that message stands. What is in no case of the table in Compose is told to
// nobody: a good night is silent.
package notify
