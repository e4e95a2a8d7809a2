package gitea

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/internal/programtest"
)

// Variable names the folder that build.sh made.
const Variable = "NIGHTPORTER_GITEA"

// nobody is the user and group of the server where root starts it.
const nobody = 65534

// Limits of the server's start and end.
const (
	startTimeout = 90 * time.Second
	stopTimeout  = 20 * time.Second
)

// Server is a running Gitea.
type Server struct {
	URL     string // "http://127.0.0.1:PORT"
	SSHPort int
	Admin   *sdk.Client // an account with all rights

	dir, bin string
	cmd      *exec.Cmd
	pipe     io.Closer // the server ends when it is closed
	log      *programtest.Buffer
	ended    chan struct{}
}

// Start starts a Gitea from a folder that build.sh made. The caller ends it with
// Stop.
func Start(built string) (_ *Server, err error) {
	if _, err := os.Stat(filepath.Join(built, "gitea")); built == "" || err != nil {
		return nil, fmt.Errorf("no Gitea in %q: run internal/e2e/gitea/build.sh DIR and set %s to what it prints", built, Variable)
	}
	dir, err := os.MkdirTemp("", "gitea-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, log: &programtest.Buffer{}, ended: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if s.bin, err = s.reachable(built); err != nil {
		return nil, err
	}
	if err := s.configure(); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			return nil, err
		}
	}
	if out, err := s.command("migrate").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gitea migrate: %w\n%s", err, out)
	}
	token, err := s.createAdmin()
	if err != nil {
		return nil, err
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	s.Admin, err = s.Client(token)
	return s, err
}

// reachable returns the folder of the server, or of a copy if the server's account
// cannot enter the folders above it.
func (s *Server) reachable(built string) (string, error) {
	built, err := filepath.Abs(built)
	if err != nil {
		return "", err
	}
	open := true
	for at := built; at != filepath.Dir(at); at = filepath.Dir(at) {
		st, err := os.Stat(at)
		if err != nil {
			return "", err
		}
		open = open && st.Mode().Perm()&0o005 == 0o005
	}
	if open || os.Geteuid() != 0 {
		return built, nil
	}
	to := filepath.Join(s.dir, "program")
	if err := os.CopyFS(to, os.DirFS(built)); err != nil {
		return "", err
	}
	return to, os.Chmod(filepath.Join(to, "gitea"), 0o755)
}

// configure writes the configuration, with two ports that are free.
func (s *Server) configure() error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	s.URL, s.SSHPort = fmt.Sprintf("http://127.0.0.1:%d", ports[0]), ports[1]
	text := fmt.Sprintf(config, s.dir, s.bin, ports[0], s.URL, ports[1], secret(), secret())
	if err := os.WriteFile(s.ini(), []byte(text), 0o600); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		return os.Chown(s.ini(), nobody, nobody)
	}
	return nil
}

// config is the server's configuration: nothing runs by itself, and nothing leaves
// the machine.
const config = `
RUN_MODE = prod
WORK_PATH = %[1]s
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[3]d
ROOT_URL = %[4]s/
STATIC_ROOT_PATH = %[2]s
APP_DATA_PATH = %[1]s/data
OFFLINE_MODE = true
START_SSH_SERVER = true
BUILTIN_SSH_SERVER_USER = git
SSH_DOMAIN = 127.0.0.1
SSH_LISTEN_HOST = 127.0.0.1
SSH_LISTEN_PORT = %[5]d
SSH_PORT = %[5]d
LFS_START_SERVER = true
[database]
DB_TYPE = sqlite3
PATH = %[1]s/gitea.db
[repository]
ROOT = %[1]s/repositories
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = %[6]s
INTERNAL_TOKEN = %[7]s
PASSWORD_HASH_ALGO = pbkdf2$1000$50
[service]
DISABLE_REGISTRATION = true
NO_REPLY_ADDRESS = noreply.test
[session]
PROVIDER = memory
[queue]
TYPE = channel
[indexer]
ISSUE_INDEXER_TYPE = db
REPO_INDEXER_ENABLED = false
[cron]
ENABLED = false
[actions]
ENABLED = false
[picture]
DISABLE_GRAVATAR = true
[log]
MODE = console
LEVEL = Warn
`

// createAdmin creates the account with all rights and returns its token.
func (s *Server) createAdmin() (string, error) {
	out, err := s.command("admin", "user", "create", "--admin", "--username", "keeper", "--password", secret(), "--email", "keeper@example.test",
		"--must-change-password=false", "--access-token", "--access-token-name", "e2e", "--access-token-scopes", "all").CombinedOutput()
	for word := range strings.FieldsSeq(string(out)) {
		if len(word) == 40 && strings.Trim(word, "0123456789abcdef") == "" {
			return word, nil
		}
	}
	return "", fmt.Errorf("gitea admin user create: %w\n%s", errors.Join(err, errors.New("it printed no token")), out)
}

// run starts the server and waits until it answers.
func (s *Server) run() error {
	// The shell ends the server when its input ends: when Stop closes it, or when
	// this process is gone.
	s.cmd = s.command()
	serve := append([]string{"/bin/sh", "-c", `"$@" & read -r _; kill $!; wait $!`, "sh"}, append(s.cmd.Args, "web")...)
	s.cmd.Path, s.cmd.Args = "/bin/sh", serve
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.SysProcAttr.Setpgid = true
	pipe, err := s.cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.pipe = pipe
	go func() {
		_ = s.cmd.Wait() // how it ended matters only if somebody waits for its answer
		close(s.ended)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/healthz", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gitea does not answer within %s\n%s", startTimeout, s.Log())
		case <-s.ended:
			return fmt.Errorf("gitea ended\n%s", s.Log())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Stop ends the server and removes its files.
func (s *Server) Stop() error {
	if s.pipe != nil {
		_ = s.pipe.Close()
		select {
		case <-s.ended:
		case <-time.After(stopTimeout):
		}
		// Hooks of git may be left, and a server that does not end.
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.ended
	}
	return os.RemoveAll(s.dir)
}

// Log returns what the server printed.
func (s *Server) Log() string { return s.log.String() }

// command returns a command of the program, as the server's account and with
// nothing of the caller's environment.
func (s *Server) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, "gitea"), append([]string{"--config", s.ini(), "--work-path", s.dir}, args...)...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + s.dir, "USER=nobody", "GITEA_WORK_DIR=" + s.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	} else {
		cmd.Env[2] = "USER=" + os.Getenv("USER")
	}
	return cmd
}

func (s *Server) ini() string { return filepath.Join(s.dir, "app.ini") }

// freePorts returns n ports of 127.0.0.1 that were free just now. They lie below
// the range from which Linux takes the ports of clients and of listeners on port 0
// (ip(7), ip_local_port_range): in the seconds until the server listens, nothing
// else on a busy machine comes by them.
func freePorts(n int) ([]int, error) {
	const low, high, tries = 15000, 32768, 1000
	var out []int
	for range tries {
		port := low + mathrand.IntN(high-low)
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		defer func() { _ = l.Close() }() // all at the end, so that they differ
		if out = append(out, port); len(out) == n {
			return out, nil
		}
	}
	return nil, fmt.Errorf("found %d of %d free ports from %d to %d", len(out), n, low, high)
}

// secret returns a random text.
func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}
