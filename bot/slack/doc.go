// Package slack is the adapter for Slack. It receives people's inputs over
// Socket Mode, without a public address, and passes them to a bot.Receiver, and
// it is a bot.Sender.
//
// slack-go provides the socket, the block types and the sending calls. Incoming
// payloads are decoded by types of this package with the few fields that matter,
// because slack-go's types reject a whole event or page of history for one field
// of an unknown type. Each response is checked before slack-go sees it, so that a
// proxy's page, a rate limit and a refusal are told apart in one place, and no
// error contains a token.
//
// Slack keeps no updates to fetch again. An event is acknowledged after it was
// committed, and Slack sends it again otherwise. After an outage, messages are
// read back from the stored timestamp in all conversations of the bot before any
// newer message is handled. Both ways produce the same key, so that nothing is
// handled twice. Commands and presses cannot be read back: they are acknowledged
// only after they were committed, and otherwise Slack reports a failure to the
// person.
//
// A direct conversation has the address "slack:U…", the person's id, as on other
// platforms; a channel has "slack:C…". Threads are no addresses: the id of the
// message that is replied to determines the thread.
//
//   - bot.go: Bot, its Options and addresses
//   - socket.go: Run and the handling of messages
//   - interaction.go, form.go, button.go: presses, commands and forms
//   - inbound.go: payloads converted to bot.Inbound
//   - remotefile.go: files of messages, and loading them
//   - history.go: reading back missed messages
//   - send.go, file.go, picture.go: sending
//   - render.go: messages as blocks
//   - probe.go, channel.go, trouble.go: findings of the doctor, classified errors
//   - call.go, auth.go, errors.go: one call, its tokens, what its errors mean
//
// The package never decides what a message means or who may act. Its tests hold
// that every message to the bot arrives, once per key and in order, however the
// socket breaks; that no press or command takes effect after Slack reported its
// failure; that a message is posted at most once per Send; and that no output
// contains a token.
package slack
