// Package screenshot makes pictures that sessions left fit to be kept and shown
// (docs/spec 8.5).
//
// Clean decodes a PNG and encodes its pixels anew: what is kept has the pixels of the
// file and nothing else of it, neither its texts nor what follows its end, and pictures
// with equal pixels have equal bytes. Pair makes one picture of two, small enough for a
// message.
//
// The tests hold that no file takes more memory than MaxPixels allow, and that Pair
// never returns more bytes than it was asked for.
package screenshot
