package operator

import (
	"context"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// View answers a request for a read model by its name. Problems of the request
// are a Reply without OK; an error means that the view could not be read.
func (svc *Service) View(ctx context.Context, v api.View) (api.Reply, error) {
	project := svc.project(v.Project)
	svc.awaitSource(ctx, project)
	if v.Name == "status" && project == "" {
		return svc.statusOfAll()
	}
	if v.Name == "digest" && project == "" && len(svc.Projects()) > 1 {
		return svc.digestOfAll(ctx, v.Args)
	}
	if of, ok := sharedViews[v.Name]; ok {
		return of(svc, ctx, v)
	}
	s, ok := svc.State(project)
	if !ok && v.Name != "verify" {
		if names := svc.Projects(); v.Project == "" && len(names) > 1 {
			return api.Reply{Text: "which project? --project " + strings.Join(names, " | ")}, nil
		}
		return api.Reply{Text: fmt.Sprintf("there is no project %q here (there are: %s)", v.Project, strings.Join(svc.Projects(), " "))}, nil
	}
	switch v.Name {
	case "status":
		return reply(svc.status(s)+svc.absent(), []statusJSON{svc.statusOf(s)})
	case "tasks":
		text := bot.TasksTable(s, 80, svc.now())
		if v.Args["why"] != "" {
			text = bot.TasksWhy(s, svc.now())
		}
		return reply(text, tasksOf(s))
	case "evidence":
		return svc.evidence(ctx, s, v.Args["task"], v.Args["html"] != "")
	case "net":
		n, err := bot.NetOf(ctx, svc, s)
		if err != nil {
			return api.Reply{}, err
		}
		return reply(n.Message(svc.now()).Text(80), []bot.Net{n})
	case "forecast":
		o := svc.outlook(ctx, s)
		return reply(bot.Night(s, o, svc.now()).Text(80), o)
	case "verify":
		return svc.verify(ctx, v.Project, v.Args["head"])
	case "replay":
		return svc.replay(ctx, s, v.Args["to"])
	case "stats":
		return svc.statsView(ctx, s.Project.Name, v.Args)
	case "digest":
		return svc.digestView(ctx, s.Project.Name, v.Args)
	}
	return api.Reply{Text: "no view " + v.Name}, nil
}

// outlook returns what a project's run, or the next one, will probably get done. Where no
// daemon works on the project its source is not read: the last reading stands.
func (svc *Service) outlook(ctx context.Context, s loop.State) *ledger.Outlook {
	name, host := s.Project.Name, svc.Host()
	if pr, ok := svc.o.Projects.Find(name); ok && s.Project.Run.Over() && !svc.o.Projects.Works(name) {
		cfg := svc.o.Projects.Config()
		if set, err := pr.Settings(cfg, config.Overrides{}, svc.now()); err == nil {
			if o, known := loop.NextOutlook(s, set, cfg.Budget.Day(), svc.now(), host.histories(name)...); known {
				return o
			}
		}
	}
	return bot.OutlookOf(ctx, host, s, svc.now())
}

// sharedViews are the views that belong to no single project.
var sharedViews = map[string]func(*Service, context.Context, api.View) (api.Reply, error){
	"pair": (*Service).pair, "pairing": (*Service).pairing, "people": (*Service).people, "unpair": (*Service).unpair, "export": (*Service).export,
	"backup": (*Service).backup, "prompt": (*Service).prompt, api.ViewWatch: (*Service).watch, api.ViewPane: (*Service).pane,
}
