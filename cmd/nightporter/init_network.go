package main

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// proposeNetwork proposes a closed network for the project, with the hosts that the
// chosen agent and the package managers need. It proposes none where a run could not
// work with it: on a machine that cannot close it, and with an agent whose hosts
// nobody has named.
func (p *initWizard) proposeNetwork(d *initDraft) error {
	agent := d.project.Agent
	if agent == "" {
		agent = d.project.Advised
	}
	needs := d.before.AgentNetwork(agent)
	switch why, err := p.cannotClose(d.before); {
	case err != nil:
		return err
	case why != "":
		d.project.Network.Why = "No session can have a closed network here: " + why
		p.addLine(bot.SignLook, "network", "left open; no session can have a closed one here: %s", why)
		return nil
	case len(needs.Hosts)+len(needs.Services) == 0 && !scripted(agent):
		d.project.Network.Why = "What " + agent + " needs to reach is not known: name it in hosts of [agents." + agent + "] first."
		p.addLine(bot.SignLook, "network", "left open; which hosts %s needs is not known", agent)
		return nil
	}
	d.project.Network = closedFor(agent, needs, config.ManagersOf(d.project.Repo))
	p.addLine(bot.SignDone, "network", "named hosts alone; any other is asked about, and stays closed without an answer")
	for _, r := range d.project.Network.Reached {
		p.addDetail("%s", r)
	}
	p.addDetail("to undo it: network = \"open\" in the file, or --network open")
	return nil
}

// closedFor returns a closed network with the hosts that are named by themselves.
func closedFor(agent string, needs ledger.AgentNetwork, managers []config.Manager) propose.Network {
	n := propose.Network{Mode: string(ledger.NetworkNone)}
	add := func(what string, hosts []string) {
		if len(hosts) > 0 {
			n.Reached = append(n.Reached, "for "+what+": "+strings.Join(hosts, ", "))
		}
	}
	add(agent, append(needs.Hosts[:len(needs.Hosts):len(needs.Hosts)], needs.Services...))
	for _, m := range managers {
		add(m.Name, m.Hosts)
		add(m.Name+", to read from", m.ReadOnly)
	}
	return n
}

// cannotClose returns why no session can have a closed network on this machine; "" = it
// can, which an empty session has tried.
func (p *initWizard) cannotClose(cfg *config.Config) (why string, err error) {
	state, err := config.StateDir(p.flags.state)
	if err != nil {
		return "", err
	}
	try := doctorContext{state: state, cfg: cfg}
	defer try.trial.close()
	w, err := try.openTrial()
	if err != nil {
		return err.Error(), nil // the check that follows says what to mend
	}
	_, why = w.runner.ClosedNetwork()
	return why, nil
}

// scripted reports whether an agent is nightporter's own, which needs no host.
func scripted(name string) bool {
	a := adapter.Find(name)
	return a != nil && a.Origin == adapter.FromSelf
}
