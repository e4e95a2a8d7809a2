package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/prompt"
)

// maxDiff limits the diff that a session gets, in bytes. Its prompt has a part of
// it.
const maxDiff = 4 << 20

func (e *Engine) runSession(ctx context.Context, project string, ports Ports, b ledger.EffectStart) (loop.InputBody, error) {
	preparing, prepared := e.preparing.begin(ctx, b.Session)
	defer prepared()
	s, _ := e.State(project)
	ses, ok := s.Project.Session(b.Session)
	if !ok {
		return nil, nil // the session has ended already
	}
	place := ports.Place
	defer place.Sockets.Close(b.Session)
	known := place.Runner.Known(b.Session)
	if known {
		// An earlier process started the session. For a new session, the runner
		// opens the socket once the session's folder exists.
		if err := place.Sockets.Open(b.Session); err != nil {
			return nil, fmt.Errorf("socket of %s: %w", b.Session, err)
		}
	}
	if !known {
		if ses.Cut {
			return e.notBegun(b.Session), nil
		}
		l, cached, err := e.prepareLaunch(preparing, s, ses, ports, b)
		if e.isCut(project, b.Session) {
			return e.notBegun(b.Session), nil
		}
		if err != nil {
			return nil, err
		}
		if cached {
			now := e.o.Clock()
			return loop.SessionExited{Exit: ledger.Exit{
				Session: b.Session, Reason: ledger.ExitSelf, Cached: true, Turns: -1, Tokens: -1, CostUSD: 0, Started: now, Ended: now,
			}}, nil
		}
		crash.Point("before-start")
		if err := place.Runner.Start(preparing, l); err != nil {
			if e.isCut(project, b.Session) {
				return e.notBegun(b.Session), nil
			}
			return nil, err
		}
		crash.Point("after-start")
	}
	if ses.Planned.Network == ledger.NetworkNone {
		asking, stop := context.WithCancel(ctx)
		defer stop()
		e.spawn(func() { e.watchHosts(asking, project, place.Runner, b.Session) })
	}
	x, err := place.Runner.Wait(ctx, b.Session)
	if err != nil {
		return nil, err
	}
	if ses.Planned.Kind == ledger.KindShot {
		if err := e.keepPicture(place.Runner, &x); err != nil {
			return nil, err
		}
	}
	return loop.SessionExited{Exit: x}, nil
}

// watchHosts passes on the hosts that a session asks for, until ctx ends. The key of
// each has it decided once, however often it is reported.
func (e *Engine) watchHosts(ctx context.Context, project string, runner Runner, session string) {
	err := runner.HostRequests(ctx, session, func(h ledger.HostRequest) {
		e.untilSaved(ctx, project, func() error {
			_, err := e.Do(ctx, loop.Input{Key: loop.HostKey(h), Project: project, Actor: "agent", Body: loop.HostAsked{Request: h}})
			return err
		})
	})
	if err != nil && ctx.Err() == nil { // hosts that it asks for stay closed
		e.o.Log.Warn("hosts that a session asks for are not seen", "project", project, "session", session, "error", err)
	}
}

// network returns what a session may reach. It is an error if this machine cannot
// hold it to that.
func network(s loop.State, session string, agents Agents) (ledger.Network, error) {
	n := s.Network(session)
	if f, lacking := LacksNetwork(n.Mode, agents); lacking {
		return n, &ledger.InputError{Diagnostics: []ledger.Diagnostic{f}}
	}
	return n, nil
}

// LacksNetwork returns the finding that prevents sessions with a mode of the network
// which this machine cannot hold them to. lacking is false if it can.
func LacksNetwork(mode ledger.NetworkMode, agents Agents) (f ledger.Diagnostic, lacking bool) {
	if !mode.Closes() {
		return f, false
	}
	ok, why := agents.ClosedNetwork()
	return ledger.Diagnostic{
		Text:   "this machine has no closed network for sessions: " + why,
		Remedy: "Use a machine that shuts sessions in by level 3 or 2: nightporter doctor says what that needs.",
	}, !ok
}

// Touch reports a sign of life of a project's session to its place.
func (e *Engine) Touch(project, session string) {
	if ports, ok := e.portsOf(project); ok {
		ports.Place.Runner.Touch(session)
	}
}

