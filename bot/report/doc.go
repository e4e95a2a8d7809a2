// Package report makes the digest (SPEC 6.5) out of what the ledger holds:
// Collect reads the records of a span of time into Facts, Text is their
// message, Picture their PNG and Alt the picture in words. All are pure, so
// the digest of any night can be made again, and looks the same. Read alone
// fetches the records that Collect wants.
package report
