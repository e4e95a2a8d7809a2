package egress

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// packageHosts are the registries of the test, under the names that the programs
// know: npm replaces the address of its own registry in what it reads.
var packageHosts = []string{"registry.npmjs.org", "proxy.golang.org", "pypi.org", "files.pythonhosted.org"}

// registry serves one package of each kind by TLS, and records the requests.
type registry struct {
	mu   sync.Mutex
	seen []string
}

func (r *registry) requests() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.seen, "\n")
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.seen = append(r.seen, req.Method+" https://"+req.Host+req.URL.Path)
	r.mu.Unlock()
	tarball := npmPackage()
	sum := sha512.Sum512(tarball)
	files := map[string]string{
		"registry.npmjs.org/np-test": fmt.Sprintf(`{"name":"np-test","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"np-test","version":"1.0.0","dist":{
			"tarball":"https://registry.npmjs.org/np-test/-/np-test-1.0.0.tgz","integrity":"sha512-%s"}}}}`, base64.StdEncoding.EncodeToString(sum[:])),
		"registry.npmjs.org/np-test/-/np-test-1.0.0.tgz": string(tarball),
		"proxy.golang.org/example.com/m/@v/list":         "v1.0.0\n",
		"proxy.golang.org/example.com/m/@v/v1.0.0.info":  `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`,
		"proxy.golang.org/example.com/m/@v/v1.0.0.mod":   "module example.com/m\n",
		"proxy.golang.org/example.com/m/@v/v1.0.0.zip":   zipOf(map[string]string{"example.com/m@v1.0.0/go.mod": "module example.com/m\n", "example.com/m@v1.0.0/m.go": "package m\n"}),
		"pypi.org/simple/np-test/":                       `<a href="https://files.pythonhosted.org/np_test-1.0.0-py3-none-any.whl">np_test-1.0.0-py3-none-any.whl</a>`,
		"files.pythonhosted.org/np_test-1.0.0-py3-none-any.whl": zipOf(map[string]string{
			"np_test.py": "", "np_test-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: np-test\nVersion: 1.0.0\n",
			"np_test-1.0.0.dist-info/WHEEL":  "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
			"np_test-1.0.0.dist-info/RECORD": "np_test.py,,\nnp_test-1.0.0.dist-info/METADATA,,\nnp_test-1.0.0.dist-info/WHEEL,,\nnp_test-1.0.0.dist-info/RECORD,,\n",
		}),
	}
	text, ok := files[req.Host+req.URL.Path]
	if !ok {
		http.NotFound(w, req)
		return
	}
	if strings.HasSuffix(req.URL.Path, "/") {
		w.Header().Set("Content-Type", "text/html")
	}
	_, _ = io.WriteString(w, text)
}

func npmPackage() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	text := `{"name":"np-test","version":"1.0.0"}`
	_ = w.WriteHeader(&tar.Header{Name: "package/package.json", Mode: 0o644, Size: int64(len(text))})
	_, _ = io.WriteString(w, text)
	_, _ = w.Close(), z.Close()
	return b.Bytes()
}

func zipOf(files map[string]string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, _ := w.Create(name)
		_, _ = io.WriteString(f, text)
	}
	_ = w.Close()
	return b.String()
}

// startRegistry serves the registry, and returns its certificate.
func startRegistry(t *testing.T, o *outside) (*registry, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: packageHosts, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &registry{}
	s := &http.Server{Handler: r, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		_ = s.Serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}))
	}()
	t.Cleanup(func() { _ = s.Close() })
	const address = "93.184.216.35"
	for _, h := range packageHosts {
		o.names[h] = []string{address}
	}
	o.serve(address+":443", l)
	return r, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestPackageManagers holds that the real package managers install from registries
// that are only read, and cannot publish to them.
func TestPackageManagers(t *testing.T) {
	o := newOutside(t)
	r, roots := startRegistry(t, o)
	opts := o.options()
	opts.Roots = x509.NewCertPool()
	opts.Roots.AppendCertsFromPEM(roots)
	opts.Policy.ReadOnly = parseHosts(t, packageHosts[:3]...)
	opts.Policy.Hosts = parseHosts(t, packageHosts[3]) // it serves files alone, by addresses that pip does not change
	in := start(t, opts)
	dir, tmp := t.TempDir(), t.TempDir()
	trusted := filepath.Join(tmp, "roots.pem")
	if err := os.WriteFile(trusted, roots, 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, want bool, program string, args ...string) {
		t.Helper()
		path, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("SKIPPED: no %s here", program)
		}
		cmd := exec.CommandContext(t.Context(), path, args...)
		proxy := "http://" + in.http.Addr().String()
		cmd.Dir = dir
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + tmp, "PIP_CERT=" + trusted, "HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "http_proxy=" + proxy, "https_proxy=" + proxy,
			"npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false", "GOFLAGS=-modcacherw", "GONOSUMDB=*", "GOTOOLCHAIN=local", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_CACHE_DIR=1"}, ReadOnlyVars(opts.Policy.ReadOnly)...)
		out, err := cmd.CombinedOutput()
		if (err == nil) != want {
			t.Errorf("%s %s: %v\n%s\n%s", program, strings.Join(args, " "), err, out, r.requests())
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("package.json", `{"name":"mine","version":"1.0.0"}`)
	write("go.mod", "module mine\n")
	write(".npmrc", "//registry.npmjs.org/:_authToken=dummy\n")
	t.Run("npm install", func(t *testing.T) { run(t, true, "npm", "install", "np-test") })
	t.Run("npm ci", func(t *testing.T) { // the lockfile names https addresses
		if err := os.RemoveAll(filepath.Join(dir, ".npm")); err != nil {
			t.Fatal(err)
		}
		run(t, true, "npm", "ci")
	})
	t.Run("npm publish", func(t *testing.T) { run(t, false, "npm", "publish") })
	t.Run("go get", func(t *testing.T) { run(t, true, "go", "get", "example.com/m@v1.0.0") })
	t.Run("pip install", func(t *testing.T) {
		if err := exec.Command("python3", "-m", "pip", "--version").Run(); err != nil {
			t.Skip("SKIPPED: no pip of python3 here")
		}
		run(t, true, "python3", "-m", "pip", "install", "--target", dir, "np-test")
	})
	for line := range strings.Lines(r.requests()) {
		if !strings.HasPrefix(line, "GET ") && !strings.HasPrefix(line, "HEAD ") {
			t.Errorf("a registry was asked for %s", line)
		}
	}
}
