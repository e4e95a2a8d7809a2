package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/internal/toolchain"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
)

// checkBoundary runs a trial session at each level until one works.
func checkBoundary(_ context.Context, p *doctorContext) []finding {
	w, err := p.openTrial()
	if err != nil {
		return fromError(err)
	}
	level, reasons := w.runner.Level()
	why := strings.Join(reasons, "; ")
	if f, weak := engine.WeakBoundary(p.cfg.Boundary, level, reasons); weak {
		return ofSeverity(ledger.DiagnosticError, []ledger.Diagnostic{f})
	}
	const more = "docs/operating.md, Boundary, says what each level keeps out"
	network := closedNetworks(p, w.runner)
	switch level {
	case 3:
		return append([]finding{findOK("sessions write nothing outside, and do not see what is hidden (level 3)")}, network...)
	case 2:
		return append([]finding{findLook(more, "sessions write nothing outside, but see more than they need (level 2). %s", why)}, network...)
	case 1:
		return append([]finding{findLook(more, "a session can write whatever its user can (level 1). %s", why)}, network...)
	}
	return []finding{findFix(more, "no session can be started here: %s", why)}
}

// closedNetworks tells whether sessions can have a closed network, which some projects
// may need and others may wish for.
func closedNetworks(p *doctorContext, runner *agent.Runner) []finding {
	var users []string
	for _, pr := range p.cfg.Projects {
		if pr.ClosesNetwork() {
			users = append(users, pr.Name)
		}
	}
	const more = "docs/operating.md, Network, says what it needs"
	needed := strings.Join(users, ", ")
	switch ok, why := runner.ClosedNetwork(); {
	case !ok && needed == "":
		return []finding{findLook(more, "no session can have a closed network here, so none is given what strangers wrote: %s", why)}
	case !ok:
		return []finding{findFix(more, "sessions cannot have the closed network that %s needs: %s", needed, why)}
	case needed == "":
		return []finding{findOK("sessions can have a closed network")}
	}
	return []finding{findOK("sessions can have a closed network, as %s has", needed)}
}

// checkRooms tells how rooms and caches are made on this machine.
func checkRooms(_ context.Context, p *doctorContext) []finding {
	w, err := p.openTrial()
	if err != nil {
		return []finding{findUnchecked("no session can be tried here")}
	}
	if ok, why := w.runner.Mounts(); !ok {
		return []finding{findLook("docs/operating.md, Boundary, says what a level needs", "rooms and caches are copies, which is slower: %s", why)}
	}
	return []finding{findOK("rooms and caches are overlays: nothing is copied")}
}

// powerfulSocket matches names of sockets that give control over the host, a
// login or secrets.
var powerfulSocket = regexp.MustCompile(`docker|podman|containerd|crio|lxd|incus|libvirt|ssh|gpg|keyring|systemd/private|tmux|S\.|agent`)

// checkSockets reports the sockets that sessions can connect to. No level of
// the boundary prevents that on every system (docs/spec 12.1).
func checkSockets(_ context.Context, p *doctorContext) []finding {
	w, err := p.openTrial()
	if err != nil {
		return []finding{findUnchecked("no session can be tried here")}
	}
	if level, _ := w.runner.Level(); level == 0 {
		return []finding{findUnchecked("no session can be tried here")}
	}
	open := w.runner.Reachable()
	var strong []string
	for _, s := range open {
		if powerfulSocket.MatchString(s) {
			strong = append(strong, s)
		}
	}
	const atMost = 5
	switch {
	case len(strong) > 0:
		return []finding{findLook("take the right to write away from sessions' user, or move it below /run", "sessions can reach %s", firstOf(strong, atMost))}
	case len(open) > 0:
		return []finding{findOK("sessions can reach %s", firstOf(open, atMost))}
	}
	return []finding{findOK("none that sessions could reach was found")}
}

// checkProcesses reports what sessions can do to other processes, and whether
// they have terminals of their own.
func checkProcesses(_ context.Context, p *doctorContext) []finding {
	w, err := p.openTrial()
	if err != nil {
		return []finding{findUnchecked("no session can be tried here")}
	}
	if level, _ := w.runner.Level(); level == 0 {
		return []finding{findUnchecked("no session can be tried here")}
	}
	const more = "docs/operating.md, Boundary, says what each level keeps out"
	var out []finding
	for _, e := range w.runner.Exposed() {
		out = append(out, findLook(more, "sessions reach %s", e))
	}
	if len(out) == 0 {
		out = append(out, findOK("sessions change no process but their own, and reach no terminal of yours"))
	}
	if ok, why := w.runner.Terminals(); !ok {
		out = append(out, findOK("agents that need a terminal cannot work here: %s", why))
	}
	return out
}

