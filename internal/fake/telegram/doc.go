// Package telegram is the far end of a bot: a Telegram server of our own on
// 127.0.0.1 for tests, with the people who use it. It is strict where the real
// one is strict, so that what passes here has a chance there: long polling
// with offsets, redelivery until confirmed, 409 for a second poller, HTML
// errors, lengths after parsing, callback data of at most 64 bytes, edits that
// change nothing, replies and topics that are gone, multipart uploads. What it
// cannot know of the real one (delays, rates of the day) is scripted by faults.
//
// A test starts a server, gives its URL and Token to the bot, and then acts
// as a person and looks at the chat as that person sees it. Nothing polls and
// nothing sleeps: WaitFor returns when a chat is as the test wants it.
//
//	far, err := telegram.Start(telegram.Options{})
//	defer far.Close()
//	// … start the bot with far.URL() and far.Token() …
//	mira := telegram.User{ID: 48213377, Name: "Mira"}
//	far.Say(mira, mira.ID, "/status")
//	chat, err := far.WaitFor(ctx, mira.ID, func(c telegram.Chat) bool { return c.Last().Bot })
//	far.Press(mira, mira.ID, chat.Last().ID, "Pause")
//	fmt.Println(far.Transcript(mira.ID))
//
// Faults are scripted for each method and used up in order:
//
//	far.Fault("sendMessage", telegram.TooMany(7), telegram.CutAfter())
//
// Away and Back take the whole server off the network and bring it back with
// everything it knew.
package telegram
