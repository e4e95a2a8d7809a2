// Package demo is the built-in scripted agent and the sample repository of
// `nightporter demo` (SPEC 10, PHONE 4.2), so that everything can be tried
// without account or cost.
//
// The agent is a program like every other: it gets its prompt on standard
// input, edits files in its working directory and ends with the real hat on
// PATH. It has no other channel and remembers nothing, so what it does follows
// from its prompt and the files alone, and is the same every time. In the
// sample repository it plays the story, a false claim and a wrong sum
// included; in every other one it writes a line into a file of its own and
// says that it is scripted.
package demo
