// Package slack is a fake Slack for tests: a workspace with conversations, people
// and one app, over real HTTP and a real WebSocket on 127.0.0.1.
//
// It extends slack-go's slacktest by editing, deleting, threads and history,
// files, forms, ordered events that are repeated until they are acknowledged,
// sockets that break or are replaced, failing calls, and Slack's limits on blocks.
//
//   - server.go: Server, its clock, faults and recorded calls
//   - message.go: the API methods, with the checks of messages
//   - person.go: what people do, and the socket
//   - transcript.go: a conversation as people see it
//
// Nothing in the product imports it. The conformance tests of bot/chattest run the
// adapter against it, and end-to-end tests run the daemon.
package slack
