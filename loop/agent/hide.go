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

// credentials are paths below a home that no session reads. Agents' logins,
// which are hidden too, are in their rows: one is copied into the session's
// HOME where the session's agent needs it.
var credentials = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".docker", ".kube", ".oci",
	".config/gcloud", ".config/gh", ".config/hub", ".config/glab-cli", ".config/tea", ".config/doctl",
	".netrc", ".git-credentials", ".config/git/credentials", ".npmrc", ".yarnrc.yml", ".pypirc",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
	".terraform.d", ".terraformrc", ".vault-token", ".pgpass", ".my.cnf", ".boto", ".s3cfg", ".config/rclone",
	".password-store", ".local/share/keyrings", ".Xauthority", ".mozilla", ".config/google-chrome", ".config/chromium",
	".config/nightporter", ".local/state/nightporter",
}

// hidden lists what no session may see: the state folder, credentials of who
// started the daemon and of root, files with agents' keys, and what the
// options add. The list is of paths that can exist, not that do.
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
	for _, env := range []string{"CREDENTIALS_DIRECTORY", "XDG_RUNTIME_DIR"} {
		if dir := os.Getenv(env); filepath.IsAbs(dir) {
			paths = append(paths, dir)
		}
	}
	// Sockets of agents and terminals lie in folders of their own in /tmp.
	if sock := os.Getenv("SSH_AUTH_SOCK"); filepath.IsAbs(sock) {
		paths = append(paths, sock)
	}
	uid := strconv.Itoa(os.Getuid())
	paths = append(paths, "/tmp/tmux-"+uid, "/tmp/emacs"+uid, "/tmp/.X11-unix", "/tmp/.ICE-unix")
	for i, p := range paths {
		paths[i] = real(p)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// homes are the homes whose credentials count: the one in the environment,
// the account's, root's, and that of who called sudo.
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

// real is the path without symbolic links, as far as it exists.
func real(path string) string {
	path = filepath.Clean(path)
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(real(parent), filepath.Base(path))
	}
	return path
}

// runFolders hold sockets of the system and of its users. Level 3 hides them
// but for what programs need to find names and libraries.
var runFolders = []string{"/run"}

// runKept stays visible below runFolders.
var runKept = []string{
	"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf",
	"/run/current-system", "/run/opengl-driver", "/run/nscd",
}

// roots are the folders that hold the programs on PATH and what belongs to
// them: for a folder named bin the one above it, where that is not a home or
// the root.
func roots(path []string) []string {
	var out []string
	for _, p := range path {
		p = real(p)
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
