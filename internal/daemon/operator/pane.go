package operator

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot/tui"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
)

// paneContent is what a pane shows now. Its version is cheap to find out; build is
// called for one that the client has not seen.
type paneContent struct {
	version string
	live    bool // it can change without an entry
	build   func(context.Context) (tui.Pane, error)
}

// panes are the contents of all panes, of the task that was asked for.
var panes = map[tui.PaneKind]func(svc *Service, ctx context.Context, s loop.State, task string) (paneContent, error){
	tui.PaneOutput: (*Service).outputPane, tui.PanePlan: (*Service).planPane, tui.PaneDiff: (*Service).diffPane,
}

// pane answers with a pane of a project's large screen. Like watch, it waits up to
// longPoll until it differs from the one with the tag Args["seen"].
func (svc *Service) pane(ctx context.Context, v api.View) (api.Reply, error) {
	kind, seen := v.Args[api.ArgPane], v.Args[api.ArgSeen]
	show, known := panes[tui.PaneKind(kind)]
	if !known {
		return api.Reply{Text: "✗ there is no pane " + strconv.Quote(kind)}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, longPoll)
	defer cancel()
	for {
		rung := svc.o.Changes.Next()
		s, ok := svc.State(v.Project)
		if !ok {
			return api.Reply{Text: fmt.Sprintf("✗ there is no project %q here", v.Project)}, nil
		}
		content, err := show(svc, context.WithoutCancel(ctx), s, v.Args[api.ArgTask])
		if err != nil {
			return api.Reply{}, err
		}
		rest := svc.rests.of(kind + " " + v.Project)
		if content.version != seen && (seen == "" || rest <= 0) {
			return reply("", svc.buildPane(ctx, kind+" "+v.Project, content))
		}
		// What is behind one that is built too often is looked at after the rest; a
		// burst of entries is one change.
		var ticks <-chan time.Time
		if content.version != seen {
			rung, ticks = nil, time.After(rest)
		} else if content.live {
			ticks = time.After(outputInterval)
		}
		select {
		case <-rung:
			ticks = time.After(paneInterval)
		case <-ticks:
			continue
		case <-svc.o.Closing:
			return api.Reply{}, fmt.Errorf("%w: nightporter restarts", api.ErrLater)
		case <-ctx.Done(): // nothing new, or the client has gone
			return reply("", tui.Pane{Version: seen, Same: true})
		}
		select {
		case <-ticks:
		case <-svc.o.Closing:
		case <-ctx.Done():
		}
	}
}

// paneInterval is how long a pane waits for more entries after the first one.
const paneInterval = 250 * time.Millisecond

// buildPane builds a pane. An error becomes its note: the rest of the screen is
// useful without it.
func (svc *Service) buildPane(ctx context.Context, key string, c paneContent) tui.Pane {
	began := time.Now()
	p, err := c.build(ctx)
	if err != nil {
		svc.o.Log.Warn("pane", "pane", key, "error", err)
		p = tui.Pane{Note: "cannot be shown; see nightporter.log"}
	}
	p.Version = c.version
	svc.rests.set(key, began, time.Now())
	return p
}

// paneRests are the times until which panes are not built again, so that a screen of
// a huge diff or a wild output takes no more than a tenth of a processor.
type paneRests struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (r *paneRests) set(key string, began, ended time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until == nil {
		r.until = map[string]time.Time{}
	}
	r.until[key] = ended.Add(9 * ended.Sub(began))
}

func (r *paneRests) of(key string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Until(r.until[key])
}
