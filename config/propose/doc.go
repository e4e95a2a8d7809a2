// Package propose writes the configuration that somebody would begin with, for
// `nightporter init`: the commands that verify a repository and prepare it,
// guessed from the files in it, and nightporter.toml as text with the reason of
// every line.
//
//	look.go                                         what a repository holds
//	golang.go makefile.go node.go python.go rust.go one toolchain each
//	write.go                                        nightporter.toml as text
//
// It never runs anything, never reads a file outside the repository, and takes
// nothing of a file's content into the proposal but names that are known here:
// a repository may be a stranger's, and its text must not become settings.
//
// The tests hold that a proposal is a configuration that package config takes,
// whatever the repository holds.
package propose
