package transport

import "time"

// Trouble is why nothing can be received now. A platform may have some of its
// own.
type Trouble string

// Troubles that every platform has.
const (
	TroubleNone    Trouble = ""
	TroubleStart   Trouble = "start"   // not tried yet
	TroubleNetwork Trouble = "network" // no connection
	TroubleServer  Trouble = "server"  // something answers, but not as it should
	TroubleSlow    Trouble = "slow"    // the platform wants us to wait
	TroubleToken   Trouble = "token"   // refused: wrong, revoked, or without a permission
	TroubleStore   Trouble = "store"   // what came could not be committed
	TroubleRights  Trouble = "rights"  // a right is missing that is good to have
	TroubleChannel Trouble = "channel" // a chat of the configuration takes nothing
)

// State is how a line stands.
type State struct {
	Connected bool
	Since     time.Time // of Connected, or of its absence
	Heard     time.Time // when the platform was heard last; zero = not yet
	Trouble   Trouble   // none while connected
	Text      string    // what is wrong, and what to do; no secrets
}

// State is how the line stands now.
func (l *Conn) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// MarkUp notes a sign of life.
func (l *Conn) MarkUp() {
	now := l.o.Clock()
	l.mu.Lock()
	was := l.state
	l.state.Heard = now
	if !was.Connected {
		l.state = State{Connected: true, Since: now, Heard: now}
	}
	is := l.state
	l.mu.Unlock()
	if !was.Connected {
		l.o.Log.Info(l.o.Platform+" is connected", "id", l.o.ID)
		l.notifyChange(is)
	}
}

// MarkDown notes a trouble. text is without secrets.
func (l *Conn) MarkDown(t Trouble, text string) {
	now := l.o.Clock()
	l.mu.Lock()
	was := l.state
	l.state.Trouble, l.state.Text = t, text
	if was.Connected {
		l.state.Connected, l.state.Since = false, now
	}
	is := l.state
	l.mu.Unlock()
	if was.Connected || was.Trouble != t {
		l.o.Log.Warn(l.o.Platform+" is out of reach", "id", l.o.ID, "trouble", t, "why", text)
		l.notifyChange(is)
	}
}

func (l *Conn) notifyChange(s State) {
	if l.o.Changed != nil {
		l.o.Changed(s)
	}
}

// Finding is one thing that an adapter's probe found.
type Finding struct {
	OK      bool // nothing is to be done
	Trouble Trouble
	Text    string
	Fix     string // what to do, "" = nothing
}
