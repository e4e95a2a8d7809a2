package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/internal/diskuse"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
)

// checkConfig loads the configuration and reports every mistake in it.
func checkConfig(_ context.Context, p *doctorContext) []finding {
	file, err := config.Find(p.config)
	if err != nil {
		return fromError(err)
	}
	if file == "" {
		p.usable = true
		return []finding{findLook("nightporter init", "there is none at %s; nightporter up needs one", config.DefaultFile())}
	}
	cfg, err := config.Load(file)
	if err != nil {
		return fromError(err)
	}
	p.cfg, p.usable = cfg, true
	out := []finding{findOK("%s, %s", cfg.File, countNoun(len(cfg.Projects), "project"))}
	if len(cfg.Projects) == 0 {
		out = append(out, findFix("nightporter init --add --repo DIR", "it has no [[project]], so there is nothing to work on"))
	}
	return out
}

// checkPrograms reports the version of nightporter, whether git can be used, and
// whether the smaller programs of sessions are installed beside nightporter. Without
// them, sessions use nightporter itself.
func checkPrograms(ctx context.Context, _ *doctorContext) []finding {
	out := ofSeverity(ledger.DiagnosticError, workspace.Obstacles(ctx, ""))
	if session.SiblingProgram("hat") == "" {
		return append(out, findLook("put hat into the folder that nightporter is in", "nightporter %s; hat is not beside it, and each of an agent's calls takes longer", Version))
	}
	if session.SiblingProgram("nightporter-shim") == "" {
		return append(out, findLook("put nightporter-shim into the folder that nightporter is in", "nightporter %s; nightporter-shim is not beside it, and sessions start slower and take more memory", Version))
	}
	return append(out, findOK("nightporter %s, hat and nightporter-shim beside it", Version))
}

// earliestTime is earlier than any correct time.
var earliestTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// checkClock shows the current time. A person notices a wrong zone here, and
// would otherwise notice it at the next digest.
func checkClock(_ context.Context, p *doctorContext) []finding {
	zone, err := p.cfg.Zone()
	if err != nil {
		return fromError(err)
	}
	now := p.now.In(zone)
	shown := now.Format("Mon 2 Jan 2006 15:04 MST")
	switch {
	case now.Before(earliestTime):
		return []finding{findFix("timedatectl set-ntp true", "it is not %s: the host's clock is wrong", shown)}
	case p.cfg.Timezone != "":
		return []finding{findOK("%s, %s", shown, p.cfg.Timezone)}
	}
	host, _ := hostZone()
	if p.cfg.File != "" && (host == "" || zoneRemark(host) != "") {
		return []finding{findLook(`timezone = "Europe/Berlin", or where you live, at the top of the configuration`, "%s: the host's zone, which may not be yours", shown)}
	}
	return []finding{findOK("%s, the host's zone", shown)}
}

// checkState checks whether the state folder can be used or created.
func checkState(_ context.Context, p *doctorContext) []finding {
	if n := len(socket.OperatorPath(p.state)); n > api.MaxPath {
		return []finding{findFix("a shorter folder: --state DIR", "%s is too long for a socket in it: %d bytes, and at most %d are possible", p.state, n, api.MaxPath)}
	}
	info, err := os.Stat(p.state)
	if err != nil {
		if dir, problem := existingParent(p.state); problem != "" {
			return []finding{findFix("name another: --state DIR", "%s cannot be made: %s %s", p.state, dir, problem)}
		}
		return []finding{findOK("%s, made at the first start", p.state)}
	}
	if !info.IsDir() {
		return []finding{findFix("name another: --state DIR", "%s is not a folder", p.state)}
	}
	if !ownedByMe(info) {
		who := ownerName(info)
		return []finding{findLook("sudo -u "+quote(who)+" nightporter doctor", "%s belongs to %s: look as that user", p.state, who)}
	}
	if err := writable(p.state); err != nil {
		return []finding{findFix("chmod u+rwx "+quote(p.state)+", or another folder: --state DIR", "%s is not writable: %s", p.state, reasonOf(err))}
	}
	if kind := diskuse.Network(p.state); kind != "" {
		return []finding{findLook("move it to a local disk, and name it: --state DIR", "%s is on %s: a ledger can be damaged there, and two machines can write it", p.state, kind)}
	}
	if info.Mode().Perm()&0o022 != 0 {
		return []finding{findFix("chmod go-w "+quote(p.state), "%s can be written by others (%#o)", p.state, info.Mode().Perm())}
	}
	return []finding{findOK("%s", p.state)}
}

