// Package telegram brings the conversation to Telegram: it polls for what
// people do and hands it to a bot.Receiver, and it is a bot.Sender.
//
// The library below it, go-telegram-bot-api v5, is only a typed transport: it
// builds the requests and reads the answers. Its own poll loop confirms
// updates that nobody has handled yet, cannot be ended, and repeats without
// looking at what the platform asks for; its client has no time-outs; and its
// errors hold the token. So the loop, the client and the errors are ours.
//
// An update is confirmed to the platform by the offset of the next poll, and
// that offset is the stored cursor, which the Receiver commits together with
// what the update led to. A crash at any moment leads to the same update
// again, never to a lost one (SPEC 6.7).
//
// Nothing here needs the network to begin: a daemon starts while Telegram is
// away, and State says since when and why.
package telegram
