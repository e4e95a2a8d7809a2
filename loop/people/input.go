package people

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// OfferPairing offers to pair the person who sends a code, with a role. The host
// shows the code itself; the ledger keeps only its hash.
type OfferPairing struct {
	Hash string
	Role ledger.Role
}

// TryPairing is the hash of a code that somebody sent. The Sender is the person to
// pair.
type TryPairing struct{ Hash string }

// Remove ends a person's pairing.
type Remove struct{ ID string }

// SetQuiet changes the quiet hours of a chat. ledger.ParseHours describes their
// form.
type SetQuiet struct {
	Chat  string
	Hours ledger.Hours
}

// MeetStranger reports a message from somebody who is not paired.
type MeetStranger struct{ Chat, Why string }

// RefuseCommand reports a command that the sender's role does not permit. For is
// the project that the command was meant for.
type RefuseCommand struct{ Command, For string }

// CameBack reports that no daemon was running from Off until the input's time.
type CameBack struct{ Off time.Time }

// DigestDue reports that the digest's time of day has come. It may be sent any
// number of times: Decide sends at most one digest for each day.
type DigestDue struct {
	Day string    // local date, 2026-11-20
	At  time.Time // when it was due that day
}

// WeekDigestDue is DigestDue for the digest of a week.
type WeekDigestDue struct {
	Week string    // ISO 8601, 2026-W47
	At   time.Time // when it was due that week
}

// InputKind values.
func (OfferPairing) InputKind() string  { return "offer_pairing" }
func (TryPairing) InputKind() string    { return "try_pairing" }
func (Remove) InputKind() string        { return "remove_person" }
func (SetQuiet) InputKind() string      { return "set_quiet" }
func (MeetStranger) InputKind() string  { return "meet_stranger" }
func (RefuseCommand) InputKind() string { return "refuse_command" }
func (CameBack) InputKind() string      { return "came_back" }
func (DigestDue) InputKind() string     { return "digest_due" }
func (WeekDigestDue) InputKind() string { return "week_digest_due" }
