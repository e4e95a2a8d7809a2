package config

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
)

func TestShippedHats(t *testing.T) {
	hats, _ := shipped(t)
	for name, want := range map[string]struct {
		emits   string
		payload []string
		writes  bool
		expect  loop.Expect
		model   string
	}{ // SPEC 4.1, 4.2, 4.6
		"planner":  {"plan.complete", []string{"summary"}, false, loop.ExpectNone, "strong"},
		"builder":  {"build.complete", []string{"summary", "files_modified"}, true, loop.ExpectPass, "fast"},
		"reviewer": {"review.verdict", []string{"summary", "issues"}, false, loop.ExpectNone, "strong"},
		"fixer":    {"fix.complete", []string{"summary", "files_modified", "resolved"}, true, loop.ExpectPass, "fast"},
	} {
		h := hats[name]
		if h.Name != name || !h.Shipped || !h.MayEmit(want.emits) || len(h.Emits) != 1 || h.Writes() != want.writes ||
			h.Expect != want.expect || h.Model != want.model || !cmp.Equal(h.Payload, want.payload) {
			t.Errorf("%s: %+v", name, h)
		}
		if h.MaxTokens != 40000 || h.Timeout.D() != time.Hour || h.StallTimeout.D() != 15*time.Minute {
			t.Errorf("%s: limits %d %s %s", name, h.MaxTokens, h.Timeout.D(), h.StallTimeout.D())
		}
		if want.writes && (!cmp.Equal(h.WriteAllowed, []string{"**"}) || !cmp.Equal(h.WriteDenied, []string{"docs/**"})) {
			t.Errorf("%s: scope %v minus %v", name, h.WriteAllowed, h.WriteDenied)
		}
		for _, f := range Floor() {
			if !strings.Contains(strings.Join(h.Denied, "\n"), f) {
				t.Errorf("%s does not deny %q", name, f)
			}
		}
		if n := len(h.Prompt); n < 500 || n > 4000 {
			t.Errorf("%s: prompt of %d bytes", name, n)
		}
		if strings.Contains(h.Prompt, "hat emit") {
			t.Errorf("%s: how to end is the prompt builder's to say", name)
		}
	}
}

func TestHatFilesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, file string)
		want string
	}{
		"too large": {func(t *testing.T, file string) { write(t, file, strings.Repeat("# large\n", 1<<17)) }, "larger than 256 kB"},
		"FIFO": {func(t *testing.T, file string) {
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
		"not UTF-8":   {func(t *testing.T, file string) { write(t, file, "[hat]\nname = \"\xff\"\n") }, "invalid UTF-8"},
		"unknown key": {func(t *testing.T, file string) { write(t, file, "[hat]\nname = \"x\"\nrol = \"r\"\n") }, "     3 | rol = \"r\"\n       | ^^^ meant \"role\"?"},
		"empty":       {func(t *testing.T, file string) { write(t, file, "") }, "a hat needs a name"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := laySite(t)
			c.make(t, dir+"/hats/x.toml")
			cfg := &Config{File: dir + "/nightporter.toml", dir: "."}
			_, err := Hats(cfg, nil)
			var bad *Error
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "hats/x.toml") {
				t.Errorf("Hats: %v; want %q", err, c.want)
			}
		})
	}
}

// SPEC 12.3: what lies in a repository counts only once it is trusted.
func TestRepositoryHatsNeedTrust(t *testing.T) {
	dir := laySite(t)
	write(t, dir+"/blog/.nightporter/hats/evil.toml", "[hat]\nname = \"builder\"\nrole = \"evil\"\n[hat.exit]\nemit_event = \"build.complete\"\n")
	cfg := &Config{File: dir + "/nightporter.toml", dir: "."}
	p := &Project{Name: "blog", Repo: dir + "/blog"}
	for _, trust := range []bool{false, true} {
		p.TrustRepo = trust
		hats, err := Hats(cfg, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := hats["builder"].Role == "evil"; got != trust {
			t.Errorf("trust_repo = %v: the repository's hat is used: %v", trust, got)
		}
		if hats["builder"].Shipped == trust {
			t.Errorf("trust_repo = %v: shipped %v", trust, hats["builder"].Shipped)
		}
	}
	if hats, err := Hats(cfg, nil); err != nil || hats["builder"].Role == "evil" {
		t.Errorf("without a project: %v %v", hats["builder"].Role, err)
	}
}
