package agent

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/agent/adapter"
)

// credentials lists paths below HOME that no session may read. Agents' logins
// are hidden, too; the rows of package adapter name them. A session's own agent
// gets a copy of its login.
var credentials = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".docker", ".kube", ".oci",
	".config/gcloud", ".config/gh", ".config/hub", ".config/glab-cli", ".config/tea", ".config/doctl",
	".netrc", ".git-credentials", ".config/git/credentials", ".npmrc", ".yarnrc.yml", ".pypirc",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
	".terraform.d", ".terraformrc", ".vault-token", ".pgpass", ".my.cnf", ".boto", ".s3cfg", ".config/rclone",
	".password-store", ".local/share/keyrings", ".Xauthority", ".mozilla", ".config/google-chrome", ".config/chromium",
	".config/nightporter", ".local/state/nightporter",
}

// hidden returns the paths that no session may read: the state folder, the
// credentials of root and of the user who started the daemon, files with keys of
// agents and of projects' commands, and Options.Hide. Some of the paths may not exist.
func (r *Runner) hidden() []string {
	paths := append([]string{r.o.State, "/var/lib/nightporter"}, r.o.Hide...)
	for _, home := range homes() {
		for _, c := range slices.Concat(credentials, adapter.Secrets()) {
			paths = append(paths, filepath.Join(home, c))
		}
	}
	for _, d := range r.o.Agents {
		if d.EnvFile != "" {
			paths = append(paths, d.file(d.EnvFile))
		}
	}
	for _, g := range r.o.Projects {
		paths = append(paths, g.paths()...)
	}
	for _, env := range []string{"CREDENTIALS_DIRECTORY", "XDG_RUNTIME_DIR", "GNUPGHOME"} {
		if dir := os.Getenv(env); filepath.IsAbs(dir) {
			paths = append(paths, dir)
		}
	}
	// The sockets of ssh agents and terminals have folders of their own in
	// /tmp.
	if sock := os.Getenv("SSH_AUTH_SOCK"); filepath.IsAbs(sock) {
		paths = append(paths, sock)
	}
	uid := strconv.Itoa(os.Getuid())
	paths = append(paths, "/tmp/tmux-"+uid, "/tmp/emacs"+uid, "/tmp/.X11-unix", "/tmp/.ICE-unix")
	for i, p := range paths {
		paths[i] = resolvePath(p)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// homes returns the home folders whose credentials are hidden: that of the
// environment, of the account, of root, and of the user who called sudo.
func homes() []string {
	list := []string{"/root"}
	if h, err := os.UserHomeDir(); err == nil && filepath.IsAbs(h) && h != "/" {
		list = append(list, h)
	}
	for _, id := range []string{strconv.Itoa(os.Getuid()), os.Getenv("SUDO_UID")} {
		if u, err := user.LookupId(id); id != "" && err == nil && filepath.IsAbs(u.HomeDir) && u.HomeDir != "/" {
			list = append(list, u.HomeDir)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// resolvePath resolves symbolic links in the existing part of the path.
func resolvePath(path string) string {
	path = filepath.Clean(path)
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolvePath(parent), filepath.Base(path))
	}
	return path
}

// runFolders hold sockets of the system and its users. Level 3 hides them
// except for runKept.
var runFolders = []string{"/run"}

// runKept lists paths below runFolders that stay visible, because programs need
// them to resolve names and find libraries.
var runKept = []string{
	"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf",
	"/run/current-system", "/run/opengl-driver", "/run/nscd",
}

// runResolvers are those of runKept at which daemons resolve names, and the files
// that name the machine's resolvers.
var runResolvers = []string{
	"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf", "/run/nscd",
}

// sharedTmp are the folders in which programs of all users put their sockets. A
// session whose network is closed has neither; TMPDIR is its own.
var sharedTmp = []string{"/tmp", "/var/tmp"}

// programFolders returns the folders that contain the programs on PATH and
// their libraries: for a folder named bin its parent, unless that is a home or
// the root.
func programFolders(path []string) []string {
	var out []string
	for _, p := range path {
		p = resolvePath(p)
		out = append(out, p)
		if b := filepath.Base(p); b != "bin" && b != "sbin" {
			continue
		}
		up := filepath.Dir(p)
		if up != "/" && !slices.Contains(homes(), up) && strings.Count(up, "/") > 1 {
			out = append(out, up)
		}
	}
	return out
}
