// Package paper is what PHONE 7 asks of every message that people are sent, as
// one check for the tests of those who make them: the form on both platforms,
// the words, and that what is pushed says what comes next.
package messagelint
