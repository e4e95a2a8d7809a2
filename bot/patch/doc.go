// Package patch makes a patch readable on a phone: as rows of a narrow message, as
// pictures, or as one HTML file that opens without a network.
//
//   - patch.go     files, hunks and lines of a patch
//   - order.go     which file comes first
//   - visible.go   characters that would be unseen, or would reorder a line
//   - words.go     what changed within a changed line
//   - color.go     the syntax of a line
//   - row.go       lines broken into rows of a fixed width, and pages of rows
//   - picture.go   a page as a PNG
//   - html.go      a whole patch as an HTML file
//
// The package is pure: same patch, same bytes. Everything that a patch holds was
// written by a session and is hostile: no control character, direction mark or
// invisible character reaches an output as itself (docs/spec 23.10), nothing in
// the HTML loads or runs anything, and every output has a limit and says what it
// leaves out.
//
// Two kinds of libraries were not taken. Parsers of patches check the counts of
// hunks, which no longer hold in a patch that was cut at a limit or had a secret
// removed. chroma colours more languages, but it makes all of its lexers at the
// start of every process, for 8 ms of processor time; they are made for whole files
// besides, and a hunk is a fragment.
package patch
