// Package bot is the conversation, without a platform: it reads what people
// type and turns it into inputs of the core, and it renders what the core
// knows as messages that a chat or a terminal can show.
//
// Looking is pure: Status, Tasks, Task, PlanOf, Hats, Queue, Log, Evidence and Help are
// functions of a loop.State or of ledger records. What changes something goes
// through a Service, which the daemon implements; a DaemonService also knows
// people and starts runs. Package inbound takes what comes in from chats, and
// package notify composes what people are told unasked. Wording, signs and
// forms follow one sheet: the first line is the message and at most FirstWidth columns
// wide, and the last line says what happens if nobody does anything.
//
// Everything that people, agents or programs said passes Clean before it
// reaches a message, so no message can break a frame or drive a terminal.
package bot
