// Package payload reads what sessions send with their events, and judges
// whether it can be accepted.
//
//   - table.go: the table of events, with a row for each event of the shipped
//     hats: its fields, an example, and its checks. Check holds a payload
//     against it and returns what the agent has to change.
//   - fields.go: the sections and judgements that payloads hold.
//   - criteria.go: the checks of a verifier, and which acceptance criterion each is
//     about.
//   - ruling.go: what is ruled about criteria that failed.
//   - critique.go: the critic's verdict as the state keeps it.
//
// The functions are pure and total: a payload is hostile input of up to
// MaxSize bytes. A field that no row names is kept and not looked at, because
// users write hats of their own. Tests hold that each row is complete and that
// each example is accepted; the fuzz test of Check is in package loop.
package payload
