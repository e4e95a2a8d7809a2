package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const evilHat = "[hat]\nname = \"builder\"\nrole = \"evil\"\n[hat.exit]\nemit_event = \"build.complete\"\n"

func symlink(t *testing.T, to, link string) {
	t.Helper()
	if err := os.Symlink(to, link); err != nil {
		t.Fatal(err)
	}
}

func fifo(t *testing.T, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRepositoryHatsNeedTrust: hats of a repository count only when the project
// trusts it (docs/spec 12.3).
func TestRepositoryHatsNeedTrust(t *testing.T) {
	dir := setupSite(t)
	write(t, dir+"/blog/.nightporter/hats/evil.toml", evilHat)
	write(t, dir+"/blog/.nightporter/patterns/evil.toml", "name = \"single\"\nstart = \"builder\"\nmin_rounds = 7\n[[route]]\nfrom = \"builder\"\non = \"build.complete\"\nto = \"converged\"\n")
	cfg := &Config{File: dir + "/nightporter.toml", dir: "."}
	p := &Project{Name: "blog", Repo: dir + "/blog", Source: Source{"plan", "p.md"}, Pattern: "single"}
	for _, trust := range []bool{false, true} {
		p.TrustRepo = trust
		hats, err := Hats(cfg, p)
		if err != nil {
			t.Fatal(err)
		}
		patterns, err := Patterns(cfg, p)
		if err != nil {
			t.Fatal(err)
		}
		s := settings(t, cfg, *p, Overrides{})
		for of, h := range map[string]string{"Hats": hats["builder"].Role, "Settings": s.Hats["builder"].Role} {
			if got := h == "evil"; got != trust {
				t.Errorf("trust_repo = %v: %s uses the repository's hat: %v", trust, of, got)
			}
		}
		if hats["builder"].Shipped == trust || !hats["fixer"].Shipped {
			t.Errorf("trust_repo = %v: shipped %v, and the fixer %v", trust, hats["builder"].Shipped, hats["fixer"].Shipped)
		}
		if got := patterns["single"].MinRounds == 7; got != trust || s.Pattern.MinRounds == 7 != trust {
			t.Errorf("trust_repo = %v: the repository's pattern is used: %v", trust, got)
		}
	}
	if hats, err := Hats(cfg, nil); err != nil || hats["builder"].Role == "evil" {
		t.Errorf("without a project: %v %v", hats["builder"].Role, err)
	}
}

// TestRepositorySpecialFiles: without trust no file below .nightporter is
// opened, because opening a FIFO blocks. With trust a FIFO is refused and does
// not block either.
func TestRepositorySpecialFiles(t *testing.T) {
	for name, lay := range map[string]func(repo string){
		"hat":      func(repo string) { fifo(t, repo+"/.nightporter/hats/builder.toml") },
		"pattern":  func(repo string) { fifo(t, repo+"/.nightporter/patterns/x.toml") },
		"hats":     func(repo string) { fifo(t, repo+"/.nightporter/hats") },
		"patterns": func(repo string) { fifo(t, repo+"/.nightporter/patterns") },
		"folder":   func(repo string) { fifo(t, repo+"/.nightporter") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := setupSite(t)
			lay(dir + "/blog")
			cfg := &Config{File: dir + "/nightporter.toml", dir: "."}
			p := Project{Name: "blog", Repo: dir + "/blog", Source: Source{"plan", "p.md"}}
			settings(t, cfg, p, Overrides{})
			p.TrustRepo = true
			_, err := p.Settings(cfg, Overrides{}, testNow)
			var bad *Error
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), "blog/.nightporter") || !strings.Contains(err.Error(), "not a") {
				t.Errorf("trusted: %v", err)
			}
		})
	}
}

