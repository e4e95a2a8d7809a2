// Package outlook says beforehand what a night will probably get done, by when, and at what
// cost.
//
//	Of(Question) → Outlook
//
// It plays the open tasks many times with what tasks of their kind took before
// (loop/history), and gives the middle and the bounds of four nights in five. An
// ledger.Forecast is something else: the session that a guidance item will go to.
//
//   - outlook.go: Question and Outlook, and a night that is played.
//   - lanes.go: which lane has a task, and when the room and the tip are free for it.
//   - window.go: usage windows of agents, and who goes on when one is used up.
//   - calendar.go: when a night waits for that. Tasks are played in work time, without the
//     waits.
//
// # What it must not do
//
// It has no I/O, clock, goroutine or random number of its own: its draws follow from the
// question, so the same question has the same answer. A cost of which one task's is
// unknown is unknown as a whole. It says nothing of a window whose use, end or pace is unknown.
package outlook
