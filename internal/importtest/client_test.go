package importtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// heavy may not be linked into the agents' client, whose start is what its
// calls cost (docs/architecture.md 7).
var heavy = []string{"net", "net/http", "crypto/tls", "os/exec", "os/user", "regexp", "text/template", "runtime/cgo"}

// linked is what `go list` says of a package.
type linked struct {
	ImportPath string
	Standard   bool
	CgoFiles   []string
	Module     *struct{ Path string }
}

// TestClientIsLight looks at everything that bin/hat is linked from, with cgo
// allowed: it must be free of it by itself, not by a build flag.
func TestClientIsLight(t *testing.T) {
	for _, v := range tooHeavy(linkedInto(t, module+"/cmd/hat")) {
		t.Error(v)
	}
}

// TestContractIsLight looks at the same for the contract of the sockets.
func TestContractIsLight(t *testing.T) {
	for _, v := range tooHeavy(linkedInto(t, module+"/internal/api")) {
		t.Error(v)
	}
}

func linkedInto(t *testing.T, pkg string) []linked {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,CgoFiles,Module", pkg)
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var list []linked
	for dec := json.NewDecoder(out); ; {
		var l linked
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("go list -json: %v", err)
		}
		list = append(list, l)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("go list %s: %v", pkg, err)
	}
	if len(list) < 3 {
		t.Fatalf("go list %s names only %d packages", pkg, len(list))
	}
	return list
}

// tooHeavy are the packages that a light program may not be linked from.
func tooHeavy(list []linked) []string {
	var out []string
	for _, l := range list {
		switch {
		case slices.Contains(heavy, l.ImportPath):
			out = append(out, fmt.Sprintf("links %s", l.ImportPath))
		case len(l.CgoFiles) > 0:
			out = append(out, fmt.Sprintf("links %s, which needs cgo: %s", l.ImportPath, strings.Join(l.CgoFiles, " ")))
		case !l.Standard && (l.Module == nil || l.Module.Path != module):
			out = append(out, fmt.Sprintf("links %s, which is neither ours nor of the standard library", l.ImportPath))
		}
	}
	return out
}

func TestTooHeavyIsFound(t *testing.T) {
	ours := &struct{ Path string }{module}
	got := tooHeavy([]linked{
		{ImportPath: "fmt", Standard: true},
		{ImportPath: "net/http", Standard: true},
		{ImportPath: "os/user", Standard: true, CgoFiles: []string{"cgo_lookup.go"}},
		{ImportPath: "plugin", Standard: true, CgoFiles: []string{"plugin_dlopen.go"}},
		{ImportPath: "github.com/some/thing", Module: &struct{ Path string }{"github.com/some/thing"}},
		{ImportPath: module + "/internal/api", Module: ours},
	})
	want := []string{
		"links net/http", "links os/user", "links plugin, which needs cgo: plugin_dlopen.go",
		"links github.com/some/thing, which is neither ours nor of the standard library",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
