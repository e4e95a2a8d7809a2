package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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
	s, _ := e.State(project)
	ses, ok := s.Project.Session(b.Session)
	if !ok {
		return nil, nil // the session has ended already
	}
	defer e.o.Sockets.Close(b.Session)
	known := e.o.Runner.Known(b.Session)
	if known {
		// An earlier process started the session. For a new session, the runner
		// opens the socket once the session's folder exists.
		if err := e.o.Sockets.Open(b.Session); err != nil {
			return nil, fmt.Errorf("socket of %s: %w", b.Session, err)
		}
	}
	if !known {
		if ses.Cut { // the session was cut off before its start
			return loop.SessionExited{Exit: ledger.Exit{
				Session: b.Session, Reason: ledger.ExitAsked, Code: -1, Turns: -1, Tokens: -1, CostUSD: 0, Started: e.o.Clock(), Ended: e.o.Clock(),
			}}, nil
		}
		l, err := e.prepareLaunch(ctx, s, ses, ports, b)
		if err != nil {
			return nil, err
		}
		crash.Point("before-start")
		if err := e.o.Runner.Start(ctx, l); err != nil {
			return nil, err
		}
		crash.Point("after-start")
	}
	x, err := e.o.Runner.Wait(ctx, b.Session)
	if err != nil {
		return nil, err
	}
	return loop.SessionExited{Exit: x}, nil
}

func (e *Engine) prepareLaunch(ctx context.Context, s loop.State, ses loop.Session, ports Ports, b ledger.EffectStart) (ledger.Launch, error) {
	run := s.Project.Run
	l := ledger.Launch{
		Session: ses.ID, Project: s.Project.Name, Run: run.ID, Task: ses.Task, Kind: ses.Planned.Kind,
		Hat: ses.Planned.Hat, Agent: ses.Planned.Agent, Model: ses.Planned.Model, Command: ses.Planned.Command,
		Wall: ses.Planned.Wall, Stall: ses.Planned.Stall, Work: ports.Files.Work(run.ID),
	}
	switch {
	case b.Clean != "":
		// Create the folder for the first command only: setup commands prepare
		// it for the following ones.
		folder, err := e.cleanFolder(ctx, ports, run.ID, b.Clean, ses.Planned.Index == 0 && !ses.Planned.Repeat)
		if err != nil {
			return l, fmt.Errorf("clean folder: %w", err)
		}
		l.Work = folder
	case b.Restore:
		if err := ports.Workspace.Restore(ctx, run.ID, b.Tree); err != nil {
			return l, fmt.Errorf("restore the work folder: %w", err)
		}
	}
	if ses.Planned.Kind != ledger.KindAgent {
		return l, nil
	}
	if err := e.checkScope(ctx, s, ses.ID, ports, b.Tree); err != nil {
		return l, err
	}
	m, err := Material(ctx, s, ses.ID, ports.Files, ports.Notebook)
	if err != nil {
		return l, err
	}
	p, err := prompt.Build(s, ses.ID, m)
	if err != nil {
		return l, err
	}
	hat := run.Settings.Hats[ses.Planned.Hat]
	l.Prompt, l.Context, l.Denied, l.Effort = p.Text, p.Context, hat.Denied, hat.Effort
	l.Protected = run.Settings.Protected
	l.Token = e.o.Sockets.Token(ses.ID)
	return l, nil
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

func (e *Engine) cleanFolder(ctx context.Context, ports Ports, run, commit string, anew bool) (string, error) {
	if !anew {
		return filepath.Join(filepath.Dir(ports.Files.Work(run)), "clean"), nil
	}
	return ports.Files.Clean(ctx, run, commit)
}

// Material collects the files for a session's prompt: conventions and files
// from the commit that its attempt builds on, and the project's notebooks,
// which exist only in the person's checkout. With nil notes there are no
// notebooks.
func Material(ctx context.Context, s loop.State, session string, files Files, notes Notebook) (prompt.Material, error) {
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
	if needs.From == "" {
		return m, nil
	}
	var err error
	if m.Changes, err = files.Changes(ctx, needs.From, needs.To, maxDiff); err != nil {
		return m, fmt.Errorf("changes for the prompt: %w", err)
	}
	return m, nil
}
