// Package attachment keeps the bytes of what people send with their words, beside
// the ledger and under their hash: STATE/attachments/HASH (docs/spec 8.3).
//
// # What a crash leaves
//
// Bytes are on the disk before the entry that names them is committed, under the name
// HASH.new. After the commit the file gets its name. Recover, at the start, decides by
// the ledger what becomes of a file without one: it is named by an entry, or it is
// removed. Readers take both names, and nobody lists the folder to learn what there is:
// only the ledger knows that.
//
// The same bytes are kept once, whoever sent them how often.
//
// The tests hold that a file with a hash has exactly the bytes of that hash or is
// reported as altered, and that no order of Put, Settle and Discard of the same bytes
// loses what one of them settled.
package attachment