// checkLimits tells what one session may use, and who sees to it.
func checkLimits(_ context.Context, p *doctorContext) []finding {
	l, machine := p.cfg.Limits, agent.MachineMemory()
	if machine == 0 && l.Memory.Percent+l.Memory.Bytes == 0 {
		return []finding{findLook("set memory in [limits], such as \"8GB\"", "this machine's memory is not known: sessions use as much as they like")}
	}
	shown := func(n int64, unit string) string {
		if n == 0 {
			return "no limit of " + unit
		}
		return fmt.Sprintf("%d %s", n, unit)
	}
	const mb = 1_000_000
	return []finding{findOK("a session has at most %s, %s, %s; its supervisor measures every second",
		shown(l.MaxMemory(machine)/mb, "MB"), shown(int64(l.MaxProcesses()), "processes"), shown(int64(l.MaxFiles()), "open files"))}
}

// firstOf joins at most n of the words.
func firstOf(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}

// checkProjects checks each project as a start does, except for parts that need
// a session.
func checkProjects(ctx context.Context, p *doctorContext) []finding {
	if !p.usable {
		return []finding{findUnchecked("projects, agents and Telegram are looked at once the configuration is right")}
	}
	var out []finding
	for _, pr := range p.cfg.Projects {
		out = append(out, ofProject(pr.Name, checkProject(ctx, p, pr))...)
	}
	return out
}

// checkRemote checks where the project's branches are pushed to.
func checkRemote(ctx context.Context, p *doctorContext, pr config.Project) []finding {
	addr, base, err := project.Reach(ctx, p.cfg, pr)
	forge, refused := errors.AsType[*ledger.ForgeError](err)
	switch {
	case err == nil:
		out := []finding{findOK("pushes to %s", addr)}
		switch {
		case pr.Base == "":
		case base == "":
			out = append(out, findFix("name one that it has, or take base out", "base = %q: the remote has no such branch", pr.Base))
		default:
			out = append(out, findOK("runs start from %s there, now at %.12s", pr.Base, base))
		}
		return out
	case refused && forge.Passes():
		return []finding{findUnchecked("%s cannot be asked now: %s", addr, forge.Text)}
	case refused:
		return []finding{findFix(forge.Remedy, "%s: %s", addr, forge.Text)}
	}
	return fromError(err)
}

func checkProject(ctx context.Context, p *doctorContext, pr config.Project) []finding {
	if err := pr.Check(p.cfg, p.state); err != nil {
		return fromError(err)
	}
	s, err := pr.Settings(p.cfg, config.Overrides{}, p.now)
	if err != nil {
		return fromError(err)
	}
	for _, name := range engine.AgentsOf(s) {
		p.agents[name] = append(p.agents[name], pr.Name)
	}
	for _, hat := range slices.Sorted(maps.Keys(s.Hats)) {
		h := s.Hats[hat]
		if name := cmp.Or(h.Agent, s.Agent); h.Model != "" && p.models[name] == "" {
			p.models[name] = h.Model
		}
	}
	var out []finding
	refused, warned := project.Unbuilt(p.cfg, pr, s)
	refused, warned = append(refused, session.Unpriced(p.cfg, s)...), append(warned, session.Overcommitted(p.cfg, s)...)
	out = append(out, ofSeverity(ledger.DiagnosticError, refused)...)
	out = append(out, ofSeverity(ledger.DiagnosticWarning, warned)...)
	out = append(out, checkRepository(ctx, p, s)...)
	switch {
	case s.Pushes():
		out = append(out, checkRemote(ctx, p, pr)...)
	case s.Base != "":
		out = append(out, findOK("runs start from base = %q", s.Base))
	}
	if w, err := p.openTrial(); err == nil {
		if err := w.runner.CheckCommands(pr.Name); err != nil {
			out = append(out, fromError(err)...)
		}
	}
	out = append(out, checkSource(ctx, p, s)...)
	if f, lacking := loop.LacksBrowser(s, func(program string) bool { _, err := exec.LookPath(program); return err == nil }); lacking {
		out = append(out, ofSeverity(ledger.DiagnosticWarning, []ledger.Diagnostic{f})...)
	}
	if f, unproved := s.Unproved(); unproved {
		out = append(out, ofSeverity(ledger.DiagnosticError, []ledger.Diagnostic{f})...)
	} else if len(s.Verify) == 0 {
		by := "only its review judges a task"
		s.AllowUnproved = false
		if _, unproved := s.Unproved(); unproved {
			by = "an agent's word is all that a task needs"
		}
		out = append(out, findLook(`verify = ["make test"], or what tests it, in [[project]] `+pr.Name, "no command verifies it: %s", by))
	}
	return out
}

func checkRepository(ctx context.Context, p *doctorContext, s ledger.Settings) []finding {
	if found := obstacles(ctx, s.Repo); len(found) > 0 {
		return ofSeverity(ledger.DiagnosticError, found)
	}
	w, err := p.openTrial()
	if err != nil {
		return []finding{findUnchecked("the repository: %v", err)}
	}
	uid, gid := w.runner.User()
	ws, err := workspace.Open(ctx, workspace.Options{
		State: w.dir, Project: s.Project, Repo: s.Repo, Protected: s.Protected, RoomFiles: s.RoomFiles, Sign: s.Sign, SessionUID: uid, SessionGID: gid,
	})
	if err != nil {
		return fromError(err)
	}
	base, err := ws.Look(ctx)
	if err != nil {
		return fromError(err)
	}
	out := []finding{findOK("%s, %s at %.12s", s.Repo, base.HeadName, base.Head)}
	out = append(out, ofSeverity(ledger.DiagnosticWarning, base.Notes)...)
	return append(out, ofSeverity(ledger.DiagnosticWarning, toolchain.Missing(os.DirFS(s.Repo), toolchain.User()))...)
}

