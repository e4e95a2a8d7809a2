// Package propose writes the configuration that somebody would begin with
// (SPEC 16, `nightporter init`): which commands verify a repository and prepare
// it, guessed from the files in it, and nightporter.toml as text with the
// reason of every line.
//
// Nothing is run, no file outside the repository is read, and nothing of a
// file's content reaches the proposal but names that are known here: a
// repository may be a stranger's, and its text must not become settings.
package propose
