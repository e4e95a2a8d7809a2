package ledger

import (
	"github.com/nightporter/nightporter/guidance"
)

// GuidanceQueued records a new guidance item.
type GuidanceQueued struct {
	Item guidance.Item `json:"item"`
}

// GuidanceChanged replaces the words of a queued guidance item.
type GuidanceChanged struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// GuidanceDropped records that a person took a guidance item back.
type GuidanceDropped struct {
	ID string `json:"id"`
}

// GuidanceBound binds guidance items to a session that is being planned.
type GuidanceBound struct {
	Hat     string           `json:"hat"`
	Writes  bool             `json:"writes"`
	Binding guidance.Binding `json:"binding"`
	Reopen  bool             `json:"reopen,omitempty"` // first session of a new attempt
}

// GuidanceReported records what a session reports about a guidance item.
type GuidanceReported struct {
	ID    string         `json:"id"`
	State guidance.State `json:"state"`
	Note  string         `json:"note,omitempty"`
}

// GuidanceJudged records whether the work follows a guidance item, as judged by a
// read-only session that was shown the item.
type GuidanceJudged struct {
	ID       string `json:"id"`
	Hat      string `json:"hat"`
	Followed bool   `json:"followed"`
	Note     string `json:"note,omitempty"`
}

// GuidanceExpired ends a guidance item that no session will get any more.
type GuidanceExpired struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// GuidanceKept queues an expired guidance item again.
type GuidanceKept struct {
	ID string `json:"id"`
}