func checkSource(ctx context.Context, p *doctorContext, s ledger.Settings) (out []finding) {
	snapshot, err := readSource(ctx, p.cfg, s)
	if err != nil {
		return fromError(err)
	}
	if _, err := os.Stat(filepath.Join(p.state, "nightporter.db")); err != nil { // else its sessions say what one takes, and the start looks
		if w, small := loop.NoRoom(loop.State{Project: loop.Project{Name: s.Project}}, s, p.cfg.Budget.Day(), snapshot, p.now); small {
			out = ofSeverity(ledger.DiagnosticWarning, []ledger.Diagnostic{w})
		}
	}
	open := 0
	for _, t := range snapshot.Tasks {
		if t.Mark == ledger.MarkOpen {
			open++
		}
	}
	text := fmt.Sprintf("%s: %s, %d open", snapshot.Path, countNoun(len(snapshot.Tasks), "task"), open)
	if n := len(snapshot.Warnings); n > 0 {
		return append(out, findLook("nightporter tasks --lint --repo "+quote(s.Repo), "%s; %s", text, countNoun(n, "warning")))
	}
	return append(out, findOK("%s", text))
}

// checkAgents checks every agent that a project may start: its program, its
// login, and whether sessions can reach both. It says which release it is and which
// figures it reports. It uses no model.
func checkAgents(ctx context.Context, p *doctorContext) []finding {
	var out []finding
	for _, name := range p.agentNames() {
		w, err := p.openTrial()
		if err != nil {
			return []finding{findUnchecked("no session can be tried here")}
		}
		if err := w.runner.Check(ctx, name); err != nil {
			out = append(out, fromError(err)...)
			continue
		}
		p.startable = append(p.startable, name)
		out = append(out, findOK("%s can be started (%s): %s", name, strings.Join(p.agents[name], ", "), w.runner.Describe(ctx, name)))
		if models := p.cfg.TiersText(name); models != "" {
			out = append(out, findOK("%s's models: %s", name, models))
		}
	}
	return out
}

// checkHooks looks for the programs of hooks.
func checkHooks(_ context.Context, p *doctorContext) (list []finding) {
	for _, h := range p.cfg.Hooks {
		if h.Missing() {
			list = append(list, findLook("put it there, or correct run in [[hook]]", "%s is not there; it is tried with each event", h.Run[0]))
		}
	}
	return list
}

// checkTranscribe has the program that turns voice notes into words hear a second of
// silence, as it is started for a voice note.
func checkTranscribe(ctx context.Context, p *doctorContext) []finding {
	if len(p.cfg.Transcribe) == 0 {
		return nil
	}
	const patience = time.Minute // it may load a model first
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	name := filepath.Base(p.cfg.Transcribe[0])
	_, err := daemon.TryTranscribe(ctx, daemon.Options{Version: Version, Config: p.cfg, Person: personName()})
	switch {
	case ctx.Err() != nil:
		return []finding{findLook("try a smaller model in transcribe", "%s has not answered to a second of silence after %v", name, patience)}
	case err != nil:
		return []finding{findLook("mend what it says, or take transcribe out. It runs shut in like a session and reads what sessions read: the system, and the paths in read", "voice notes get no words: a second of silence as voice.ogg, and %v", err)}
	}
	return []finding{findOK("%s takes voice notes: it read a second of silence", name)}
}

// pairedPeople asks the process that holds the ledger for the number of paired
// people. known is false if no process answers.
func pairedPeople(ctx context.Context, p *doctorContext) (n int, known bool) {
	if _, err := os.Stat(filepath.Join(p.state, "nightporter.db")); errors.Is(err, fs.ErrNotExist) {
		return 0, true
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var people []json.RawMessage
	err := withAsker(ctx, p.state, p.cfg, func(a asker) error {
		r, err := a.View(ctx, api.View{Name: "people"})
		if err != nil {
			return err
		}
		if !r.OK {
			return errors.New(r.Text)
		}
		return json.Unmarshal(r.Data, &people)
	})
	return len(people), err == nil
}

// checkPeople checks whether any person could steer by phone.
func checkPeople(ctx context.Context, p *doctorContext) []finding {
	if len(platform.Used(p.cfg)) == 0 {
		return nil
	}
	switch n, known := p.people(ctx, p); {
	case !known:
		return []finding{findUnchecked("who is paired was not asked")}
	case n == 0:
		return []finding{findLook("nightporter pair", "nobody is paired, so nobody can steer by phone")}
	default:
		return []finding{findOK("%d paired", n)}
	}
}
