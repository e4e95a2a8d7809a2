package ledger

import (
	"time"
)

// Role says what a person may do (docs/spec 6.6). The zero Role allows nothing.
type Role string

// Roles. Each role includes the earlier ones.
const (
	RoleView  Role = "view"  // commands that only read
	RoleSteer Role = "steer" // guidance, answers, run, pause, resume, stop, tasks
	RoleAdmin Role = "admin" // merge, budget, plan approval, quiet, people
)

// May reports whether the role includes the needed role.
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

// Person is a paired person, identified by the platform's id: names and chats
// can pass to other people, ids cannot.
type Person struct {
	ID    string    `json:"id"`   // "telegram:48213377"
	Name  string    `json:"name"` // as the platform reports it; for display only
	Role  Role      `json:"role"`
	Since time.Time `json:"since"`
}
