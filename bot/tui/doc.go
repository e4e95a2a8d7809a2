// Package tui is the live screen of `nightporter watch`: what one project is
// at, by keys alone.
//
//	scene.go                    Scene, the read model that the daemon makes of a project
//	model.go keys.go            the state of the screen, and what keys do to it
//	input.go page.go            the line that is typed, a text that is open
//	view.go sections.go         how the screen is laid out
//	timeline.go paint.go        bars of sessions, colours
//	run.go                      the program around it
//
// The screen knows a Scene and a Porter, and nothing of sockets or of the
// ledger. It decides nothing: a key sends a line that could have been typed in
// a chat. Leaving it never ends what is watched.
//
// The tests hold that no line is wider than the screen and no screen higher,
// whatever a task or an agent is called and prints; that nothing foreign reaches
// the terminal as a sequence; that a line is sent again with its own key, so
// that it is done once; and that words which were typed are never lost.
package tui
