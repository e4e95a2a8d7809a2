package crash

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/github"
	"github.com/nightporter/nightporter/internal/programtest"
)

// publishPoints are the points from the last commit to the end of a run that pushes.
// Adjacent points are in different runs.
var publishPoints = [][]string{
	{"before-effect:push", "before-commit:push_finished", "before-effect:request", "before-commit:request_finished"},
	{"after-effect:push", "after-commit:push_finished", "after-effect:request"},
	{"after-effect:commit", "after-effect:push", "after-effect:request", "before-commit:request_finished"},
}

// forgeServer is a GitHub: git's own server behind the token, and the interface.
type forgeServer struct {
	*github.Server
	git    *httptest.Server
	pushes atomic.Int32 // that moved a branch
}

// It takes a project's setting pr, and the branches that are pushed, in their order.
func newForgeServer(t *testing.T, n run, pr string, branches ...string) *forgeServer {
	t.Helper()
	s := &forgeServer{Server: github.New()}
	t.Cleanup(s.Close)
	n.Out("git", "init", "-q", "--bare", "forge/acme/shop.git")
	n.Out("git", "-C", "forge/acme/shop.git", "config", "http.receivepack", "true")
	n.Out("git", "-C", "repo", "push", "-q", "../forge/acme/shop.git", "HEAD:refs/heads/main")
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
		if strings.HasSuffix(r.URL.Path, "/git-receive-pack") && r.ContentLength != 4 { // 4: a flush, by which git tries whether it may
			at := int(s.pushes.Add(1))
			s.Commit(branches[min(at, len(branches))-1], s.Login)
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(s.git.Close)
	n.Out("git", "-C", "repo", "remote", "add", "origin", s.git.URL+"/acme/shop.git")
	file := n.Path("config", "nightporter", "nightporter.toml")
	config, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(config) + "push = \"end\"\nforge = \"github\"\npr = " + pr + "\n[github]\napi = \"" + s.URL + "\"\n"
	for file, text := range map[string]string{file: text, n.Path("config", "nightporter", "github.token"): s.Token + "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestCrashWhilePublishing kills the program at every step between a run's last
// commit and its end: there is one push and one request, and the token is nowhere.
func TestCrashWhilePublishing(t *testing.T) {
	t.Parallel()
	for _, points := range append([][]string{nil}, publishPoints...) {
		name := "none"
		if points != nil {
			name = points[0]
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := run{programtest.NewTwoTasks(t)}
			s := newForgeServer(t, n, "{ draft = true }", "nightporter/shop/r1")
			if crashed := n.Through(points...); crashed < len(points) {
				t.Errorf("the run never came to %s", points[crashed])
			}
			tip := n.Out("git", "-C", "repo", "rev-parse", "nightporter/shop/r1")
			if there := n.Out("git", "-C", "forge/acme/shop.git", "for-each-ref", "--format=%(objectname)", "refs/heads/nightporter"); there != tip {
				t.Errorf("the remote has %q, and the branch is %q", there, tip)
			}
			if pushes := s.pushes.Load(); pushes != 1 {
				t.Errorf("%d pushes", pushes)
			}
			pulls := s.Pulls()
			if len(pulls) != 1 || !pulls[0].Draft || pulls[0].Base != "main" {
				t.Fatalf("requests: %+v", pulls)
			}
			for _, want := range []string{"`Task 1` First", "`Task 2` Second", "`sh ./verify.sh` passes", "g1 " + programtest.Guided} {
				if !strings.Contains(pulls[0].Body, want) {
					t.Errorf("the request lacks %q:\n%s", want, pulls[0].Body)
				}
			}
			out := n.Out("nightporter", "status") + n.Out("nightporter", "evidence", "2") + n.Out("nightporter", "log")
			for _, want := range []string{"Branch nightporter/shop/r1, PR 1", "✓ PR 1"} {
				if !strings.Contains(out, want) {
					t.Errorf("nobody says %q:\n%s", want, out)
				}
			}
			if found := n.find(s.Token); len(found) != 1 {
				t.Errorf("the token is in %q", found)
			}
		})
	}
}

// find returns the files of the machine that hold a text.
func (n run) find(text string) (files []string) {
	n.T.Helper()
	err := filepath.WalkDir(n.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what went meanwhile holds nothing
		}
		data, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(data), text) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		n.T.Fatal(err)
	}
	return files
}
