// Package propose writes a first configuration for `nightporter init`: the
// commands that prepare and verify a repository, guessed from the files in it,
// and nightporter.toml as text with the reason of every line.
//
//	look.go         searches a repository for commands
//	folder.go       what is read of one folder, and a command that runs there
//	language.go     the table of languages
//	program.go      the table of programs, and how a missing one is installed
//	golang.go …     deno, dotnet, java, makefile, native (C and C++), node, php,
//	                python, ruby, rust, swift: one each
//	tests.go        folders of tests with unusual names
//	write.go        nightporter.toml as text
//
// The package never runs a program and never reads a file outside the
// repository. Of a file's content it takes nothing into the proposal but names
// from its own lists: a repository may be a stranger's, and its text must not
// become settings.
//
// The tests hold that package config accepts every proposal, whatever the
// repository holds.
package propose
