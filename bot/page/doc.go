// Package page renders what proves a task as one HTML file that opens offline, on a
// phone as on a desk (docs/spec 8.2).
//
//   - evidence.go: from the ledger's records of a task, or of a wave, to the page.
//   - step.go: what the page says of one entry.
//   - evidence.html: its form. It has no script and loads nothing.
//
// All text in a page may be by strangers. It stands only where html/template
// escapes it as text, and links lead only to http and https.
package page
