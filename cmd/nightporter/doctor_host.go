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
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/internal/statelock"
	"github.com/nightporter/nightporter/loop/engine"
)

// checkConfig loads the configuration. Every mistake is a finding.
func checkConfig(_ context.Context, p *doctorContext) []finding {
	file, err := config.Find(p.config)
	if err != nil {
		return fromError(err)
	}
	if file == "" {
		p.usable = true
		return []finding{lookAt("nightporter init", "there is none at %s; nightporter up needs one", config.DefaultFile())}
	}
	cfg, err := config.Load(file)
	if err != nil {
		return fromError(err)
	}
	p.cfg, p.usable = cfg, true
	out := []finding{fine("%s, %s", cfg.File, count(len(cfg.Projects), "project"))}
	if len(cfg.Projects) == 0 {
		out = append(out, mendWith("nightporter init --add --repo DIR", "it has no [[project]], so there is nothing to work on"))
	}
	return out
}

// checkPrograms says which nightporter this is, and whether sessions get the
// small client or have to do with this program under its name.
func checkPrograms(context.Context, *doctorContext) []finding {
	if session.Beside("hat") == "" {
		return []finding{lookAt("put hat into the folder that nightporter is in", "nightporter %s; hat is not beside it, and each of an agent's calls takes longer", Version)}
	}
	return []finding{fine("nightporter %s, hat beside it", Version)}
}

// oldest is a time before which no clock that is right can be.
var oldest = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// checkClock shows the time as nightporter has it: a wrong zone is seen at a
// glance, and found by nobody else before 7 in the morning.
func checkClock(_ context.Context, p *doctorContext) []finding {
	zone, err := p.cfg.Zone()
	if err != nil {
		return fromError(err)
	}
	now := p.now.In(zone)
	shown := now.Format("Mon 2 Jan 2006 15:04 MST")
	switch {
	case now.Before(oldest):
		return []finding{mendWith("timedatectl set-ntp true", "it is not %s: the host's clock is wrong", shown)}
	case p.cfg.Timezone != "":
		return []finding{fine("%s, %s", shown, p.cfg.Timezone)}
	}
	host, _ := hostZone()
	if p.cfg.File != "" && (host == "" || farZone(host) != "") {
		return []finding{lookAt(`timezone = "Europe/Berlin", or where you live, at the top of the configuration`, "%s: the host's zone, which may not be yours", shown)}
	}
	return []finding{fine("%s, the host's zone", shown)}
}

// checkState looks whether the state folder can be used, or made.
func checkState(_ context.Context, p *doctorContext) []finding {
	if n := len(socket.OperatorPath(p.state)); n > api.MaxPath {
		return []finding{mendWith("a shorter folder: --state DIR", "%s is too long for a socket in it: %d bytes, and at most %d are possible", p.state, n, api.MaxPath)}
	}
	info, err := os.Stat(p.state)
	if err != nil {
		if there, problem := ancestor(p.state); problem != "" {
			return []finding{mendWith("name another: --state DIR", "%s cannot be made: %s %s", p.state, there, problem)}
		}
		return []finding{fine("%s, made at the first start", p.state)}
	}
	if !info.IsDir() {
		return []finding{mendWith("name another: --state DIR", "%s is not a folder", p.state)}
	}
	if !ownedByMe(info) {
		who := ownerName(info)
		return []finding{lookAt("sudo -u "+quote(who)+" nightporter doctor", "%s belongs to %s: look as that user", p.state, who)}
	}
	if err := writable(p.state); err != nil {
		return []finding{mendWith("chmod u+rwx "+quote(p.state)+", or another folder: --state DIR", "%s is not writable: %s", p.state, reasonOf(err))}
	}
	if info.Mode().Perm()&0o022 != 0 {
		return []finding{mendWith("chmod go-w "+quote(p.state), "%s can be written by others (%#o)", p.state, info.Mode().Perm())}
	}
	return []finding{fine("%s", p.state)}
}

// ancestor finds the folder in which a missing one would be made, and what is
// in the way of that.
func ancestor(dir string) (there, problem string) {
	for there = dir; ; there = filepath.Dir(there) {
		info, err := os.Stat(there)
		switch {
		case err != nil && there != filepath.Dir(there):
			continue
		case err != nil:
			return there, reasonOf(err)
		case !info.IsDir():
			return there, "is not a folder"
		}
		if err := unix.Access(there, unix.W_OK|unix.X_OK); err != nil {
			return there, "is not writable: " + reasonOf(err)
		}
		return there, ""
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
	return "#" + uid // as sudo takes it
}

// checkDisk looks for room where the state is, or will be.
func checkDisk(_ context.Context, p *doctorContext) []finding {
	dir := p.state
	var s unix.Statfs_t
	for {
		err := unix.Statfs(dir, &s)
		if err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return []finding{unseen("free space cannot be asked for: %v", err)}
		}
		dir = filepath.Dir(dir)
	}
	free := s.Bavail * uint64(s.Bsize)
	if f, low := engine.LowDisk(free); low {
		return []finding{mendWith(f.Fix, "%s", f.Text)}
	}
	if s.Files > 0 && s.Ffree < 10_000 {
		return []finding{mendWith("remove what is not needed: df -i "+quote(dir), "only %d more files fit on the disk of %s", s.Ffree, dir)}
	}
	return []finding{fine("%.1f GiB free", float64(free)/(1<<30))}
}

// checkDaemon says who has the state folder.
func checkDaemon(_ context.Context, p *doctorContext) []finding {
	pid, held, err := statelock.Held(p.state)
	switch p.daemon = daemon.Listens(p.state); {
	case err != nil:
		return []finding{unseen("who has the state folder cannot be seen: %s", reasonOf(err))}
	case held && p.daemon:
		return []finding{fine("nightporter runs (pid %d)", pid)}
	case held:
		return []finding{lookAt(fmt.Sprintf("wait a little; then: ps -p %d", pid), "another nightporter has the state folder (pid %d), and does not answer", pid)}
	}
	return []finding{fine("none runs; to start one: nightporter up")}
}

// checkLedger has the ledger verified, by whoever has it.
func checkLedger(ctx context.Context, p *doctorContext) []finding {
	info, err := os.Stat(p.state)
	if err != nil || !info.IsDir() {
		return []finding{unseen("there is none yet")}
	}
	if _, err := os.Stat(filepath.Join(p.state, "nightporter.db")); errors.Is(err, fs.ErrNotExist) {
		return []finding{unseen("there is none yet")}
	} else if err != nil || !ownedByMe(info) {
		return []finding{unseen("it belongs to somebody else")}
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
		return []finding{unseen("who has the state folder does not answer")}
	case errors.Is(err, context.DeadlineExceeded):
		return []finding{lookAt("nightporter verify", "it could not be verified within a minute")}
	case err != nil:
		return []finding{mendWith("see docs/operating.md: Backup", "%v", err)}
	case r.OK:
		return []finding{fine("%s", strings.TrimPrefix(r.Text, "✓ ledger "))}
	}
	var said struct{ Breaks []string }
	if err := json.Unmarshal(r.Data, &said); err != nil || len(said.Breaks) == 0 {
		said.Breaks = []string{r.Text}
	}
	return []finding{mendWith("nightporter verify shows all of it; restore a backup", "it was altered in %s: %s", count(len(said.Breaks), "place"), said.Breaks[0])}
}

// checkService looks at what ends nightporter behind one's back: a user's
// services end with the last login, unless they may linger.
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
		return []finding{mendWith("loginctl enable-linger", "nightporter.service of %s ends when you log out", me.Username)}
	}
	return []finding{fine("nightporter.service stays when you log out")}
}
