// Package telegram is the adapter for Telegram. It polls the Bot API for updates
// and passes them to a bot.Receiver, and it is a bot.Sender.
//
// The library go-telegram-bot-api v5 only builds requests and decodes responses.
// Its poll loop confirms updates before they are handled, cannot be stopped, and
// ignores the pauses that Telegram asks for; its client has no timeouts; its
// errors contain the token. So this package has its own loop, client and errors.
//
// A poll confirms the updates below its offset. That offset is the stored
// cursor, which the Receiver commits together with an update's effects. After a
// crash Telegram sends the same update again, so none is lost.
//
// New and a daemon's start need no network: while Telegram is unreachable, State
// says since when and why.
//
//   - bot.go: Bot, its Options and addresses
//   - poll.go, update.go: receiving
//   - file.go: loading files of messages
//   - send.go, photo.go, button.go: sending
//   - render.go, text.go: messages as HTML, and what may be tapped in them
//   - menu.go, member.go: command menus, group members
//   - probe.go, trouble.go: findings of the doctor, classified poll errors
//   - call.go, errors.go: one call, and what its errors mean for a message
//
// The package never decides what a message means or who may act. Its tests hold
// that updates arrive in order, but for those that overtake a file, and at least
// once, that no text of others becomes a link, mention or command, that a message is
// sent at most once per Send, and that no output contains the token.
package telegram
