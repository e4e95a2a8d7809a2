// Package report composes the digest: the message that tells once a day, or once
// a week, how a project's work went. It also draws the pictures above the summary of a
// wave of bug reports and above a ledger's figures.
//
// Read fetches the ledger's records of a span, Collect turns records into Facts,
// and Text, FullText, Picture and Alt render Facts. Everything but Read is a
// pure function, so the digest of any past night can be made again and is the
// same.
//
// # Files
//
//   - read.go: Read, the only access to the ledger
//   - collect.go, needs.go, guidance.go, sessions.go, lanes.go, burndown.go: Facts from entries
//   - facts.go: Facts and the types of their fields
//   - failure.go, ending.go: what failed and stays so, and how runs ended
//   - sentence.go: the two sentences that it begins with
//   - text.go, buttons.go: the message, within a caption and in full
//   - alt.go: the picture's text alternative
//   - picture.go, proofrow.go, timeline.go, lanechart.go, chart.go: the picture, its row of
//     proofs and its two charts, the first by hat or by lane
//   - wave.go, wavepicture.go: what a wave of bug reports did, its picture and alternative
//   - statspicture.go: the picture of a ledger's figures and its alternative
//   - layout.go, canvas.go, axis.go, palette.go: positions, drawing, scales, colours
//
// # Rules
//
// The package decides nothing and sends nothing. It says nothing twice, and nothing
// of a failure that a later success settled. It never shows an unknown cost
// as zero and never drops a line without saying so.
//
// The tests hold that two digests of adjacent spans add up to one of both, that
// Read's selection of records gives the same digest as the whole ledger, that a
// caption fits the platforms' limits whatever names it contains, and that the
// picture has a bounded size and the same pixels each time.
package report
