package ledger

import (
	"time"
)

// SharedSet records the configuration that all projects share.
type SharedSet struct {
	MaxSessions int       `json:"max_sessions"`
	Day         DayBudget `json:"day,omitzero"`
}

// IDIssued records that the number of a run, guidance item or question is
// taken. Numbers are unique per daemon and never reused.
type IDIssued struct {
	Kind string `json:"kind"` // r, g, q
	N    int    `json:"n"`
}

// LeaseGranted gives one session a slot and an agent.
type LeaseGranted struct {
	Session string `json:"session"`
	Project string `json:"project"`
	Agent   string `json:"agent,omitempty"`

	Reserved Reservation `json:"reserved,omitzero"` // where a budget holds
}

// LeaseReleased frees a session's slot and agent.
type LeaseReleased struct {
	Session string    `json:"session"`
	Spent   *Spending `json:"spent,omitempty"` // nil = nothing was reserved, or the session never began

	// Windows are the usage windows of its agent as the session reported them; none =
	// unknown.
	Windows []UsageWindow `json:"windows,omitempty"`
}

// AgentParked records that no project uses an agent until a time: the agent has
// reached its usage limit, or could not be reached.
type AgentParked struct {
	Agent string       `json:"agent"`
	Until time.Time    `json:"until"`
	Known bool         `json:"known"` // the agent named Until; otherwise Until is an estimate, after which the agent is tried
	Why   FailureClass `json:"why"`
	Text  string       `json:"text,omitempty"`
	Times int          `json:"times,omitempty"` // number of parkings in a row, for the back-off

	Session    string `json:"session,omitempty"`    // the session whose end showed it
	Unverified bool   `json:"unverified,omitempty"` // see Exit.Unverified
}

// AgentUnusable records that an agent cannot work until a person repairs something.
type AgentUnusable struct {
	Agent     string `json:"agent"`
	LoggedOut bool   `json:"logged_out,omitempty"`
	Text      string `json:"text"`

	Why FailureClass `json:"why,omitempty"` // FailureLimit: a limit by plain output alone that lasts too long to be believed; "" = FailureAuth
}

// AgentUsable ends a parking or an unusable state.
type AgentUsable struct {
	Agent  string `json:"agent"`
	Worked bool   `json:"worked,omitempty"` // one of the agent's sessions worked: the next back-off starts from the beginning
	Trial  bool   `json:"trial,omitempty"`  // nothing shows that it works again: it is only tried, by one session at a time

	// The task whose session worked, where others of the agent had ended at once.
	Project string `json:"project,omitempty"`
	Source  string `json:"source,omitempty"`
	Task    string `json:"task,omitempty"`
}

// AgentFaltered records that a session of an agent ended within seconds, without
// an event or a sign of work. One such session is its task's failure; several in
// a row are the agent's trouble.
type AgentFaltered struct {
	Agent   string `json:"agent"`
	Project string `json:"project"`
	Source  string `json:"source,omitempty"` // KIND:PATH of the task's source
	Task    string `json:"task"`
	Session string `json:"session"`
	Text    string `json:"text,omitempty"` // the agent's last words
	Held    bool   `json:"held,omitempty"` // the agent is held for it, unless the session's files show that it worked
}

// AgentUncounted records that an agent's output counts its tokens in a way that this
// release does not know, as after an update of its program: its figures are unknown.
type AgentUncounted struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`        // whose output showed it
	Over    bool   `json:"over,omitempty"` // this session was counted again
}

// WasOff records a time without a running nightporter. The next start writes it,
// and only for absences that people may ask about.
type WasOff struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// ClockJumped records, in a stream, that the clock jumped: it was set, or the
// machine slept. From is what it would have shown at that moment, To what it shows.
type ClockJumped struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// DigestSent records the digest of a local day, so that no second one is sent.
type DigestSent struct {
	Day   string    `json:"day"`   // 2026-11-20, in the person's zone
	Meant time.Time `json:"meant"` // when it was due
	From  time.Time `json:"from"`  // the span that the digest covers: after From, up to To
	To    time.Time `json:"to"`
}

// Missed returns the days without a digest between last, the day of the previous
// digest, and this one: at most seven, none if last is "" or no date.
func (b DigestSent) Missed(last string) []string {
	day, err := time.Parse(time.DateOnly, b.Day)
	if err != nil {
		return nil
	}
	since, err := time.Parse(time.DateOnly, last)
	if err != nil {
		return nil
	}
	var out []string
	for n := 7; n >= 1; n-- {
		if d := day.AddDate(0, 0, -n); d.After(since) {
			out = append(out, d.Format(time.DateOnly))
		}
	}
	return out
}

// WeekDigestSent records the digest of a week, so that no second one is sent.
type WeekDigestSent struct {
	Week  string    `json:"week"`  // ISO 8601, 2026-W47, in the person's zone
	Meant time.Time `json:"meant"` // when it was due
	From  time.Time `json:"from"`  // the span that the digest covers: after From, up to To
	To    time.Time `json:"to"`
}

// SharedHead records, in a project's stream, the head of the shared stream
// before the entry's own transaction. It stands before each commit and each end
// of a run: the heads of projects are named in commits and digests, and through
// it they vouch for the shared stream as well.
type SharedHead struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"` // hex
}

// InputPoisoned records an input whose decision panicked. The input is never
// tried again, and everything else goes on. With Done, the decision itself
// stands, in the entries before this one, and only composing its messages
// failed.
type InputPoisoned struct {
	Key   string `json:"key"`
	Kind  string `json:"kind"`
	Error string `json:"error"`
	Done  bool   `json:"done,omitempty"`
}

// EffectFailed records an effect that could not be carried out. With a Fault it
// is tried again until EffectRecovered, and counts against nobody. There is one
// such entry for the first failure, one when the fault changes, and one when
// people are told; none for each try.
type EffectFailed struct {
	Kind   string    `json:"kind"`
	Key    string    `json:"key"`
	Text   string    `json:"text"`
	Remedy string    `json:"remedy,omitempty"` // what a person does about it; "" where the text says all
	Disk   bool      `json:"disk,omitempty"`   // Fault is FaultDisk; earlier releases wrote nothing else
	Fault  Fault     `json:"fault,omitempty"`
	Since  time.Time `json:"since,omitzero"` // of its first failure
	Told   bool      `json:"told,omitempty"` // people are told that it still fails
}

// EffectRecovered records that an effect which failed for a fault of the machine
// was carried out, or is not needed any more.
type EffectRecovered struct {
	Kind string `json:"kind"`
	Key  string `json:"key"`
}
