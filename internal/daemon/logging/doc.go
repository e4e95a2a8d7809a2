// Package logging writes the log of the state folder. file.go has the file, which
// rotates by size; redact.go the handler, which redacts secrets in every line;
// journal.go the log lines for committed entries; priority.go the priorities of
// systemd's journal.
//
// Logging must never stop or delay a decision: the journal has a bounded queue.
// The tests hold that no line is lost or torn by a rotation and that no token
// appears in the log.
package logging
