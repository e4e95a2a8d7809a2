package egress

import (
	"context"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tool runs a real program with an environment of its own, and returns what it
// printed.
func tool(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// certificate writes the certificate of the servers outside into a file.
func (o *outside) certificate() string {
	o.t.Helper()
	name := filepath.Join(o.t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: o.tls.Certificate().Raw})
	if err := os.WriteFile(name, text, 0o600); err != nil {
		o.t.Fatal(err)
	}
	return name
}

// TestCurl has curl come by each way.
func TestCurl(t *testing.T) {
	o := newOutside(t)
	in := start(t, o.options("api.example.com", "*.wild.example.org"))
	dir, ca := t.TempDir(), o.certificate()
	direct := func(host string, port int) string {
		l := listen(t, "127.0.0.1:0")
		done := make(chan error, 1)
		go func() {
			done <- in.ServeDirect(&pretend{l, &net.TCPAddr{IP: in.Address(host).AsSlice(), Port: port}})
		}()
		t.Cleanup(func() { l.Close(); <-done })
		return fmt.Sprintf("%s:%d:%s", host, port, l.Addr())
	}
	proxy, socks := "http://"+in.http.Addr().String(), in.socks.Addr().String()
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"CONNECT", []string{"-x", proxy, "https://api.example.com/a"}, "GET https://api.example.com/a 0"},
		{"proxy", []string{"-x", proxy, "http://api.example.com/a"}, "GET http://api.example.com/a 0"},
		{"upload", []string{"-x", proxy, "-T", ca, "http://api.example.com/a"}, "PUT http://api.example.com/a"},
		{"CONNECT to port 80", []string{"-p", "-x", proxy, "http://api.example.com/a"}, "GET http://api.example.com/a 0"},
		{"SOCKS", []string{"-x", "socks5h://" + socks, "https://api.example.com/a"}, "GET https://api.example.com/a 0"},
		{"SOCKS to port 80", []string{"-x", "socks5h://" + socks, "http://api.example.com/a"}, "GET http://api.example.com/a 0"},
		{"SOCKS by address", []string{"-x", "socks5://" + socks, "--resolve", "api.example.com:443:" + in.Address("api.example.com").String(), "https://api.example.com/a"}, "GET https://api.example.com/a 0"},
		{"direct", []string{"--connect-to", direct("api.example.com", 443), "https://api.example.com/a"}, "GET https://api.example.com/a 0"},
		{"direct to port 80", []string{"--connect-to", direct("api.example.com", 80), "http://api.example.com/a"}, "GET http://api.example.com/a 0"},
		{"unknown by CONNECT", []string{"-v", "-x", proxy, "https://www.example.com/a"}, "403 nightporter: www.example.com:443 is not among hosts of [[project]]"},
		{"unknown", []string{"-x", proxy, "http://www.example.com/a"}, "nightporter: www.example.com:80 is not among hosts of [[project]]"},
		{"unknown direct", []string{"--connect-to", direct("www.example.com", 443), "https://www.example.com/a"}, "alert access denied"},
		{"unknown direct to port 80", []string{"--connect-to", direct("www.example.com", 80), "http://www.example.com/a"}, "nightporter: www.example.com:80 is not among hosts"},
		{"Host of another", []string{"-x", proxy, "-H", "Host: www.example.com", "http://api.example.com/"}, `the request is for "www.example.com"`},
	} {
		args := append([]string{"-sS", "--noproxy", "", "--cacert", ca}, c.args...)
		if out, _ := tool(t, dir, nil, "curl", args...); !strings.Contains(out, c.want) {
			t.Errorf("%s: %q, want %q", c.name, out, c.want)
		}
	}
}

// TestGit clones over https, through the proxy.
func TestGit(t *testing.T) {
	o := newOutside(t)
	dir := t.TempDir()
	git := func(env []string, args ...string) string {
		t.Helper()
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
		out, err := tool(t, dir, env, "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return out
	}
	git(nil, "init", "-q", "work")
	git(nil, "-C", "work", "commit", "-q", "--allow-empty", "-m", "from outside")
	git(nil, "clone", "-q", "--bare", "work", "files/repo.git")
	git(nil, "-C", "files/repo.git", "update-server-info")
	server := httptest.NewUnstartedServer(http.FileServer(http.Dir(filepath.Join(dir, "files"))))
	server.StartTLS()
	defer server.Close()
	o.serve(exampleAddr+":443", server.Listener)
	in := start(t, o.options("api.example.com"))
	env := []string{"https_proxy=http://" + in.http.Addr().String(), "GIT_SSL_CAINFO=" + o.certificate()}
	git(env, "clone", "-q", "https://api.example.com/repo.git", "clone")
	if log := git(nil, "-C", "clone", "log", "--format=%s"); log != "from outside\n" {
		t.Errorf("cloned %q", log)
	}
	if out, err := tool(t, dir, append(env, "GIT_CONFIG_NOSYSTEM=1"), "git", "ls-remote", "https://www.example.com/repo.git"); err == nil || !strings.Contains(out, "403") {
		t.Errorf("another host: %v\n%s", err, out)
	}
}
