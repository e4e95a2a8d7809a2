package programtest

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/nightporter/nightporter/internal/fake/github"
)

// Forge is a GitHub: git's own server behind the token, and the interface, which
// knows each commit that is pushed.
type Forge struct {
	*github.Server
	Pushes atomic.Int32 // that moved a branch
	Check  string       // that begins for each pushed commit; "" = none
	Remote string       // the repository's address for git

	t    testOf
	bare string // folder of the repository
}

// NewForge starts a forge that has the branch main of a machine's repository, and
// lets the machine's configuration push there. settings are lines of the project.
func NewForge(n TwoTasks, settings string) *Forge {
	n.T.Helper()
	s := StartForge(n.T, n.Path("forge"), n.Path("repo"))
	file := n.Path("config", "nightporter", "nightporter.toml")
	config, err := os.ReadFile(file)
	if err != nil {
		n.T.Fatal(err)
	}
	text := string(config) + "push = \"end\"\nforge = \"github\"\n" + settings + "\n[github]\napi = \"" + s.URL + "\"\n"
	for file, text := range map[string]string{file: text, n.Path("config", "nightporter", "github.token"): s.Token + "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			n.T.Fatal(err)
		}
	}
	return s
}

// testOf is the test, or the script, that a forge belongs to.
type testOf interface {
	Helper()
	Cleanup(f func())
	Fatal(args ...any)
	Error(args ...any)
}

// StartForge starts a forge, with its files in the folder dir, that has the branch
// main of the repository in repo, and makes it the remote origin there.
func StartForge(t testOf, dir, repo string) *Forge {
	t.Helper()
	s := &Forge{Server: github.New(), t: t, bare: filepath.Join(dir, "acme", "shop.git")}
	t.Cleanup(s.Close)
	git := func(args ...string) string {
		t.Helper()
		out, err := gitOutput(args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	git("init", "-q", "--bare", s.bare)
	git("-C", s.bare, "config", "http.receivepack", "true")
	git("-C", repo, "push", "-q", s.bare, "HEAD:refs/heads/main")
	s.know()
	backend := &cgi.Handler{
		Path: filepath.Join(git("--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pass, _ := r.BasicAuth(); pass != s.Token {
			w.Header().Set("WWW-Authenticate", `Basic realm="forge"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if !strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.ContentLength == 4 { // 4: a flush, by which git tries whether it may
			backend.ServeHTTP(w, r)
			return
		}
		out := httptest.NewRecorder() // the interface knows the commit before the push has its answer
		backend.ServeHTTP(out, r)
		s.Pushes.Add(1)
		s.know()
		maps.Copy(w.Header(), out.Header())
		w.WriteHeader(out.Code)
		_, _ = w.Write(out.Body.Bytes()) // a client that is gone has its answer by looking
	}))
	t.Cleanup(server.Close)
	s.Remote = server.URL + "/acme/shop.git"
	git("-C", repo, "remote", "add", "origin", s.Remote)
	return s
}

// gitOutput runs git with no settings of the person who runs the tests.
func gitOutput(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		err = fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}

// know tells the interface where the branches stand.
func (s *Forge) know() {
	out, err := gitOutput("-C", s.bare, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads")
	if err != nil {
		s.t.Error(err)
	}
	for line := range strings.Lines(out) {
		if branch, commit, _ := strings.Cut(strings.TrimSpace(line), " "); s.Tip(branch) != commit {
			s.Push(branch, commit, s.Login)
			if s.Check != "" {
				s.Run(commit, s.Check, "in_progress", "", "")
			}
		}
	}
}
