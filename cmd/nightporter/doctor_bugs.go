package main

import (
	"context"
	"errors"
	"net"
	"slices"
	"syscall"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/intake"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// checkBugs checks the section [bugs]: the token, the address and the inbox of the
// reports that sites post.
func checkBugs(ctx context.Context, p *doctorContext) []finding {
	b := p.cfg.Bugs
	if !p.usable || b == nil {
		return nil
	}
	var out []finding
	if _, err := forge.ReadToken(b.TokenFile, config.IsCredential(b.TokenFile)); err != nil {
		out = append(out, findFix("make one: (umask 077; openssl rand -hex 32 > "+quote(b.TokenFile)+")", "%s", tokenReason(err)))
	} else {
		out = append(out, findOK("token in %s", b.TokenFile))
	}
	return append(append(out, checkBugsAddress(ctx, p, b.Listen)), checkInbox(ctx, p)...)
}

// checkBugsAddress checks whether nightporter listens at the address, or could.
func checkBugsAddress(ctx context.Context, p *doctorContext, address string) finding {
	if p.daemon {
		return askIntake(ctx, address)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return findFix("end what listens there, or name another port: [bugs] listen", "no reports can be taken at %s: %s", address, netReason(err))
	}
	_ = l.Close() // nothing was accepted
	return findOK("%s is free; nightporter up takes reports there", address)
}

// askIntake asks who answers at the address while nightporter runs.
func askIntake(ctx context.Context, address string) finding {
	takes, answer, err := intake.Probe(ctx, address)
	switch {
	case err != nil:
		return findLook("its log says why; nightporter up again takes a changed address", "nightporter runs, and takes no reports at %s: %s", address, netReason(err))
	case !takes:
		return findFix("end what listens there, or name another port: [bugs] listen", "something else answers at %s (%s)", address, answer)
	}
	return findOK("takes reports at http://%s", address+intake.Path)
}

// checkInbox checks whether the project's inbox can be read, and takes reports.
func checkInbox(ctx context.Context, p *doctorContext) []finding {
	name := p.cfg.BugsProject()
	at := slices.IndexFunc(p.cfg.Projects, func(pr config.Project) bool { return pr.Name == name })
	if at < 0 {
		return nil // the check of the configuration reports it
	}
	s, err := p.cfg.Projects[at].Settings(p.cfg, config.Overrides{}, p.now)
	if err != nil {
		return nil // the check of the project reports it
	}
	if s.Source, err = project.Inbox(s); err != nil {
		return ofProject(name, fromError(err))
	}
	source, err := (&project.Sources{Config: func() *config.Config { return p.cfg }}).Open(s.Project, s.Repo, s.Remote, s.Source, task.Options{})
	if err == nil {
		err = task.TakesTasks(source)
	}
	var read ledger.Snapshot
	if err == nil {
		read, err = source.Read(ctx)
	}
	if err != nil {
		return ofProject(name, fromError(err))
	}
	open := 0
	for _, t := range read.Tasks {
		if t.Mark == ledger.MarkOpen {
			open++
		}
	}
	return ofProject(name, []finding{findOK("%s: %s, %d open", s.Source.Path, countNoun(len(read.Tasks), "report"), open)})
}

// tokenReason says why a token cannot be read.
func tokenReason(err error) string {
	if f, ok := errors.AsType[*ledger.ForgeError](err); ok {
		return f.Text
	}
	return err.Error()
}

// netReason says why an address cannot be had or reached, without the address.
func netReason(err error) string {
	if no, ok := errors.AsType[syscall.Errno](err); ok {
		return no.Error()
	}
	return err.Error()
}
