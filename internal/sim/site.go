package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/nightporter/nightporter/loop/ledger"
)

// projectNames are the projects of a night, in their order. Most nights have the
// first alone.
var projectNames = []string{"shop", "depot", "till"}

// site is one project of a night: its repository, plan and sessions, and the audit
// of what becomes of them. Ledger, chats, agents and limits are shared.
type site struct {
	*world
	name      string
	settings  ledger.Settings
	repo      repo
	plan      planFile
	recurring map[string]*recurring // of the plan, by folded id
	machine   machine
	remote    remote
	audit     *audit
	waits     liveness
}

// drawSites chooses the projects of the night. Their number comes from a stream of
// its own, so that it does not change what else a seed draws.
func (w *world) drawSites() {
	n := 1
	if of := w.opt.projects; of > 0 {
		if own := rand.New(rand.NewPCG(w.seed, 0x517e)); own.Uint64N(of) == 0 {
			n = 2 + own.IntN(len(projectNames)-1)
			w.sessions = 1 + own.IntN(2)
			w.count(manyProjects)
		}
	}
	all := newShared()
	for _, name := range projectNames[:n] {
		s := &site{world: w, name: name, remote: remote{branches: map[string]string{}, answered: map[string]int{}}}
		s.audit = newAudit(s, all)
		w.sites = append(w.sites, s)
	}
	w.audit = w.sites[0].audit
}

// several reports whether the night has more than one project.
func (w *world) several() bool { return len(w.sites) > 1 }

// anySite draws a project, without a draw where there is one.
func (w *world) anySite() *site {
	if !w.several() {
		return w.sites[0]
	}
	return pick(w, w.sites...)
}

// named puts a project's name before what a person types, where it has to have one
// and they think of it.
func (w *world) named(line string) string {
	if !w.several() || w.one(3) {
		return line
	}
	return w.anySite().name + ": " + line
}

// siteOf returns the project of a name.
func (w *world) siteOf(name string) *site {
	for _, s := range w.sites {
		if s.name == name {
			return s
		}
	}
	return nil
}

// siteIn returns the project in a repository.
func (w *world) siteIn(repo string) *site {
	for _, s := range w.sites {
		if s.settings.Repo == repo {
			return s
		}
	}
	return nil
}

// streams returns the names of the night's streams.
func (w *world) streams() []string {
	all := []string{ledger.SharedStream}
	for _, s := range w.sites {
		all = append(all, ledger.ProjectStream(s.name))
	}
	return all
}

// tell adds a line to the story, with the project where there are several.
func (s *site) tell(who, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.several() {
		text = s.name + ": " + text
	}
	s.world.tell(who, "%s", text)
}

// agentsAtWork returns the number of agents' sessions of all projects.
func (w *world) agentsAtWork() (n int) {
	for _, s := range w.sites {
		for _, id := range s.machine.order {
			if x := s.machine.sessions[id]; !x.ended && x.launch.Kind == ledger.KindAgent {
				n++
			}
		}
	}
	return n
}