// TestLinks: a person's own folder may contain links, as dotfiles do; links in
// a repository must not lead to other files of the host.
func TestLinks(t *testing.T) {
	const refused = "a link that leads out of the repository, or is absolute\n    Put the file itself there"
	for name, c := range map[string]struct {
		lay  func(t *testing.T, dir, repo string)
		want string // "" = the hat is used
	}{
		"within": {func(t *testing.T, _, repo string) {
			write(t, repo+"/b.toml", evilHat)
			mkdir(t, repo+"/.nightporter/hats")
			symlink(t, "../../b.toml", repo+"/.nightporter/hats/b.toml")
		}, ""},
		"folder within": {func(t *testing.T, _, repo string) {
			write(t, repo+"/etc/hats/b.toml", evilHat)
			symlink(t, "etc", repo+"/.nightporter")
		}, ""},
		"out": {func(t *testing.T, _, repo string) {
			mkdir(t, repo+"/.nightporter/hats")
			symlink(t, "../../../secret.toml", repo+"/.nightporter/hats/b.toml")
		}, refused},
		"absolute": {func(t *testing.T, dir, repo string) {
			mkdir(t, repo+"/.nightporter/hats")
			symlink(t, dir+"/secret.toml", repo+"/.nightporter/hats/b.toml")
		}, refused},
		"folder of hats": {func(t *testing.T, _, repo string) {
			mkdir(t, repo+"/.nightporter")
			symlink(t, "../../elsewhere", repo+"/.nightporter/hats")
		}, refused},
		"the folder itself": {func(t *testing.T, _, repo string) { symlink(t, "..", repo+"/.nightporter") }, refused},
		"a circle": {func(t *testing.T, _, repo string) {
			mkdir(t, repo+"/.nightporter")
			symlink(t, "hats", repo+"/.nightporter/hats")
		}, "too many levels"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := setupSite(t)
			write(t, dir+"/secret.toml", evilHat)
			write(t, dir+"/elsewhere/b.toml", evilHat)
			write(t, dir+"/hats/b.toml", "") // the file that a link through ".." would reach
			c.lay(t, dir, dir+"/blog")
			symlink(t, "blog", dir+"/link") // the repository itself may be reached through a link
			for _, repo := range []string{"/blog", "/link"} {
				hats, err := Hats(Empty(), &Project{Repo: dir + repo, TrustRepo: true})
				if c.want == "" {
					if err != nil || hats["builder"].Role != "evil" {
						t.Errorf("%s: %v %v", repo, hats["builder"].Role, err)
					}
				} else if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v; want %q", repo, err, c.want)
				}
			}
			hats, err := Hats(Empty(), &Project{Repo: dir + "/blog"})
			if err != nil || !hats["builder"].Shipped {
				t.Errorf("not trusted: %v", err)
			}
		})
	}

	dir := setupSite(t)
	write(t, dir+"/dotfiles/b.toml", evilHat)
	symlink(t, dir+"/dotfiles/b.toml", dir+"/hats/b.toml")
	hats, err := Hats(&Config{File: dir + "/nightporter.toml", dir: "."}, nil)
	if err != nil || hats["builder"].Role != "evil" || hats["builder"].Shipped {
		t.Errorf("a link beside the config file: %v %v", hats["builder"], err)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestHatFolders: a caller that watches these folders and calls Settings after
// each change sees the files on disk.
func TestHatFolders(t *testing.T) {
	dir := setupSite(t)
	write(t, dir+"/nightporter.toml", "[[project]]\nname = \"blog\"\nrepo = \"blog\"\nsource = \"plan:p.md\"\n")
	cfg := load(t)
	p := cfg.Projects[0]
	own := []string{dir + "/hats", dir + "/patterns"} // hats exists, patterns does not
	repo := []string{dir + "/blog/.nightporter/hats", dir + "/blog/.nightporter/patterns"}
	for name, c := range map[string]struct {
		cfg   *Config
		trust bool
		want  []string
	}{
		"config":           {cfg, false, own},
		"config and trust": {cfg, true, append(own, repo...)},
		"trust":            {Empty(), true, repo},
		"neither":          {Empty(), false, nil},
	} {
		p.TrustRepo = c.trust
		if d := cmp.Diff(c.want, p.HatFolders(c.cfg)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}

	p.TrustRepo = true
	for n, folder := range p.HatFolders(cfg) {
		if filepath.Base(folder) != hatFolder {
			continue
		}
		file := filepath.Join(folder, "b.toml")
		write(t, file, strings.Replace(evilHat, "evil", folder, 1))
		if s := settings(t, cfg, p, Overrides{}); s.Hats["builder"].Role != folder || s.Hats["builder"].Shipped {
			t.Errorf("%d: a hat in %s is not used", n, folder)
		}
		write(t, file, strings.Replace(evilHat, "role", "rol", 1))
		if _, err := p.Settings(cfg, Overrides{}, testNow); err == nil || !strings.Contains(err.Error(), `b.toml:3:1  unknown key "rol" in [hat]`) {
			t.Errorf("%d: a broken hat in %s: %v", n, folder, err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if s := settings(t, cfg, p, Overrides{}); !s.Hats["builder"].Shipped {
			t.Errorf("%d: a hat that is gone from %s is still used", n, folder)
		}
	}
}
