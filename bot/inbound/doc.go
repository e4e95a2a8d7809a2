// Package inbound handles the messages, presses and forms that people send in
// chats.
//
// It handles each input once, however often the platform delivers it (docs/spec 6.7).
// The effect, the reply and the chat's cursor are committed together: a command
// that is one input of the core carries reply and cursor in that input's
// transaction; everything else is committed with them under the same key at the
// end. An error from Receive means that nothing was committed and that the
// platform must deliver the same input again.
//
// # Files
//
//   - receiver.go: Receiver, its Options, and the interfaces that it needs
//   - receive.go: one input: strangers, pairing codes, media, text
//   - media.go: pictures: loaded, kept, and what is said of those that are not
//   - request.go: one input's state, and how its reply is committed
//   - line.go: the command that a message stands for
//   - run.go: carrying out a command
//   - service.go: the bot.Service that a command is carried out with
//   - reply.go: the reply to a command
//   - press.go: buttons and forms
//   - edited.go: edits of queued guidance
//   - messages.go: texts that only a chat needs
//
// # Rules
//
// People who are not paired get no reply (docs/spec 6.6). Replies go to the chat that
// the input came from; news for everybody is package notify's part. The package
// knows no platform.
//
// The tests hold that, with crashes at every point, no input takes effect twice
// and no effect lacks its reply; that of two conflicting answers one wins and
// the other person is told; and that a person's role limits commands, presses
// and edits alike.
package inbound
