// Package tui is the live screen of `nightporter watch`. It shows one project
// and is used by keys alone.
//
//	scene.go                    Scene, the read model that the daemon makes of a project
//	model.go keys.go            the state of the screen, and the effect of keys
//	input.go page.go            the input line, an open text
//	view.go sections.go         the layout of the screen
//	pane.go                     Pane, a text of any length that the daemon makes
//	panes.go large.go           panes on the screen, and the layout of a large one
//	timeline.go paint.go        bars of sessions, colours
//	run.go                      the program around it
//
// The screen depends on a Scene, on Panes where it is large, and on a connection to
// the daemon, and on neither sockets nor the ledger. It makes no decisions: a key
// sends a line that could have been typed in a chat. Leaving the screen never ends the
// run.
//
// The tests hold that no line is wider than the screen and no screen higher, whatever
// names and output it shows; that a pane is asked for only while it is visible, and
// does not move while somebody reads it; that foreign text never reaches the terminal
// as a control sequence; that a line is repeated with its own key, so that it takes
// effect once; and that typed words are never lost.
package tui