// prepareLaunch prepares the folder that a session runs in and collects what its
// process needs. cached reports that nothing has to run: the layer that the setup
// command would make is there.
func (e *Engine) prepareLaunch(ctx context.Context, s loop.State, ses loop.Session, ports Ports, b ledger.EffectStart) (l ledger.Launch, cached bool, err error) {
	run := s.Project.Run
	l = ledger.Launch{
		Session: ses.ID, Project: s.Project.Name, Run: run.ID, Task: ses.Task, Kind: ses.Planned.Kind,
		Hat: ses.Planned.Hat, Agent: ses.Planned.Agent, Model: ses.Planned.Model, Command: ses.Planned.Command,
		Wall: ses.Planned.Wall, Stall: ses.Planned.Stall,
	}
	work := workUse(s, ses, b.Tree)
	place := ports.Place.Folders.Work(work)
	l.Work, l.Mounts = place.Dir, place.Mounts
	if l.Network, err = network(s, ses.ID, ports.Place.Agents); err != nil {
		return l, false, err
	}
	use := b.Room
	if b.Clean != "" {
		use = &ledger.RoomUse{Tree: b.Clean}
	}
	if ses.Planned.Kind != ledger.KindAgent && run.Settings.ProposesSetup() {
		if ses.Planned.Command, use, err = resolveSetup(ctx, ports, ses.Planned.Command, b.Tree, use); err != nil {
			return l, false, err
		}
		l.Command = ses.Planned.Command
		cached = l.Command == "" // nothing is proposed for this tree
	}
	switch {
	case cached && use != nil:
		return l, true, nil
	case use != nil:
		room, err := room(ctx, ports.Place.Rooms, *use, b.Anew, ses)
		if err != nil {
			return l, false, err
		}
		l.Work, l.Mounts, cached = room.Dir, room.Mounts, room.Done
		l.Cache = cacheOfCheck(run, ses, room, *use, b.Anew)
	case b.Restore:
		if err := ports.Place.Folders.Restore(ctx, work); err != nil {
			return l, false, fmt.Errorf("restore the work folder: %w", err)
		}
	}
	if use == nil {
		l.Cache = cacheOfWork(s, ses)
	}
	l.Cache.Beside = run.Lanes() > 1 || len(s.Project.Sessions) > 1
	if ses.Planned.Kind != ledger.KindAgent {
		return l, cached, nil
	}
	if err := e.checkScope(ctx, s, ses.ID, ports, b.Tree); err != nil {
		return l, false, err
	}
	m, err := Material(ctx, s, ses.ID, ports.Files, ports.Notebook, e.o.Attachments)
	if err != nil {
		return l, false, err
	}
	p, err := prompt.Build(s, ses.ID, m)
	if err != nil {
		return l, false, err
	}
	l.MaxUSD, l.MaxTokens = ses.Planned.Reserved.MaxUSD, ses.Planned.Reserved.MaxTokens
	hat := run.Settings.Hats[ses.Planned.Hat]
	l.Prompt, l.Context, l.Denied, l.Effort = p.Text, p.Context, hat.Denied, hat.Effort
	l.Protected = run.Settings.Protected
	l.Allowed = run.Settings.Allow
	if t, ok := s.Project.Find(ses.Task); ok {
		l.Allowed = slices.Concat(l.Allowed, t.Task.Allow)
	}
	l.Token = ports.Place.Sockets.Token(ses.ID)
	return l, false, nil
}

// workUse returns the work folder that a session uses: that of its task's lane.
func workUse(s loop.State, ses loop.Session, tree string) ledger.WorkUse {
	run := s.Project.Run
	use := ledger.WorkUse{Run: run.ID, Lanes: run.Lanes(), Tree: tree}
	for _, c := range run.Settings.Setup {
		use.Setup = append(use.Setup, c.Run)
	}
	if t, ok := s.Project.Find(ses.Task); ok && t.Attempt != nil {
		use.Lane = t.Attempt.Lane
	}
	return use
}

// resolveSetup replaces ledger.ProposedSetup by the commands that are proposed for
// the tree, as one command, "" if there are none.
func resolveSetup(ctx context.Context, ports Ports, command, tree string, use *ledger.RoomUse) (string, *ledger.RoomUse, error) {
	if use != nil {
		tree = use.Tree
	} else if command != ledger.ProposedSetup {
		return command, use, nil
	}
	var all []string
	if ports.Proposed != nil {
		proposed, err := ports.Proposed(ctx, tree)
		if err != nil {
			return "", nil, fmt.Errorf("propose setup: %w", err)
		}
		for _, run := range proposed {
			all = append(all, fmt.Sprintf("{ echo '+ %s' && (%s); }", strings.ReplaceAll(run, "'", `'\''`), run))
		}
	}
	joined := strings.Join(all, " && ")
	if use != nil {
		u := *use
		if u.Setup = nil; joined != "" {
			u.Setup = []string{joined}
		}
		use = &u
	}
	if command == ledger.ProposedSetup {
		command = joined
	}
	return command, use, nil
}

// room returns the room of a command.
func room(ctx context.Context, rooms Rooms, use ledger.RoomUse, anew bool, ses loop.Session) (ledger.Room, error) {
	if ses.Planned.Kind != ledger.KindSetup {
		return rooms.LayRoom(ctx, use, anew)
	}
	n := slices.Index(use.Setup, ses.Planned.Command)
	if ses.Planned.Repeat {
		n = max(n, 1) // a repeated command finds the folder as it left it
	}
	return rooms.SetupRoom(ctx, use, n)
}

