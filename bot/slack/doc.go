// Package slack brings the conversation to Slack: it hands what people do to a
// bot.Receiver, over Socket Mode and without a public address, and it is a
// bot.Sender.
//
// slack-go carries the socket, the blocks and the calls that send. What comes
// in is read by types of this package, a few fields of each payload: the
// library's own reject an event, or a whole page of history, because of one
// field that they do not know. Each answer of the platform is looked at before
// the library sees it, so that a proxy's page, a wish to wait and a refusal are
// told apart in one place, and no error holds a token.
//
// Slack has no updates to be fetched again. An event is acknowledged after it
// was committed, and comes again where it was not; what was said while nobody
// listened is read back from the stored time stamp, in every conversation that
// the bot is in, before anything newer is handled. Both ways lead to the same
// key, so nothing happens twice (SPEC 6.7). A command of "/porter" and a press
// cannot be read back: they are only acknowledged once they are committed, and
// where they are not, Slack tells their sender.
//
// A person's own conversation has the address "slack:U…", so that it is the
// person's id, as on the other platforms; a channel's is "slack:C…". Threads
// are no addresses: what a message answers says where it stands.
package slack
