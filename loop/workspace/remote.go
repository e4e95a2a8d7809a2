package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Remote is where a project's branches are pushed to.
type Remote struct {
	// URL is an address as git takes it: https, ssh, or a path. It has no password.
	URL string
	// TokenFile holds the token that is given to a server over https; "" = what the
	// person's own git configuration gives it.
	TokenFile string
}

// Limits of git's calls to a remote.
const (
	askTime  = 30 * time.Second
	pushTime = 30 * time.Minute
)

// scpForm matches the short form of an ssh address, [USER@]HOST:PATH.
var scpForm = regexp.MustCompile(`^(?:[^/:@\s]+@)?[^/:\s]+:[^:]`)

// RemoteURL returns the address to which the person's own git would push: that of a
// remote of their repository by its name, or an address as it is. "" is the remote
// origin. A name that the repository lacks, or an address that cannot be used, is a
// *ledger.InputError.
func (w *Workspace) RemoteURL(ctx context.Context, remote string) (string, error) {
	remote = cmp.Or(remote, "origin")
	addr := remote
	if !isAddress(remote) {
		out, err := w.person(ctx, w.o.Repo, "remote", "get-url", "--push", "--", remote)
		if exitCode(err) > 0 {
			return "", inputError(ledger.Diagnostic{
				Text:   fmt.Sprintf("%s has no remote %q to push to", w.o.Repo, remote),
				Remedy: fmt.Sprintf(`git -C %s remote add %s URL, or name another one: remote = "…", or push = "never"`, w.o.Repo, remote),
			})
		}
		if err != nil {
			return "", fmt.Errorf("read remote %s: %w", remote, err)
		}
		addr, _, _ = strings.Cut(out, "\n")
	}
	return w.usable(addr)
}

// Outside returns a Workspace that has no state folder, for questions about the
// remotes of a user's repository.
func Outside(repo string) (*Workspace, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	return &Workspace{o: Options{Repo: repo}, program: program}, nil
}

// isAddress reports whether a remote is written as an address, not as a name.
func isAddress(s string) bool {
	return strings.Contains(s, "://") || scpForm.MatchString(s) || filepath.IsAbs(s) || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../")
}

// usable returns an address in the form that Push takes, or the reason why it
// cannot be pushed to.
func (w *Workspace) usable(addr string) (string, error) {
	refuse := func(text, remedy string) (string, error) {
		return "", inputError(ledger.Diagnostic{Text: "remote " + ShowURL(addr) + text, Remedy: remedy})
	}
	switch u, err := url.Parse(addr); {
	case !strings.Contains(addr, "://"):
		if strings.Contains(addr, "::") {
			return refuse(": a remote helper is not used", "Name an https or ssh address, or a path.")
		}
		if !scpForm.MatchString(addr) && !filepath.IsAbs(addr) {
			addr = filepath.Join(w.o.Repo, addr)
		}
		if strings.HasPrefix(addr, "-") {
			return refuse(" is no address", "Name an https or ssh address, or a path.")
		}
	case err != nil:
		return refuse(" is no address", "Name an https or ssh address, or a path.")
	case u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "ssh" && u.Scheme != "file":
		return refuse(": "+u.Scheme+" is not used", "Name an https or ssh address, or a path.")
	case strings.HasPrefix(u.Hostname(), "-"):
		return refuse(" is no address", "Name an https or ssh address, or a path.")
	case u.User != nil && u.Scheme != "ssh":
		if _, has := u.User.Password(); has {
			return refuse(" has a password in its address, which processes and logs can show", `Take it out (git remote set-url), and put it into a file: [github] or [gitea] token_file`)
		}
		if u.Scheme == "https" || u.Scheme == "http" {
			u.User = nil
			return u.String(), nil
		}
	}
	return addr, nil
}

// ShowURL returns an address without a password, for people.
func ShowURL(addr string) string {
	u, err := url.Parse(addr)
	if err != nil {
		return "(an address that cannot be read)"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	return u.String()
}

// RemoteBranches returns those of the branches that a remote has, with their
// commits. The error is a *ledger.ForgeError unless this machine failed.
func (w *Workspace) RemoteBranches(ctx context.Context, r Remote, branches ...string) (map[string]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, errRemoteSlow)
	defer cancel()
	args := []string{"ls-remote", "--quiet", "--", r.URL}
	for _, b := range branches {
		args = append(args, "refs/heads/"+b)
	}
	out, _, err := w.remote(ctx, r, args...)
	if err != nil {
		return nil, err
	}
	has := map[string]string{}
	for line := range strings.Lines(out) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if b, ok := strings.CutPrefix(ref, "refs/heads/"); ok && fullHash.MatchString(commit) {
			has[b] = commit
		}
	}
	return has, nil
}

