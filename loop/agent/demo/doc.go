// Package demo is the scripted agent and the sample repository of `nightporter
// demo`, with which everything can be tried without an account and at no cost.
//
//	agent.go prompt.go   the program: what it reads of its prompt, how it ends
//	story.go till.go     the script of the sample repository
//	anywhere.go          what it plays in every other repository
//	edit.go files.go     changes of files, below an os.Root
//	repository.go        the sample repository
//
// The agent is a program like every other: it gets its prompt on standard
// input, edits files in its working directory and ends with the real hat on
// PATH. It has no other channel and remembers nothing, so what it does follows
// from its prompt and the files alone, and is the same every time. In the
// sample repository it plays the story, a false claim and a wrong sum
// included; in every other one it writes a line into a file of its own and
// says that it is scripted.
//
// It never reaches a network, never follows a link out of its work folder, and
// never claims to have done what it has not.
//
// The tests hold that the whole story is played by the real core, with the same
// events every time, and that every shipped hat but the reproducer is answered
// with an event that the core accepts.
package demo
