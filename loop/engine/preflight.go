package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// minDisk is the least free space, in bytes, with which a run starts (docs/spec 2.0).
const minDisk = 2 << 30

// preflight checks every condition that would otherwise fail during the night,
// and lists all problems at once (docs/spec 2.0). Setup and baseline follow as
// sessions, because they need the boundary.
func (e *Engine) preflight(ctx context.Context, project string, begin ledger.Begin, ports Ports) (loop.InputBody, error) {
	s, _ := e.State(project)
	run := s.Project.Run
	if run.Over() || run.ID != begin.Run {
		return nil, nil
	}
	settings := run.Settings
	out := loop.Preflighted{Run: begin.Run}
	problem := func(err error) error {
		var in *ledger.InputError
		if errors.As(err, &in) {
			out.Problems = append(out.Problems, in.Diagnostics...)
			return nil
		}
		return err
	}

	if begin.Upkeep != nil {
		upkeep := *begin.Upkeep
		begin.Upkeep = &upkeep
		if err := fetchRequest(ctx, ports, begin, &out); err != nil {
			return nil, fmt.Errorf("look at request %d: %w", upkeep.Number, err)
		}
		if begin.Upkeep.Head == "" {
			return out, nil // it is not open, or its branch is gone
		}
	}
	begin, notes, err := startBase(ctx, ports, settings, begin)
	out.Warnings = append(out.Warnings, notes...)
	var base ledger.Base
	if err == nil {
		base, err = ports.Repository.Begin(ctx, begin)
	}
	if err != nil {
		if err := problem(err); err != nil {
			return nil, fmt.Errorf("look at the repository: %w", err)
		}
	}
	if !run.Aside() {
		if err := e.preflightSource(ctx, ports, settings, base, &out, problem); err != nil {
			return nil, err
		}
		if err := preflightRemote(ctx, ports, settings, base, &out); err != nil {
			return nil, fmt.Errorf("look at the remote: %w", err)
		}
	}
	if settings.ProposesSetup() && base.Tree != "" && ports.Proposed != nil {
		proposed, err := ports.Proposed(ctx, base.Tree)
		if err != nil {
			return nil, fmt.Errorf("propose setup: %w", err)
		}
		if len(proposed) > 0 {
			out.Warnings = append(out.Warnings, ledger.Diagnostic{
				Text: "no setup is set: " + strings.Join(proposed, ", ") + " is run, as init would propose", Remedy: "Set setup, or setup = [] to run none.",
			})
		}
	}
	if base.Tree != "" && ports.Toolchains != nil {
		missing, err := ports.Toolchains(ctx, base.Tree)
		if err != nil {
			return nil, fmt.Errorf("look at toolchains: %w", err)
		}
		out.Warnings = append(out.Warnings, missing...)
	}
	if ports.Installed != nil {
		f, lacking := loop.LacksBrowser(settings, ports.Installed)
		if base.NoBrowser = lacking; lacking {
			out.Warnings = append(out.Warnings, f)
		}
	}
	asked := settings // a single task may ask for the critic too
	for _, t := range out.Snapshot.Tasks {
		asked.Consensus = asked.Consensus || t.Consensus && t.Mark == ledger.MarkOpen
	}
	agents, own := AgentsOf(asked), ownAgents(asked)
	for _, t := range out.Snapshot.Tasks {
		if t.Role != "" && t.Mark == ledger.MarkOpen {
			agents, own = append(agents, AgentsOf(asked.For(t))...), append(own, ownAgents(asked.For(t))...)
		}
	}
	for _, t := range out.Snapshot.Tasks {
		switch second, problem := loop.SecondReviewer(settings, t); {
		case problem != nil:
			out.Problems = append(out.Problems, *problem)
		case second != "":
			agents, own = append(agents, second), append(own, second)
		}
	}
	for n, name := range agents {
		if slices.Contains(agents[:n], name) {
			continue
		}
		if err := ports.Place.Agents.Check(ctx, name); err != nil {
			if fault.Of(err) != "" {
				return nil, fmt.Errorf("look at agent %q: %w", name, err)
			}
			if !slices.Contains(own, name) { // the night can do without it
				out.Warnings = append(out.Warnings, cannotTakeOver(name, err)...)
				continue
			}
			if err := problem(err); err != nil {
				out.Problems = append(out.Problems, ledger.Diagnostic{Text: fmt.Sprintf("agent %q: %v", name, err)})
			}
		}
	}
	warnings, err := readsRepository(ctx, ports, settings, base.Tree, agents)
	if err != nil {
		return nil, err
	}
	out.Warnings = append(out.Warnings, warnings...)
	for _, name := range settings.Others {
		if err := ports.Place.Agents.Check(ctx, name); err != nil && fault.Of(err) == "" {
			base.Unready = append(base.Unready, name)
		}
	}
	if base.OneSession, err = oneSession(ports, slices.Concat(agents, settings.Others)); err != nil {
		return nil, err
	}
	if err := ports.Place.Agents.CheckCommands(project); err != nil {
		if err := problem(err); err != nil {
			return nil, fmt.Errorf("look at what commands get: %w", err)
		}
	}
	if f, unproved := settings.Unproved(); unproved {
		out.Problems = append(out.Problems, f)
	}
	level, reasons := ports.Place.Agents.Level()
	base.Boundary = level
	preflightNetwork(s.Project, settings, ports.Place.Agents, e.o.Clock(), &base, &out)
	if len(out.Problems) == 0 && !run.Aside() {
		if err := preflightHosts(ctx, s.Project, settings, slices.Compact(slices.Sorted(slices.Values(agents))), ports, e.o.Clock(), &out); err != nil {
			return nil, err
		}
	}
	mounts, _ := ports.Place.Agents.Mounts()
	base.Copies = !mounts
	if f, weak := WeakBoundary(settings.Boundary, level, reasons); weak {
		out.Problems = append(out.Problems, f)
	}
	if e.o.FreeDisk != nil {
		if free, err := e.o.FreeDisk(); err == nil {
			switch f, low := LowDisk(free); {
			case low && settings.Stays:
				return nil, littleSpace(f.Text)
			case low:
				out.Problems = append(out.Problems, f)
			}
		}
	}
	out.Base = base
	return out, nil
}

