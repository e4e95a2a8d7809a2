package programtest

import (
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
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

	n   TwoTasks
	git *httptest.Server
}

// NewForge starts a forge that has the branch main of a machine's repository, and
// lets the machine's configuration push there. settings are lines of the project.
func NewForge(n TwoTasks, settings string) *Forge {
	n.T.Helper()
	s := &Forge{Server: github.New(), n: n}
	n.T.Cleanup(s.Close)
	n.Out("git", "init", "-q", "--bare", "forge/acme/shop.git")
	n.Out("git", "-C", "forge/acme/shop.git", "config", "http.receivepack", "true")
	n.Out("git", "-C", "repo", "push", "-q", "../forge/acme/shop.git", "HEAD:refs/heads/main")
	s.know()
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(n.Out("git", "--exec-path")), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + n.Path("forge"), "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"},
	}
	s.git = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	n.T.Cleanup(s.git.Close)
	n.Out("git", "-C", "repo", "remote", "add", "origin", s.git.URL+"/acme/shop.git")
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

// know tells the interface where the branches stand.
func (s *Forge) know() {
	out, _, err := s.n.Output("git", "-C", "forge/acme/shop.git", "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads")
	if err != nil {
		s.n.T.Error(err)
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
