package operator

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/tui"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/logging"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// watch answers with the scene of a project's live screen. It waits up to
// longPoll until the scene differs from the one with the tag Args["seen"],
// which the last answer gave.
func (svc *Service) watch(ctx context.Context, v api.View) (api.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, longPoll)
	defer cancel()
	for {
		rung := svc.o.Changes.Next()
		name := v.Project
		if name == "" {
			name = svc.defaultProject()
		}
		s, ok := svc.State(name)
		if !ok && name != "" {
			return api.Reply{Text: fmt.Sprintf("✗ there is no project %q here (there are: %s)", name, strings.Join(svc.Projects(), " "))}, nil
		}
		scene, head, err := svc.scene(ctx, name, s)
		if err != nil {
			return api.Reply{}, err
		}
		over := false
		if scene.Version == v.Args[api.ArgSeen] {
			select {
			case <-rung:
				continue
			case <-changeTimer(scene):
				continue
			case <-svc.o.Closing:
				return api.Reply{}, fmt.Errorf("%w: nightporter restarts", api.ErrLater)
			case <-ctx.Done(): // nothing new, or the client has gone
				over = true
			}
		}
		if scene.Events, err = svc.lastLines(context.WithoutCancel(ctx), name, head); err != nil {
			return api.Reply{}, err
		}
		if over {
			return reply("", scene)
		}
		return reply(scene.Sign+" "+scene.Word, scene)
	}
}

// outputInterval is the interval at which the output of a running session is
// read. New output does not signal Changes: it would do so more often than a
// person can read.
const outputInterval = time.Second

// changeTimer returns a channel that fires when the scene may have changed
// without a new ledger entry, or nil if it cannot change.
func changeTimer(scene tui.Scene) <-chan time.Time {
	if scene.Current == nil || scene.Current.Session == "" {
		return nil
	}
	return time.After(outputInterval)
}

// defaultProject returns the project that the live screen shows by default: the
// first with an unfinished run that this process works on, else the first.
func (svc *Service) defaultProject() string {
	names := svc.Projects()
	for _, name := range names {
		if s, ok := svc.State(name); ok && !s.Project.Run.Over() && svc.o.Projects.Works(name) {
			return name
		}
	}
	if len(names) > 0 {
		return names[0]
	}
	return ""
}

// scene returns a project's scene without its last log lines, and the number of
// the project's last entry.
func (svc *Service) scene(ctx context.Context, name string, s loop.State) (tui.Scene, int64, error) {
	zone := svc.o.Projects.Zone()
	var scene tui.Scene
	var head int64
	if name == "" {
		scene = tui.Scene{Sign: bot.SignLater, Word: "no project yet", Remarks: []string{"Begin with: nightporter run"}}
	} else {
		var err error
		if head, _, err = svc.o.Store.Head(context.WithoutCancel(ctx), ledger.ProjectStream(name)); err != nil {
			return scene, 0, err
		}
		scene = tui.SceneOf(s, time.Now().In(zone))
		sessions, err := svc.watched.read(context.WithoutCancel(ctx), svc.o.Store, s)
		if err != nil {
			return scene, 0, err
		}
		for _, x := range sessions {
			scene.Add(x.Hat, x.Start, x.End)
		}
		svc.addOutput(scene.Current)
		if o, _ := svc.o.Projects.Obstacle(name); !s.Project.Run.Over() && !svc.o.Projects.Works(name) && !o.Rests {
			scene.Remarks = append(scene.Remarks, bot.SignLook+" nobody works on it now: this nightporter runs another project")
		}
	}
	if scene.Projects = svc.Projects(); zone != time.Local {
		scene.Zone = zone.String()
	}
	scene.Remarks = append(scene.Remarks, svc.o.Projects.WarningsOf(name)...)
	raw, err := json.Marshal(scene)
	if err != nil {
		return scene, 0, fmt.Errorf("scene: %w", err)
	}
	sum := fnv.New64a()
	_, _ = sum.Write(raw) // never fails (hash)
	scene.Version = fmt.Sprintf("%d.%s", head, hex.EncodeToString(sum.Sum(nil)))
	return scene, head, nil
}

// addOutput adds the output of the running session. An error is only logged: the
// screen is useful without the output.
func (svc *Service) addOutput(h *tui.CurrentWork) {
	if h == nil || h.Session == "" {
		return
	}
	seen, err := svc.o.Sessions.OutputTail(h.Session, 2*tui.MaxOutput) // twice as many lines: some are empty after cleaning
	if err != nil {
		svc.o.Log.Debug("glimpse", "session", h.Session, "error", err)
	}
	for n, line := range seen.Lines {
		seen.Lines[n] = logging.Redact(line)
	}
	h.SetOutput(seen.Lines, seen.At)
}

// LastAction returns what a running session did last, for bot.StatusNow. An error
// is only logged: the action is then unknown.
func (svc *Service) LastAction(session string) string {
	action, err := svc.o.Sessions.LastAction(session)
	if err != nil {
		svc.o.Log.Debug("last action", "session", session, "error", err)
	}
	return logging.Redact(action)
}

// lastEntries limits how many entries are read for the screen's last lines. A
// run of hundreds of sessions must not be read whole for forty lines.
const lastEntries = 600

// lastLines renders the latest entries as /log does.
func (svc *Service) lastLines(ctx context.Context, name string, head int64) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	var records []ledger.Record
	err := svc.o.Store.Records(ctx, ledger.ProjectStream(name), max(head-lastEntries, 0), func(r ledger.Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tui.Lines(bot.Log(name, "", records, svc.now())), nil
}