// oneSession returns those of some agents whose login allows one session at a time.
func oneSession(ports Ports, agents []string) (some []string, err error) {
	if ports.OneSession == nil {
		return nil, nil
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(agents))) {
		one, err := ports.OneSession(name)
		if err != nil {
			return nil, fmt.Errorf("look at the login of agent %q: %w", name, err)
		}
		if one {
			some = append(some, name)
		}
	}
	return some, nil
}

// preflightNetwork finds out whether sessions can have the network that the run needs
// for them, and says once what text by strangers makes of it.
func preflightNetwork(p loop.Project, settings ledger.Settings, agents Agents, at time.Time, base *ledger.Base, out *loop.Preflighted) {
	if ok, why := agents.ClosedNetwork(); !ok {
		base.NoClosed = cmp.Or(why, "it could not be tried")
	}
	needs, byText := p.NeedsClosed(settings, at)
	if f, closes := p.ClosedByTaints(settings, at); closes && needs == "" {
		out.Warnings = append(out.Warnings, f)
	}
	if needs == "" {
		return
	}
	if f, lacking := LacksNetwork(ledger.NetworkNone, agents); lacking {
		f.Text = needs + ": " + f.Text
		if byText {
			f.Remedy += " To accept an open network until morning: /net open"
		}
		out.Problems = append(out.Problems, f)
		return
	}
	if byText {
		out.Warnings = append(out.Warnings, p.ClosedByStrangers(settings))
	}
}

// preflightHosts finds out which hosts the agents ask for whose sessions may have a
// closed network. An agent that cannot be tried is a warning: its sessions will say
// why they do not start.
func preflightHosts(ctx context.Context, p loop.Project, settings ledger.Settings, agents []string, ports Ports, at time.Time, out *loop.Preflighted) error {
	if ports.WantedHosts == nil {
		return nil
	}
	for _, name := range agents {
		if !p.ClosesAgent(settings, name, at) {
			continue
		}
		hosts, err := ports.WantedHosts(ctx, name)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			if fault.Of(err) != "" {
				return fmt.Errorf("look for the hosts of agent %q: %w", name, err)
			}
			out.Warnings = append(out.Warnings, ledger.Diagnostic{Text: fmt.Sprintf("which hosts agent %s needs is unknown: %v", name, err)})
			continue
		}
		if len(hosts) > 0 {
			out.Wanted = append(out.Wanted, loop.AgentHosts{Agent: name, Hosts: hosts})
		}
	}
	return nil
}

// preflightSource reads the source of a run, and checks what its settings and tasks
// name. problem sorts an error into the report, or returns it.
func (e *Engine) preflightSource(ctx context.Context, ports Ports, settings ledger.Settings, base ledger.Base, out *loop.Preflighted, problem func(error) error) (err error) {
	out.Snapshot, err = ports.Source.Read(ctx)
	if err != nil {
		if err := problem(err); err != nil {
			return fmt.Errorf("read the source: %w", err)
		}
	}
	out.Warnings = append(out.Warnings, out.Snapshot.Warnings...)
	out.Problems = append(out.Problems, loop.CheckTasks(settings, out.Snapshot)...)
	for _, id := range []string{settings.From, settings.Only} {
		if id != "" && err == nil && !hasTask(out.Snapshot, id) {
			out.Problems = append(out.Problems, ledger.Diagnostic{Text: fmt.Sprintf("there is no task %q in %s", id, settings.Source.Path)})
		}
	}
	if base.Tree == "" {
		return nil
	}
	if err := e.preflightScopes(ctx, ports, settings, base.Tree, out); err != nil {
		return fmt.Errorf("resolve scopes: %w", err)
	}
	return nil
}