// cacheOfCheck returns the caches of a command that runs in a room. Setup of
// committed files writes the project's own, and so do the checks of a commit that
// the person has on their branch. Setup of other files keeps its caches with its
// layer; all other checks forget theirs.
func cacheOfCheck(run *loop.Run, ses loop.Session, room ledger.Room, use ledger.RoomUse, anew bool) ledger.CacheUse {
	first, own := slices.Index(use.Setup, ses.Planned.Command) <= 0, "check"
	if use.Own > 0 {
		own = fmt.Sprintf("check-%d", use.Own)
	}
	layer := ""
	if room.Layer != "" {
		layer = "layer-" + room.Layer
	}
	switch {
	case ses.Planned.Kind == ledger.KindSetup && layer == "":
		return ledger.CacheUse{Trusted: true}
	case ses.Planned.Kind == ledger.KindSetup:
		return ledger.CacheUse{Name: layer, Anew: anew && first}
	case ses.Planned.Kind == ledger.KindBaseline && run.Base.Commit == run.Base.Head:
		return ledger.CacheUse{Trusted: true}
	}
	return ledger.CacheUse{Name: own, Over: layer, Anew: anew}
}

// cacheOfWork returns the caches of a session that runs in the work folder: the
// project's own for setup of the commit that the run starts from, else those of
// its task's attempt.
func cacheOfWork(s loop.State, ses loop.Session) ledger.CacheUse {
	t, ok := s.Project.Find(ses.Task)
	if !ok || t.Attempt == nil {
		return ledger.CacheUse{Trusted: ses.Planned.Kind == ledger.KindSetup}
	}
	id := sha256.Sum256([]byte(ledger.FoldID(ses.Task)))
	return ledger.CacheUse{Name: fmt.Sprintf("task-%s-%x-a%d", s.Project.Run.ID, id[:4], t.Attempt.N)}
}

func (e *Engine) checkScope(ctx context.Context, s loop.State, session string, ports Ports, tree string) error {
	scope, writes := loop.ScopeOf(s, session)
	if !writes || ports.Scoper == nil {
		return nil
	}
	scope.Never = ports.Source.Owned()
	_, _, err := ports.Scoper.ResolveScope(ctx, tree, scope)
	var in *ledger.InputError
	if errors.As(err, &in) {
		return in
	}
	if err != nil {
		return fmt.Errorf("scope: %w", err)
	}
	return nil
}

// Material collects the files for a session's prompt: conventions and files
// from the commit that its attempt builds on, and the project's notebooks,
// which exist only in the person's checkout. With nil notes there are no
// notebooks, with nil attachments no pictures.
func Material(ctx context.Context, s loop.State, session string, files Files, notes Notebook, attachments Attachments) (prompt.Material, error) {
	var m prompt.Material
	needs, ok := prompt.Needs(s, session)
	if !ok {
		return m, nil
	}
	read := func(path string) (prompt.File, error) {
		var text []byte
		var err error
		switch {
		case !prompt.InNotebook(path):
			text, err = files.Read(ctx, needs.Rev, path)
		case notes != nil:
			if text, err = notes.Read(ctx, path); err != nil {
				// A missing notebook must not hold up the run.
				text, err = []byte("(cannot be read: "+err.Error()+")"), nil
			}
		}
		if err != nil {
			err = fmt.Errorf("read %s: %w", path, err)
		}
		return prompt.File{Path: path, Text: strings.ToValidUTF8(string(text), "\uFFFD")}, err
	}
	for _, path := range []string{"AGENTS.md", "CLAUDE.md"} {
		f, err := read(path)
		if err != nil {
			return m, err
		}
		if f.Text != "" {
			m.Conventions = append(m.Conventions, f)
		}
	}
	for _, path := range needs.Load {
		f, err := read(path)
		if err != nil {
			return m, err
		}
		if f.Text != "" {
			m.Loaded = append(m.Loaded, f)
		}
	}
	if c := needs.Conflict; c != nil {
		var err error
		if m.Mine, err = files.Changes(ctx, c.Base, c.Mine, maxDiff); err == nil {
			m.Theirs, err = files.Changes(ctx, c.Base, c.Theirs, maxDiff)
		}
		if err != nil {
			return m, fmt.Errorf("both sides for the prompt: %w", err)
		}
	}
	var err error
	if m.Pictures, err = pictures(needs.Pictures, attachments); err != nil || needs.From == "" {
		return m, err
	}
	if m.Changes, err = files.Changes(ctx, needs.From, needs.To, maxDiff); err != nil {
		return m, fmt.Errorf("changes for the prompt: %w", err)
	}
	return m, nil
}
