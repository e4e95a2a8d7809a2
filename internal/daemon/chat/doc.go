// Package chat is the daemon's conversation with people on all platforms.
//
// Files: hub.go has the Hub, which knows the chats, and observer.go the calls of
// the engine into it. connections.go connects the platforms of the table in
// package platform; connection.go is one of them: updates go to bot/inbound, and
// bot/delivery delivers committed messages. threads.go finds the chats of a
// project, thread_changes.go follows a thread that is deleted, closed or moved,
// and migration.go stores new addresses of groups. members.go knows the readers
// of a group, menus.go the command menus, live.go the text of live messages,
// undo.go the end of the time to undo. lock.go keeps a second process away from a
// bot.
//
// This package names no platform and decides nothing: it submits inputs to the
// engine and delivers only committed messages. A platform that fails must not
// delay the engine or another platform.
//
// Invariants held by tests: a message for a lost thread reaches its people
// another way, and they are told once (thread_changes_test.go); a removed
// person receives nothing more (live_test.go); menus follow roles
// (menus_test.go).
package chat
