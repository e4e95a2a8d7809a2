package transport

import "time"

// Trouble classifies why nothing can be received. Adapters add troubles of their
// platform.
type Trouble string

// Troubles of every platform.
const (
	TroubleNone    Trouble = ""
	TroubleStart   Trouble = "start"   // not tried yet
	TroubleNetwork Trouble = "network" // no connection
	TroubleServer  Trouble = "server"  // a response that is not the platform's, or a failure of the platform
	TroubleSlow    Trouble = "slow"    // the platform asks for a pause
	TroubleToken   Trouble = "token"   // the token was rejected: wrong, revoked, or without a permission
	TroubleStore   Trouble = "store"   // an update was received and could not be committed
)

// State describes the connection at one moment.
type State struct {
	Connected   bool
	Since       time.Time // time of the last change of Connected
	LastContact time.Time // time of the last response, zero = none yet
	Trouble     Trouble   // TroubleNone while connected
	Text        string    // what is wrong and what to do; without secrets
}

// State returns the current state.
func (c *Conn) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// MarkUp notes that the platform answered or sent something.
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

// MarkDown notes why nothing can be received. text must not contain secrets.
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
