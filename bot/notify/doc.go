// Package notify decides which people are told of a decision, and where (docs/spec
// 6.4).
//
// Compose is a function of a decision. It turns entries into messages for the
// paired people, which are committed together with the entries. News is a
// message of its own. Everything that later happens to a question or a guidance
// item is an edit of its message, in every chat that has it. An entry without a
// case in the table of Compose is told to nobody: a night without problems is
// silent.
//
// # Files
//
//   - notify.go: Notifier, its Options, and the table of entries
//   - composer.go: one decision, and the ways to push, keep and edit a message
//   - reader.go: the chats that get a project's news
//   - quiet.go: which messages make no sound
//   - question.go, undo.go: questions, reminders, answers, Undo
//   - guidance.go: receipts of guidance
//   - run.go: waits, ends and problems of a run
//   - digest.go, wave.go: sending the digest, and the summary of a wave
//
// # Rules
//
// The package sends nothing and keeps nothing between calls; package delivery
// sends. It never composes a reply to a command, which is package inbound's
// part.
//
// The tests hold that nobody gets the same news twice, that a person who was
// removed gets nothing, that a message is edited wherever it stands, and that
// only urgent news makes a sound in quiet hours.
package notify
