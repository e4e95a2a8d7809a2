package workspace

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a" // of no account

// gitServer serves a bare repository over http as a forge does: git's own program,
// behind a token.
type gitServer struct {
	*httptest.Server
	repo  string
	calls atomic.Int32
	fail  atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
}

func newGitServer(t *testing.T) *gitServer {
	t.Helper()
	s := &gitServer{repo: filepath.Join(t.TempDir(), "shop.git")}
	git(t, "/", "init", "-q", "--bare", s.repo)
	git(t, s.repo, "config", "http.receivepack", "true")
	core := git(t, "/", "--exec-path")
	backend := &cgi.Handler{
		Path: filepath.Join(core, "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(s.repo), "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"PATH"},
		Stderr: testWriter{t},
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		if f := s.fail.Load(); f != nil && (*f)(w, r) {
			return
		}
		if _, pass, _ := r.BasicAuth(); pass != token {
			w.Header().Set("WWW-Authenticate", `Basic realm="forge"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) { return len(p), nil }

func (s *gitServer) remote(t *testing.T) Remote {
	t.Helper()
	file := filepath.Join(t.TempDir(), "forge.token")
	must(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	return Remote{URL: s.URL + "/shop.git", TokenFile: file}
}

// failsWith makes the server fail all calls.
func (s *gitServer) failsWith(status int, body string) {
	f := func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		fmt.Fprintln(w, body)
		return true
	}
	s.fail.Store(&f)
}

// committed returns a workspace whose run r1 has a commit, and that commit.
func committed(t *testing.T, change ...func(*Options)) (*Workspace, string) {
	t.Helper()
	w := workspace(t, shop(t), change...)
	base := begin(t, w, "r1")
	return w, nextCommit(t, w, base, base.Commit, base.Tree, "one")
}

// nextCommit makes a commit of a task on the branch of run r1.
func nextCommit(t *testing.T, w *Workspace, base ledger.Base, parent, tree, content string) string {
	t.Helper()
	c := session(t, w, base, tree, all, func(dir string) { writeFile(t, dir, "cart/cart.go", "package cart // "+content+"\n") })
	made, err := w.Commit(t.Context(), ledger.CommitTask{Run: "r1", Branch: base.Branch, Parent: parent, Tree: c.Tree, Author: base.Author, Subject: "feat: " + content, Time: "2026-11-19T23:10:00Z"}, nil)
	must(t, err)
	return made.Commit
}

// TestPush pushes to a path, over http and to what somebody else pushed to. A second
// push of the same is none.
func TestPush(t *testing.T) {
	w, commit := committed(t)
	server := newGitServer(t)
	dir := filepath.Join(t.TempDir(), "plain.git")
	git(t, "/", "init", "-q", "--bare", dir)
	// Hooks and settings of the user's repository take no part.
	hook := filepath.Join(w.o.Repo, ".git", "hooks", "pre-push")
	writeFile(t, filepath.Dir(hook), "pre-push", "#!/bin/sh\ntouch "+w.o.Repo+"/ran\nexit 1\n")
	must(t, os.Chmod(hook, 0o755))
	git(t, w.o.Repo, "config", "push.followTags", "true")
	git(t, w.o.Repo, "tag", "-a", "-m", "v1", "v1")
	for name, r := range map[string]Remote{"path": {URL: dir}, "http": server.remote(t)} {
		t.Run(name, func(t *testing.T) {
			repo := dir
			if name == "http" {
				repo = server.repo
			}
			for range 2 {
				got, err := w.Push(t.Context(), r, ledger.Push{Branch: "nightporter/shop/r1", Commit: commit})
				if err != nil || got != (ledger.Pushed{Commit: commit}) {
					t.Fatalf("%+v, %v", got, err)
				}
			}
			if refs := git(t, repo, "for-each-ref", "--format=%(objectname) %(refname)"); refs != commit+" refs/heads/nightporter/shop/r1" {
				t.Errorf("the remote has %s", refs)
			}
			has, err := w.RemoteBranches(t.Context(), r, "nightporter/shop/r1", "main")
			if err != nil || len(has) != 1 || has["nightporter/shop/r1"] != commit {
				t.Errorf("%v, %v", has, err)
			}
			// Somebody else adds a commit.
			theirs := git(t, repo, "commit-tree", "-p", commit, "-m", "theirs", commit+"^{tree}")
			git(t, repo, "update-ref", "refs/heads/nightporter/shop/r1", theirs)
			push := func(commit string, want ledger.Pushed) {
				t.Helper()
				got, err := w.Push(t.Context(), r, ledger.Push{Branch: "nightporter/shop/r1", Commit: commit})
				if err != nil || got != want {
					t.Errorf("%+v, %v", got, err)
				}
				if tip := git(t, repo, "rev-parse", "refs/heads/nightporter/shop/r1"); tip != want.Commit {
					t.Errorf("the remote has %s, not %s", tip, want.Commit)
				}
			}
			push(commit, ledger.Pushed{Commit: theirs}) // ours is there, below theirs
			next := git(t, w.gitDir, "commit-tree", "-p", commit, "-m", "next", commit+"^{tree}")
			push(next, ledger.Pushed{Commit: theirs, Theirs: theirs})
			// They merge both by hand, and push that.
			git(t, w.gitDir, "push", "-q", repo, next+":refs/heads/next")
			both := git(t, repo, "commit-tree", "-p", next, "-p", theirs, "-m", "both", commit+"^{tree}")
			git(t, repo, "update-ref", "refs/heads/nightporter/shop/r1", both)
			git(t, repo, "update-ref", "-d", "refs/heads/next")
			push(next, ledger.Pushed{Commit: both})
		})
	}
	if _, err := os.Stat(w.o.Repo + "/ran"); err == nil {
		t.Error("the user's pre-push hook ran")
	}
}

// TestPushOutOfOrder: a push that comes after a later one of ours changes nothing,
// and is none of others.
func TestPushOutOfOrder(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	first := nextCommit(t, w, base, base.Commit, base.Tree, "one")
	second := nextCommit(t, w, base, first, git(t, w.gitDir, "rev-parse", first+"^{tree}"), "two")
	dir := filepath.Join(t.TempDir(), "plain.git")
	git(t, "/", "init", "-q", "--bare", dir)
	for _, commit := range []string{second, first} {
		got, err := w.Push(t.Context(), Remote{URL: dir}, ledger.Push{Branch: base.Branch, Commit: commit})
		if err != nil || got != (ledger.Pushed{Commit: second}) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// TestPushNowhereElse: nothing but our own branches is pushed to.
func TestPushNowhereElse(t *testing.T) {
	w, commit := committed(t)
	dir := filepath.Join(t.TempDir(), "plain.git")
	git(t, "/", "init", "-q", "--bare", dir)
	for _, branch := range []string{"main", "nightporter/blog/r1", "", "nightporter/shop/../../main", "nightporter/shop/r1:refs/heads/main"} {
		if _, err := w.Push(t.Context(), Remote{URL: dir}, ledger.Push{Branch: branch, Commit: commit}); err == nil {
			t.Errorf("%q is pushed to", branch)
		}
	}
	for _, commit := range []string{"", "HEAD", "--force", "+" + commit} {
		if _, err := w.Push(t.Context(), Remote{URL: dir}, ledger.Push{Branch: "nightporter/shop/r1", Commit: commit}); err == nil {
			t.Errorf("%q is pushed", commit)
		}
	}
	if refs := git(t, dir, "for-each-ref"); refs != "" {
		t.Errorf("the remote has %s", refs)
	}
}

// TestPushRefused meets the refusals of real servers and of the network.
func TestPushRefused(t *testing.T) {
	w, commit := committed(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	nobody := "http://" + closed.Addr().String() + "/shop.git"
	must(t, closed.Close())
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	t.Cleanup(secure.Close)
	hooked := func(script string) Remote {
		dir := filepath.Join(t.TempDir(), "hooked.git")
		git(t, "/", "init", "-q", "--bare", dir)
		writeFile(t, filepath.Join(dir, "hooks"), "pre-receive", "#!/bin/sh\n"+script)
		must(t, os.Chmod(filepath.Join(dir, "hooks", "pre-receive"), 0o755))
		return Remote{URL: dir}
	}
	answers := func(status int, body string) func(t *testing.T) Remote {
		return func(t *testing.T) Remote {
			s := newGitServer(t)
			s.failsWith(status, body)
			return s.remote(t)
		}
	}
	for name, c := range map[string]struct {
		remote func(t *testing.T) Remote
		is     ledger.ForgeFailure
		says   string
	}{
		"wrong token": {func(t *testing.T) Remote {
			r := newGitServer(t).remote(t)
			must(t, os.WriteFile(r.TokenFile, []byte("wrong"), 0o600))
			return r
		}, ledger.ForgeLogin, "does not accept the login"},
		"no token":     {func(t *testing.T) Remote { return Remote{URL: newGitServer(t).remote(t).URL} }, ledger.ForgeLogin, "does not accept the login"},
		"no rights":    {answers(403, "Permission to shop.git denied to porter."), ledger.ForgeRights, "may not push"},
		"archived":     {answers(403, "This repository was archived so it is read-only."), ledger.ForgeArchived, "archived"},
		"missing":      {answers(404, "Repository not found."), ledger.ForgeMissing, "no such repository"},
		"limited":      {answers(429, "slow down"), ledger.ForgeLimited, "limits how often"},
		"broken":       {answers(502, "bad gateway"), ledger.ForgeAway, "bad gateway"},
		"nobody there": {func(*testing.T) Remote { return Remote{URL: nobody} }, ledger.ForgeAway, "onnect"},
		"no such host": {func(*testing.T) Remote { return Remote{URL: "https://forge.invalid/shop.git"} }, ledger.ForgeAway, "resolve"},
		"certificate":  {func(*testing.T) Remote { return Remote{URL: secure.URL + "/shop.git"} }, ledger.ForgeRefused, "not trusted"},
		"no such path": {func(*testing.T) Remote { return Remote{URL: "/nowhere/shop.git"} }, ledger.ForgeMissing, "no such repository"},
		"hook":         {func(*testing.T) Remote { return hooked("echo 'A commit needs a ticket' >&2; exit 1") }, ledger.ForgeRefused, "A commit needs a ticket"},
		"protected": {func(*testing.T) Remote {
			return hooked("echo 'error: GH006: Protected branch update failed.' >&2; exit 1")
		}, ledger.ForgeProtected, "GH006"},
		"secret in it": {func(*testing.T) Remote { return hooked("echo 'You pushed " + token + "' >&2; exit 1") }, ledger.ForgeRefused, "You pushed [secret removed"},
		"a branch in the way": {func(t *testing.T) Remote {
			dir := filepath.Join(t.TempDir(), "plain.git")
			git(t, "/", "init", "-q", "--bare", dir)
			git(t, w.gitDir, "push", "-q", dir, commit+":refs/heads/nightporter")
			return Remote{URL: dir}
		}, ledger.ForgeRefused, "'refs/heads/nightporter' exists"},
		"plain http": {func(t *testing.T) Remote {
			r := newGitServer(t).remote(t)
			r.URL = "http://forge.invalid/shop.git"
			return r
		}, ledger.ForgeLogin, "without encryption"},
		"ssh, unknown":  {func(*testing.T) Remote { return Remote{URL: "ssh://git@127.0.0.1:1/shop.git"} }, ledger.ForgeAway, ""},
		"cannot write":  {func(t *testing.T) Remote { return unwritable(t) }, ledger.ForgeRights, ""},
		"a deep secret": {answers(400, "Bearer "+token), ledger.ForgeRefused, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "cannot write" && os.Geteuid() == 0 {
				t.Skip("root can write everywhere")
			}
			_, err := w.Push(t.Context(), c.remote(t), ledger.Push{Branch: "nightporter/shop/r1", Commit: commit})
			refused, ok := errors.AsType[*ledger.ForgeError](err)
			if !ok || refused.Failure != c.is || !strings.Contains(refused.Text, c.says) {
				t.Fatalf("%#v, want %s with %q", err, c.is, c.says)
			}
			if strings.Contains(refused.Text+refused.Remedy, token) {
				t.Errorf("the token is told: %q", refused.Text)
			}
			if want := ledger.FaultRefused; refused.Passes() == (fault.Of(err) == want) {
				t.Errorf("fault %s, passes %v", fault.Of(err), refused.Passes())
			}
			if strings.ContainsAny(refused.Text, "\n\r") || len(refused.Text) > 600 {
				t.Errorf("%q", refused.Text)
			}
		})
	}
}

func unwritable(t *testing.T) Remote {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mine.git")
	git(t, "/", "init", "-q", "--bare", dir)
	must(t, os.Chmod(filepath.Join(dir, "objects"), 0o500))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "objects"), 0o700) })
	return Remote{URL: dir}
}

// TestPushShallow: a remote that takes no commits of a shallow clone says so.
func TestPushShallow(t *testing.T) {
	from := shopWith(t, map[string]string{"more.txt": "more\n"})
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, "/", "clone", "-q", "--depth=1", "file://"+from, clone)
	w := workspace(t, clone)
	base := begin(t, w, "r1")
	commit := nextCommit(t, w, base, base.Commit, base.Tree, "one")
	empty := filepath.Join(t.TempDir(), "empty.git")
	git(t, "/", "init", "-q", "--bare", empty)
	_, err := w.Push(t.Context(), Remote{URL: empty}, ledger.Push{Branch: base.Branch, Commit: commit})
	refused, ok := errors.AsType[*ledger.ForgeError](err)
	if !ok || refused.Failure != ledger.ForgeRefused || !strings.Contains(refused.Text, "shallow") {
		t.Errorf("%v", err)
	}
	if _, err := w.Push(t.Context(), Remote{URL: from}, ledger.Push{Branch: base.Branch, Commit: commit}); err != nil {
		t.Errorf("to where it was cloned from: %v", err)
	}
}

// TestTokenIsHidden looks at every process that a push starts: no argument and no
// variable holds the token.
func TestTokenIsHidden(t *testing.T) {
	w, commit := committed(t)
	server := newGitServer(t)
	var seen atomic.Int32
	look := func(http.ResponseWriter, *http.Request) bool {
		for _, file := range []string{"cmdline", "environ"} {
			all, _ := filepath.Glob("/proc/[0-9]*/" + file)
			for _, f := range all {
				data, err := os.ReadFile(f)
				if err == nil && strings.Contains(string(data), token) && !strings.Contains(string(data), "workspace.test") {
					seen.Add(1)
				}
			}
		}
		return false
	}
	server.fail.Store(&look)
	r := server.remote(t)
	if _, err := w.Push(t.Context(), r, ledger.Push{Branch: "nightporter/shop/r1", Commit: commit}); err != nil {
		t.Fatal(err)
	}
	if seen.Load() > 0 || server.calls.Load() < 3 {
		t.Errorf("%d processes had the token, in %d calls", seen.Load(), server.calls.Load())
	}
	// Another host than the remote's own gets none.
	var got atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, sent := r.BasicAuth(); sent {
			got.Store(true)
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="other"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(other.Close)
	away := func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, other.URL+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		return true
	}
	server.fail.Store(&away)
	if _, err := w.Push(t.Context(), r, ledger.Push{Branch: "nightporter/shop/r1", Commit: commit}); err == nil || got.Load() {
		t.Errorf("pushed through a redirect: %v; the token was sent: %v", err, got.Load())
	}
}

// TestPushEnds: a server that never answers does not keep a push that is cancelled.
func TestPushEnds(t *testing.T) {
	w, commit := committed(t)
	server := newGitServer(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the daemon ends")
	hang := func(_ http.ResponseWriter, r *http.Request) bool {
		cancel(stop)
		<-r.Context().Done()
		return true
	}
	server.fail.Store(&hang)
	began := time.Now()
	if _, err := w.Push(ctx, server.remote(t), ledger.Push{Branch: "nightporter/shop/r1", Commit: commit}); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestRemoteURL resolves the remotes of a configuration as the person's git does.
func TestRemoteURL(t *testing.T) {
	repo := shop(t)
	w := workspace(t, repo)
	git(t, repo, "remote", "add", "origin", "https://mira@forge.example/shop.git")
	git(t, repo, "remote", "add", "work", "work:shop.git")
	git(t, repo, "remote", "set-url", "--push", "work", "git@push.example:shop.git")
	git(t, repo, "remote", "add", "secret", "https://mira:"+token+"@forge.example/shop.git")
	git(t, repo, "remote", "add", "near", "../near.git")
	git(t, repo, "remote", "add", "ext", "ext::sh -c touch% /tmp/pwned")
	git(t, repo, "config", "--global", "url.https://forge.example/.insteadOf", "short:")
	git(t, repo, "remote", "add", "short", "short:shop.git")
	for remote, want := range map[string]string{
		"": "https://forge.example/shop.git", "origin": "https://forge.example/shop.git", "work": "git@push.example:shop.git",
		"near": filepath.Join(filepath.Dir(repo), "near.git"), "short": "https://forge.example/shop.git",
		"https://x.example/y": "https://x.example/y", "/srv/x.git": "/srv/x.git", "ssh://git@x.example/y": "ssh://git@x.example/y",
	} {
		got, err := w.RemoteURL(t.Context(), remote)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", remote, got, err, want)
		}
	}
	for remote, says := range map[string]string{
		"nowhere": `has no remote "nowhere"`, "secret": "password", "ext": "remote helper", "ftp://x.example/y": "ftp is not used", "--upload-pack=x": "has no remote",
		"https://%zz/": "no address", "ssh://-oProxyCommand=x/y": "no address",
	} {
		got, err := w.RemoteURL(t.Context(), remote)
		in, ok := errors.AsType[*ledger.InputError](err)
		if !ok || !strings.Contains(in.Error(), says) || strings.Contains(in.Error(), token) {
			t.Errorf("%q: %q, %v; want %q", remote, got, err, says)
		}
	}
}

// TestSSH pushes over ssh with a program of the person's configuration in ssh's
// place, which runs git as the other side would.
func TestSSH(t *testing.T) {
	w, commit := committed(t)
	dir := t.TempDir()
	git(t, "/", "init", "-q", "--bare", filepath.Join(dir, "shop.git"))
	writeFile(t, dir, "ssh", "#!/bin/sh\necho \"$*\" >>"+dir+"/args\nfor last; do :; done\ncd "+dir+"\nexec sh -c \"$last\"\n")
	must(t, os.Chmod(filepath.Join(dir, "ssh"), 0o755))
	if out, err := exec.CommandContext(t.Context(), "git", "config", "--global", "core.sshCommand", filepath.Join(dir, "ssh")+" -i key").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := w.Push(t.Context(), Remote{URL: "git@forge.example:shop.git"}, ledger.Push{Branch: "nightporter/shop/r1", Commit: commit})
	if err != nil || got.Commit != commit {
		t.Fatalf("%+v, %v", got, err)
	}
	if args := readFile(t, dir, "args"); !strings.Contains(args, "-i key -o BatchMode=yes") || !strings.Contains(args, "git@forge.example") {
		t.Errorf("ssh got %q", args)
	}
}
