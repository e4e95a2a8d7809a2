// Package cause finds the line of a failed command's output that says why the
// command failed. People see that line on a phone, where the output has no
// room: "TestSum: got 1, want 2", not "FAIL", "exit status 1" or "Node.js
// v20.20.2".
//
//	Line(output) → line
//
// The line is for people only. Any program can print any line, so no decision
// depends on it.
//
// # Files
//
//   - cause.go: Line, and the order in which it looks.
//   - runners.go: failed tests, as test runners print them.
//   - tools.go: errors of compilers, linters and package managers, and
//     exceptions that nothing caught.
//   - plain.go: all other output, and the lines that never say why.
//   - clean.go: from the bytes of a terminal to lines of text.
//
// # Invariants
//
// TestLine holds Line to captured outputs of real programs, FuzzLine to these:
//
//   - The result is one line of at most MaxLine characters, without control
//     characters.
//   - It is empty only for an output without a visible character.
package cause
