package ledger

import "time"

// NetworkMode says how far the network of a session reaches (docs/spec 12.1).
type NetworkMode string

// Modes, the widest first. "" is NetworkOpen.
const (
	NetworkOpen  NetworkMode = "open"  // all that the machine reaches
	NetworkPorts NetworkMode = "ports" // a loopback of its own, and all hosts of the internet on named ports, through a proxy
	NetworkNone  NetworkMode = "none"  // a loopback of its own, and named hosts through a proxy
)

// Stricter returns the narrower one of two modes.
func (m NetworkMode) Stricter(other NetworkMode) NetworkMode {
	if other.rank() > m.rank() {
		return other
	}
	return m
}

// Closes reports whether a session of the mode has no part in the machine's network.
func (m NetworkMode) Closes() bool { return m.rank() > 0 }

// rank orders the modes. A mode of a later release counts as the narrowest, so
// that nothing opens by being unknown.
func (m NetworkMode) rank() int {
	switch m {
	case "", NetworkOpen:
		return 0
	case NetworkPorts:
		return 1
	}
	return 2
}

// Network is what one session may reach. Hosts are written as in the
// configuration: HOST, *.HOST, HOST:PORT, HOST=ADDRESS.
type Network struct {
	Mode     NetworkMode `json:"mode,omitempty"`
	Ports    []int       `json:"ports,omitempty"`     // with NetworkPorts
	Hosts    []string    `json:"hosts,omitempty"`     // with NetworkNone, as all that follows
	ReadOnly []string    `json:"read_only,omitempty"` // hosts that are only read from: package registries
	Services []string    `json:"services,omitempty"`  // ADDRESS:PORT of this machine's loopback, reached at the same address
	Asks     bool        `json:"asks,omitempty"`      // people are asked about other hosts; without it they are refused
}

// NetworkRules says what the sessions of a run may reach, by their kind and agent.
// The zero value leaves all of them open.
type NetworkRules struct {
	Mode     NetworkMode             `json:"mode,omitempty"`      // of all sessions, at least
	Setup    NetworkMode             `json:"setup,omitempty"`     // of setup commands, at least
	Verify   NetworkMode             `json:"verify,omitempty"`    // of all other commands, at least
	Ports    []int                   `json:"ports,omitempty"`     // as Network.Ports
	Hosts    []string                `json:"hosts,omitempty"`     // as Network.Hosts
	ReadOnly []string                `json:"read_only,omitempty"` // as Network.ReadOnly
	Services []string                `json:"services,omitempty"`  // as Network.Services
	Agents   map[string]AgentNetwork `json:"agents,omitempty"`    // by name; an agent without an entry needs nothing of its own
}

// AgentNetwork is what the sessions of one agent need and may reach.
type AgentNetwork struct {
	Mode     NetworkMode `json:"mode,omitempty"` // at least
	Hosts    []string    `json:"hosts,omitempty"`
	Services []string    `json:"services,omitempty"`
}

// HostRequest is a session's wish for a host that is not named. The session's
// connection waits for the answer for a minute at most.
type HostRequest struct {
	Session string    `json:"session"`
	Host    string    `json:"host"` // in its ASCII form, without a final dot
	Port    int       `json:"port"`
	Program string    `json:"program,omitempty"` // name of the program that asks; "" = unknown
	At      time.Time `json:"at"`
}

// HostAnswer settles a HostRequest. It holds for the rest of its session.
type HostAnswer struct {
	Host  string `json:"host"`
	Port  int    `json:"port"`
	Allow bool   `json:"allow"`
	// Address is dialled instead of what the name resolves to; "" = none. A host at
	// a private address is reached only with it.
	Address string `json:"address,omitempty"`
	Reason  string `json:"reason,omitempty"` // of a refusal; the session's program sees it
}

// HostUse is what a session did with one host and port, for people and evidence.
type HostUse struct {
	Host     string    `json:"host"`
	Port     int       `json:"port"`
	Conns    int       `json:"conns"` // number of connections, refused ones included
	Sent     int64     `json:"sent"`  // bytes to the host
	Received int64     `json:"received"`
	First    time.Time `json:"first"`
	Refused  string    `json:"refused,omitempty"` // why the last connection was refused; "" = none was
}
