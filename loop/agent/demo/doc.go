// Package demo provides the scripted agent and the sample repository of
// `nightporter demo`, which show everything without an account and at no cost.
//
//	agent.go prompt.go   the program: reading its prompt, emitting its event
//	story.go till.go     the script of the sample repository
//	generic.go           the script of all other repositories
//	edit.go files.go     changes of files, below an os.Root
//	repository.go        the sample repository
//
// The agent is a program like every other: it reads its prompt on standard
// input, edits files in its working directory and ends with the real hat on
// PATH. It has no other channel and no memory, so its actions depend on prompt
// and files alone, and repeat exactly. In the sample repository it follows the
// story, including a false claim and a wrong sum; in every other one it writes
// a line into a file of its own and says that it is scripted.
//
// It never uses a network, never follows a link out of its work folder, and
// never claims work that it has not done.
//
// The tests hold that the real core plays the whole story with the same events
// every time, and that the core accepts an event from every shipped hat except
// the reproducer.
package demo