// WeakBoundary returns the finding that prevents a run whose settings require a
// stronger boundary than the machine has (docs/spec 12.1). level is the
// machine's, and reasons say why it is not higher. weak is false if the run may
// start.
func WeakBoundary(setting string, level int, reasons []string) (f ledger.Diagnostic, weak bool) {
	if setting != "required" || level >= 2 {
		return f, false
	}
	return ledger.Diagnostic{
		Text:   fmt.Sprintf("boundary = \"required\", and this machine gives only level %d: %v", level, reasons),
		Remedy: "Use a kernel with Landlock (5.13 or newer), or leave boundary out.",
	}, true
}

// littleSpace is the error of a start with less space than a run needs. Under
// `nightporter up` the run waits for space, as it would later in the night.
type littleSpace string

func (e littleSpace) Error() string { return string(e) }

// Fault makes the error one of the machine.
func (littleSpace) Fault() ledger.Fault { return ledger.FaultDisk }

// LowDisk returns the finding that prevents a run when the disk of the state
// folder has only free bytes left (docs/spec 2.0). low is false if the run may
// start.
func LowDisk(free uint64) (f ledger.Diagnostic, low bool) {
	if free >= minDisk {
		return f, false
	}
	return ledger.Diagnostic{
		Text:   fmt.Sprintf("%.1f GiB are free where state is kept; 2 GiB are the least", float64(free)/(1<<30)),
		Remedy: "Make room, or move the state folder: --state DIR",
	}, true
}

func hasTask(s ledger.Snapshot, id string) bool {
	tasks := make([]loop.TaskState, 0, len(s.Tasks))
	for _, t := range s.Tasks {
		tasks = append(tasks, loop.TaskState{Task: t})
	}
	_, ok := loop.Project{Tasks: loop.NewTaskList(tasks...)}.Find(id)
	return ok
}

// preflightScopes checks that every open task's scope permits at least one file.
// An error is a fault of the machine.
func (e *Engine) preflightScopes(ctx context.Context, ports Ports, s ledger.Settings, tree string, out *loop.Preflighted) error {
	for _, t := range out.Snapshot.Tasks {
		if t.Mark != ledger.MarkOpen {
			continue
		}
		hats := hatsOf(s.For(t))
		for _, name := range hats {
			hat := s.Hats[name]
			if !hat.Writes() {
				continue
			}
			_, findings, err := ports.Scoper.ResolveScope(ctx, tree, ledger.Scope{
				Task: t.Scope, Layout: s.Layout, Allowed: hat.WriteAllowed, Denied: hat.WriteDenied, Shipped: hat.Shipped, Adds: hat.OwnScope, Never: ports.Source.Owned(),
			})
			if fault.Of(err) != "" {
				return err
			}
			if err != nil {
				wrong := []ledger.Diagnostic{{Text: err.Error(), Remedy: "Name files or folders in the task's Scope."}}
				var in *ledger.InputError
				if errors.As(err, &in) {
					wrong = in.Diagnostics
				}
				for _, f := range wrong {
					f.File, f.Line, f.Text = s.Source.Path, t.Line, t.ID+": "+f.Text
					out.Problems = append(out.Problems, f)
				}
				break
			}
			if name == hats[0] || len(findings) > 0 {
				for _, f := range findings {
					f.File, f.Line, f.Text = s.Source.Path, t.Line, t.ID+": "+f.Text
					out.Warnings = append(out.Warnings, f)
				}
				break
			}
		}
	}
	return nil
}

// hatsOf returns the hats that the run's pattern uses, the starting hat first.
func hatsOf(s ledger.Settings) []string {
	names := []string{s.Pattern.Start}
	seen := map[string]bool{s.Pattern.Start: true, ledger.Converged: true}
	add := func(list ...string) {
		for _, name := range list {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	for _, r := range s.Pattern.Routes {
		add(r.From, r.To)
	}
	if s.Consensus || s.Pattern.Consensus {
		add(loop.Arguing()...)
	}
	if planner := s.Planner(); planner != "" && s.ReplanAfter > 0 {
		add(planner)
	}
	return names
}

// cannotTakeOver warns of a fallback agent that cannot be started.
func cannotTakeOver(agent string, err error) []ledger.Diagnostic {
	all := []ledger.Diagnostic{{Text: err.Error()}}
	var in *ledger.InputError
	if errors.As(err, &in) {
		all = slices.Clone(in.Diagnostics)
	}
	for n := range all {
		all[n].Text = fmt.Sprintf("%s cannot take over when another agent waits: %s", agent, all[n].Text)
	}
	return all
}

// ownAgents returns the agents that the hats of a run name themselves.
func ownAgents(s ledger.Settings) (names []string) {
	for _, hat := range hatsOf(s) {
		names = append(names, cmp.Or(s.Hats[hat].Agent, s.Agent))
	}
	return names
}

// AgentsOf returns the agents that a run with these settings may start,
// including the fallbacks, each once.
func AgentsOf(s ledger.Settings) []string { return s.AgentsFor(hatsOf(s)) }
