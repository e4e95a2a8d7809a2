// Package bench holds no code, only benchmarks: what a call of an agent, the
// time between two sessions, a large repository, very many new files, a clean room, a
// pull request and the watch over fifty, a command from the phone, a message to it, a
// digest, a wave of bug reports, the start of a process and an idle night cost. They
// are run by `make bench`, and docs/figures.md shows one run.
//
// A time alone says more about a machine than about a program, so each figure
// stands next to a baseline that was measured in the same run, in turns with
// it: an empty Go program, a bare commit of the store, the git commands alone.
// Everything but the agents is real; what a figure leaves out is a fake that
// takes no time, and its benchmark says which.
package bench
