// Package telegram is a fake Telegram for tests: a Bot API server on 127.0.0.1
// and the people who use it. It is as strict as the real one: long polling with
// offsets, redelivery until confirmation, 409 for a second poller, errors in
// HTML, text lengths after parsing, callback data of at most 64 bytes, edits
// without a change, deleted messages and topics, multipart uploads, files of at
// most 20 MB under addresses that last an hour. Delays and
// failures of the real server are scripted as faults.
//
// A test starts a server, gives its URL and Token to the bot, acts as a person,
// and reads the chat as that person sees it. Nothing sleeps: WaitFor returns
// as soon as a chat meets a condition.
//
//	srv, err := telegram.Start(telegram.Options{})
//	defer srv.Close()
//	// … start the bot with srv.URL() and srv.Token() …
//	mira := telegram.User{ID: 48213377, Name: "Mira"}
//	srv.Say(mira, mira.ID, "/status")
//	chat, err := srv.WaitFor(ctx, mira.ID, func(c telegram.Chat) bool { return c.Last().Bot })
//	srv.Press(mira, mira.ID, chat.Last().ID, "Pause")
//	fmt.Println(srv.Transcript(mira.ID))
//
// Faults are scripted for each method and used in order:
//
//	srv.Fault("sendMessage", telegram.TooMany(7), telegram.CutAfter())
//
// Disconnect takes the server off the network, and Reconnect brings it back with
// its state.
//
//   - server.go, http.go: Server, its lifecycle, calls and their encodings
//   - updates.go: getUpdates and its queue
//   - file.go: files of people's messages, for the bot to load
//   - message.go, html.go, group.go, menu.go, rates.go: the other methods
//   - person.go: what people do, and waiting for the bot
//   - fault.go: failures of calls
//   - taps.go, transcript.go: a chat as people see it
//
// Nothing in the product imports it. Its tests hold the strictness listed above.
package telegram