// existingParent returns the existing folder in which a missing one would be
// created, or the obstacle to that.
func existingParent(dir string) (parent, problem string) {
	for parent = dir; ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		switch {
		case err != nil && parent != filepath.Dir(parent):
			continue
		case err != nil:
			return parent, reasonOf(err)
		case !info.IsDir():
			return parent, "is not a folder"
		}
		if err := unix.Access(parent, unix.W_OK|unix.X_OK); err != nil {
			return parent, "is not writable: " + reasonOf(err)
		}
		return parent, ""
	}
}

func reasonOf(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

func ownerName(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "somebody else"
	}
	uid := fmt.Sprint(st.Uid)
	if u, err := user.LookupId(uid); err == nil {
		return u.Username
	}
	return "#" + uid // the form that sudo accepts
}

// checkDisk checks the free space at the state folder's location.
func checkDisk(_ context.Context, p *doctorContext) []finding {
	dir := p.state
	var s unix.Statfs_t
	for {
		err := unix.Statfs(dir, &s)
		if err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return []finding{findUnchecked("free space cannot be asked for: %v", err)}
		}
		dir = filepath.Dir(dir)
	}
	free := s.Bavail * uint64(s.Bsize)
	if f, low := engine.LowDisk(free); low {
		return []finding{findFix(f.Remedy, "%s", f.Text)}
	}
	if s.Files > 0 && s.Ffree < 10_000 {
		return []finding{findFix("remove what is not needed: df -i "+quote(dir), "only %d more files fit on the disk of %s", s.Ffree, dir)}
	}
	return []finding{findOK("%.1f GiB free", float64(free)/(1<<30))}
}

// checkDaemon reports which process holds the state folder.
func checkDaemon(_ context.Context, p *doctorContext) []finding {
	pid, held, err := statelock.Held(p.state)
	switch p.daemon = daemon.Listens(p.state); {
	case err != nil:
		return []finding{findUnchecked("who has the state folder cannot be seen: %s", reasonOf(err))}
	case held && p.daemon:
		return []finding{findOK("nightporter runs (pid %d)", pid)}
	case held:
		return []finding{findLook(fmt.Sprintf("wait a little; then: ps -p %d", pid), "another nightporter has the state folder (pid %d), and does not answer", pid)}
	}
	return []finding{findOK("none runs; to start one: nightporter up")}
}

// checkLedger lets the process that holds the ledger verify it.
func checkLedger(ctx context.Context, p *doctorContext) []finding {
	info, err := os.Stat(p.state)
	if err != nil || !info.IsDir() {
		return []finding{findUnchecked("there is none yet")}
	}
	if _, err := os.Stat(filepath.Join(p.state, "nightporter.db")); errors.Is(err, fs.ErrNotExist) {
		return []finding{findUnchecked("there is none yet")}
	} else if err != nil || !ownedByMe(info) {
		return []finding{findUnchecked("it belongs to somebody else")}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var r api.Reply
	err = withAsker(ctx, p.state, p.cfg, func(a asker) (err error) {
		r, err = a.View(ctx, api.View{Name: "verify"})
		return err
	})
	var inUse *statelock.InUseError
	switch {
	case errors.As(err, &inUse):
		return []finding{findUnchecked("who has the state folder does not answer")}
	case errors.Is(err, context.DeadlineExceeded):
		return []finding{findLook("nightporter verify", "it could not be verified within a minute")}
	case err != nil:
		return []finding{findFix("nightporter verify says what to type", "%s", project.OneLine(err))}
	case r.OK:
		first, _, _ := strings.Cut(r.Text, "\n")
		return []finding{findOK("%s", strings.TrimPrefix(first, "✓ ledger "))}
	}
	var said struct{ Breaks []string }
	if err := json.Unmarshal(r.Data, &said); err != nil || len(said.Breaks) == 0 {
		said.Breaks = []string{r.Text}
	}
	return []finding{findFix("nightporter verify shows all of it, and says what to type", "it was altered in %s: %s", countNoun(len(said.Breaks), "place"), said.Breaks[0])}
}

// checkService checks whether systemd would end nightporter at logout: a user's
// services end with the last login unless lingering is enabled.
func checkService(_ context.Context, p *doctorContext) []finding {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return nil
	}
	home, err := os.UserHomeDir()
	if err != nil || os.Geteuid() == 0 {
		return nil
	}
	if _, err := os.Stat(filepath.Join(home, ".config/systemd/user/nightporter.service")); err != nil {
		return nil
	}
	me, err := user.Current()
	if err != nil {
		return nil
	}
	if _, err := os.Stat(filepath.Join("/var/lib/systemd/linger", me.Username)); errors.Is(err, fs.ErrNotExist) {
		return []finding{findFix("loginctl enable-linger", "nightporter.service of %s ends when you log out", me.Username)}
	}
	return []finding{findOK("nightporter.service stays when you log out")}
}
