// Package termlog shows a run in a terminal: it prints committed ledger entries
// as lines that read the same in a pipe, and reads the commands that a person
// types meanwhile.
//
//   - console.go: Console, its Options, and the printing of lines
//   - lines.go: Entry, and the table of entries
//   - session.go, task.go, question.go, guidance.go: lines about each of these
//   - run.go, end.go: starts, waits, problems and the end of a run
//   - read.go: ReadLines, the typed commands
//   - json.go: JSON, the same entries for programs
//
// The package decides nothing. A line depends only on an entry and the states
// before and after it; the Console remembers only what it has printed. It never
// moves the cursor, so a printed line stays.
//
// The tests hold that no text from outside can break a line or reach the
// terminal as a control sequence, that lines keep to the width except for
// commands and paths, and that nothing is printed twice.
package termlog
