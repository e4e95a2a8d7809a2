// Package console is the conversation in a terminal: it prints what is
// committed to the ledger as lines that read the same in a pipe, and reads
// the commands that a person types meanwhile.
//
// It keeps no state that decides anything: what is shown is a function of the
// states before and after an entry, and of the entry. There are no cursor
// tricks, so a line that was printed stays true.
package termlog
