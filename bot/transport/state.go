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
	TroubleChannel Trouble = "channel" // a chat of the configuration takes nothing
)

// State is how a line stands.
type State struct {
	Connected   bool
	Since       time.Time // of Connected, or of its absence
	LastContact time.Time // when the platform was heard last; zero = not yet
	Trouble     Trouble   // none while connected
	Text        string    // what is wrong, and what to do; no secrets
}

// State is how the line stands now.
func (c *Conn) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// MarkUp notes a sign of life.
func (c *Conn) MarkUp() {
	now := c.o.Clock()
	c.mu.Lock()
	was := c.state
	c.state.LastContact = now
	if !was.Connected {
		c.state = State{Connected: true, Since: now, LastContact: now}
	}
	is := c.state
	c.mu.Unlock()
	if !was.Connected {
		c.o.Log.Info(c.o.Platform+" is connected", "id", c.o.ID)
		c.notifyChange(is)
	}
}

// MarkDown notes a trouble. text is without secrets.
func (c *Conn) MarkDown(t Trouble, text string) {
	now := c.o.Clock()
	c.mu.Lock()
	was := c.state
	c.state.Trouble, c.state.Text = t, text
	if was.Connected {
		c.state.Connected, c.state.Since = false, now
	}
	is := c.state
	c.mu.Unlock()
	if was.Connected || was.Trouble != t {
		c.o.Log.Warn(c.o.Platform+" is out of reach", "id", c.o.ID, "trouble", t, "why", text)
		c.notifyChange(is)
	}
}

func (c *Conn) notifyChange(s State) {
	if c.o.OnChange != nil {
		c.o.OnChange(s)
	}
}

// Finding is one thing that an adapter's probe found.
type Finding struct {
	OK      bool // nothing is to be done
	Trouble Trouble
	Text    string
	Fix     string // what to do, "" = nothing
}
