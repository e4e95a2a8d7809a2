package copilot

import (
	"context"
	"slices"
	"strings"
	"sync"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/cloud"
	"github.com/nightporter/nightporter/loop/forge/github"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Kind is a coding agent that GitHub has. Every cell of a row is set.
type Kind struct {
	Name     string   // in the configuration and for people
	Assignee string   // what an issue is assigned to, in GitHub's interface
	Logins   []string // accounts that are shown as assignee and as author
	Mention  string   // what a comment begins with to be read by it
}

// Kinds is the table of agents.
var Kinds = []Kind{
	{Name: "copilot", Assignee: "copilot-swe-agent[bot]", Logins: []string{"Copilot", "copilot-swe-agent", "copilot-swe-agent[bot]"}, Mention: "@copilot"},
}

// Names returns the names of all agents.
func Names() []string {
	var names []string
	for _, k := range Kinds {
		names = append(names, k.Name)
	}
	return names
}

// Options configure an Agent.
type Options struct {
	Forge *github.Forge
	Name  string // of a Kind; "" = the first
	Base  string // branch that the agent starts from; "" = the repository's default
}

// Agent is a coding agent of GitHub. It implements cloud.Agent.
type Agent struct {
	forge *github.Forge
	kind  Kind
	base  string

	mu   sync.Mutex
	info *ledger.ForgeInfo // nil = not asked yet
}

var _ cloud.Agent = (*Agent)(nil)

// New returns an agent, nil for a name that is in no row. It does not use the
// network.
func New(o Options) *Agent {
	n := slices.IndexFunc(Kinds, func(k Kind) bool { return o.Name == "" || k.Name == o.Name })
	if n < 0 {
		return nil
	}
	return &Agent{forge: o.Forge, kind: Kinds[n], base: o.Base}
}

// about returns what the forge says of the repository and the token, asked once.
func (a *Agent) about(ctx context.Context) (ledger.ForgeInfo, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.info == nil {
		info, err := a.forge.Info(ctx)
		if err != nil {
			return info, err
		}
		a.info = &info
	}
	return *a.info, nil
}

// is reports whether an account is the agent's. GitHub alone makes accounts of the
// type Bot.
func (k Kind) is(u *gh.User) bool {
	return u.GetType() == "Bot" && slices.ContainsFunc(k.Logins, func(l string) bool { return strings.EqualFold(l, u.GetLogin()) })
}
