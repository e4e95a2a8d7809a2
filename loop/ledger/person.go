package ledger

import (
	"time"
)

// Role is what a person may do (docs/spec 6.6).
type Role string

// Roles, each with all that the ones before it may.
const (
	RoleView  Role = "view"  // all that only looks
	RoleSteer Role = "steer" // guidance, answers, run, pause, resume, stop, tasks
	RoleAdmin Role = "admin" // merge, budget, plan approval, quiet, people
)

// May reports whether the role includes another one.
func (r Role) May(needed Role) bool { return r.Rank() >= needed.Rank() && r.Rank() > 0 }

func (r Role) Rank() int {
	switch r {
	case RoleView:
		return 1
	case RoleSteer:
		return 2
	case RoleAdmin:
		return 3
	}
	return 0
}

// Person is somebody who is let in, by the platform's own id: names and chats
// change hands, ids do not.
type Person struct {
	ID    string    `json:"id"`   // "telegram:48213377"
	Name  string    `json:"name"` // as the platform says it, for people
	Role  Role      `json:"role"`
	Since time.Time `json:"since"`
}
