// Package words understands what people write without a slash, by rules that are
// data (docs/spec 6.8).
//
// Read returns the meaning of a whole sentence. A sentence that matches no phrase is
// Guidance: "stop" is a command, "stop using floats" is not. Nothing is guessed from a
// part of a sentence, and there is no model.
//
// # Files
//
//   - words.go: Read, and how a text becomes words
//   - phrases.go: how the phrase files are read
//   - phrases/*.txt: the phrases, a file for each language, and one for symbols
//
// A language is added by its file. The package knows no project, question or run:
// what a meaning does is package bot's part.
//
// testdata/sentences.txt was written before the rules. Its test is in bot/inbound,
// which plays every sentence in its situation.
package words
