// Package chat is the daemon's conversation with people on all platforms.
//
// Hub (hub.go) composes what is told with each decision and knows the chats.
// Connections (connections.go) run the platforms of the table in package
// platform: what people do goes to bot/inbound, what is committed for them is
// delivered by bot/delivery. threads.go knows the chats that are a project's
// own, threads_change.go what becomes of one that goes, closes or moves;
// members.go who reads there, menus.go what commands a chat offers, live.go the
// text of live messages, undo.go how long an answer can be taken back; tidy.go
// forgets what is old, and lock.go keeps a second program from one bot.
//
// Nothing here names a platform.
package chat