// errRemoteSlow is why a call to a remote ends that takes too long.
var errRemoteSlow = errors.New("the remote does not answer in time")

// credentialHelper gives git the token, by builtins of the shell alone: it stands in
// no process's arguments and in no environment, which have the path of its file.
const credentialHelper = `!f() { test "$1" = get || exit 0; IFS= read -r t <"$NIGHTPORTER_TOKEN_FILE"; t=${t%%[[:space:]]*}; printf 'username=x-access-token\npassword=%s\n' "$t"; }; f`

// remoteConfig overrides the keys of the person's configuration that would make git
// ask somebody, run something of a repository, or push more than was asked for.
var remoteConfig = []string{
	"protocol.https.allow=always", "protocol.http.allow=always", "protocol.ssh.allow=always",
	"push.gpgSign=false", "push.followTags=false", "push.recurseSubmodules=no", "push.pushOption=",
	"core.askPass=", "credential.interactive=false",
	"http.lowSpeedLimit=1000", "http.lowSpeedTime=30",
}

// passedOn are the variables of the daemon's environment with which the person's git
// and ssh find their configuration, keys and proxies.
var passedOn = []string{
	"XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "USER", "LOGNAME", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_SSH", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
	"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
}

// remote runs git on our repository with the network, and with the person's own
// configuration of git and ssh, which has their keys, proxies and certificates. The
// configuration and the hooks of their repository are not read.
func (w *Workspace) remote(ctx context.Context, r Remote, args ...string) (stdout, stderr string, err error) {
	c := call{gitDir: w.gitDir, args: args, config: append([]string{}, remoteConfig...)}
	env := append(identityEnv(), personEnv()...)
	if u, err := url.Parse(r.URL); err == nil && r.TokenFile != "" && (u.Scheme == "https" || u.Scheme == "http") {
		if u.Scheme == "http" && !isLoopback(u.Hostname()) {
			return "", "", &ledger.ForgeError{Failure: ledger.ForgeLogin, Text: "the token is not sent to " + u.Host + " without encryption", Remedy: "Change the remote's address to https."}
		}
		// Nobody else gets it: neither another host that this one redirects to, nor a
		// helper that would store it.
		c.config = append(c.config, "credential.helper=", "credential."+u.Scheme+"://"+u.Host+".helper="+credentialHelper)
		env = append(env, "NIGHTPORTER_TOKEN_FILE="+r.TokenFile)
	}
	if _, own := os.LookupEnv("GIT_SSH_COMMAND"); !own {
		env = append(env, "GIT_SSH_COMMAND="+w.sshCommand(ctx))
	}
	cmd := w.command(ctx, c)
	cmd.Env = env
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{w: &out, left: 1 << 20}, &limited{w: &said, left: 64 << 10}
	err = cmd.Run()
	stdout, stderr = out.String(), said.String()
	switch {
	case err == nil:
		return stdout, stderr, nil
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errRemoteSlow):
		return stdout, stderr, &ledger.ForgeError{Failure: ledger.ForgeAway, Text: ShowURL(r.URL) + " does not answer in time"}
	case ctx.Err() != nil:
		return stdout, stderr, context.Cause(ctx)
	}
	if fault := gitFault(stderr, w.gitDir); fault != nil {
		return stdout, stderr, &gitError{args: args, gitDir: w.gitDir, stderr: ShowURL(r.URL), cause: fault}
	}
	return stdout, stderr, remoteError(r, stdout, stderr)
}

// personEnv returns what lets git find the person's own configuration. Nobody is
// asked for anything.
func personEnv() []string {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/dev/null"
	}
	env := []string{"HOME=" + home, "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never"}
	for _, key := range passedOn {
		if v, ok := os.LookupEnv(key); ok {
			env = append(env, key+"="+v)
		}
	}
	return env
}

// sshCommand returns the ssh of the person's git configuration, told to ask nobody.
func (w *Workspace) sshCommand(ctx context.Context) string {
	command, err := w.person(ctx, "/", "config", "--get", "core.sshCommand")
	if err != nil || strings.TrimSpace(command) == "" {
		command = "ssh"
	}
	program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	if path.Base(program) != "ssh" { // a program of their own has options of its own
		return command
	}
	return command + " -o BatchMode=yes -o ConnectTimeout=20"
}

// person runs git in a folder with the person's own configuration, for questions
// that execute nothing.
func (w *Workspace) person(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := w.command(ctx, call{dir: dir, args: args})
	cmd.Env = append(append(identityEnv(), personEnv()...), ceiling(dir)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{w: &out, left: 64 << 10}, &limited{w: &said, left: 64 << 10}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if cmd.ProcessState == nil {
			return "", err
		}
		return "", &gitError{args: args, code: cmd.ProcessState.ExitCode(), stderr: said.String(), cause: gitFault(said.String())}
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
