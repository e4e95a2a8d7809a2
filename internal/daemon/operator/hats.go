package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Hats returns a project's hats and the named pattern ("" = the project's own)
// for a chat: those of the unfinished run, else those that the next run would
// use. It returns a *ledger.InputError for an unknown pattern.
func (svc *Service) Hats(_ context.Context, project, pattern string) (bot.HatSet, error) {
	s, _ := svc.State(project)
	r := s.Project.Run
	cfg := svc.o.Projects.Config()
	p, configured := svc.o.Projects.Find(project)
	if !configured && r != nil {
		p = config.Project{Name: project, Repo: r.Settings.Repo}
	}
	var set ledger.Settings
	if r != nil && (!r.Over() || !configured) {
		set = r.Settings
	} else {
		var err error
		if set, err = p.Settings(cfg, config.Overrides{}, time.Now()); err != nil {
			return bot.HatSet{}, asInput(err)
		}
	}
	out := bot.HatSet{Pattern: set.Pattern, Hats: set.Hats, Agent: set.Agent}
	patterns, err := config.Patterns(cfg, &p)
	if err != nil && pattern != "" {
		return bot.HatSet{}, asInput(err)
	}
	out.Patterns = slices.Sorted(maps.Keys(patterns)) // empty when the files on disk are invalid
	if pattern != "" && pattern != set.Pattern.Name {
		other, ok := patterns[pattern]
		if !ok {
			return bot.HatSet{}, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: fmt.Sprintf("there is no pattern %q", pattern), Remedy: "There are: " + strings.Join(out.Patterns, ", ")}}}
		}
		out.Pattern = other
	}
	drawn := out.Pattern
	drawn.Consensus = drawn.Consensus || set.Consensus
	out.Routes = config.Draw(drawn, out.Hats)
	return out, nil
}
