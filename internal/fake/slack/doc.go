// Package slack is the far end of Slack for tests: a workspace with
// conversations, people and one app, over real HTTP and a real web socket on
// 127.0.0.1.
//
// It stands on slack-go's slacktest and brings what that one lacks: messages
// that can be changed, deleted, threaded and read back, files, forms, events in
// order that come again until they are acknowledged, sockets that break or are
// refreshed, answers that are refused, garbled or late, and the platform's
// limits on blocks.
package slack
