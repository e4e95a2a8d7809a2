package config

import (
	"embed"
	"maps"
	"path/filepath"
	"strconv"

	"github.com/nightporter/nightporter/loop/ledger"
)

// presets holds the built-in hats, patterns and kinds of fixes.
//
//go:embed presets/hats/*.toml presets/patterns/*.toml presets/kinds/*.toml presets/tiers.toml presets/prices.toml
var presets embed.FS

// Folders of hats and patterns, beside a config file and in a repository's
// .nightporter.
const (
	hatFolder     = "hats"
	patternFolder = "patterns"
	repoFolder    = ".nightporter"
)

// layer is one location of hats and patterns. A later layer replaces hats and
// patterns of the same name in earlier ones.
type layer struct {
	dir     string // holds the folders "hats" and "patterns"
	shipped bool   // dir is inside presets
	repo    string // the repository that contains dir, which no link may leave; "" = the person's own folder
}

// layers returns the places of a project's hats and patterns, or of those for all
// projects if p is nil (docs/spec 12.3).
func (c *Config) layers(p *Project) []layer {
	out := []layer{{dir: "presets", shipped: true}}
	if c.File != "" {
		out = append(out, layer{dir: c.dir})
	}
	if p != nil && p.TrustRepo && p.Repo != "" {
		out = append(out, layer{dir: filepath.Join(p.Repo, repoFolder), repo: p.Repo})
	}
	return out
}

// HatFolders lists the folders that hold the project's hats and patterns,
// whether they exist or not. A caller watches them and calls Settings again
// after a change, because Settings reads them anew. The repository's folder is
// listed only when the repository is trusted.
func (p Project) HatFolders(cfg *Config) []string {
	var out []string
	for _, l := range cfg.layers(&p) {
		dir := l.dir
		switch {
		case l.shipped:
			continue
		case l.repo == "":
			dir = cfg.Dir() // absolute, unlike the name that was passed to Load
		}
		out = append(out, filepath.Join(dir, hatFolder), filepath.Join(dir, patternFolder))
	}
	return out
}

// catalogue holds every hat and pattern that a project can use.
type catalogue struct {
	hats     map[string]ledger.Hat
	files    map[string]parsedHat // the file of each hat
	patterns map[string]patternFile
}

// parsedHat is a hat with the document that it was read from.
type parsedHat struct {
	hat    ledger.Hat
	doc    *document
	broken bool // a problem with it has been reported
}

// catalogue reads all layers again on each call. The files are few, and a
// cached copy could be stale.
func (c *Config) catalogue(p *Project) (catalogue, []ledger.Diagnostic) {
	cat := catalogue{hats: map[string]ledger.Hat{}, files: map[string]parsedHat{}, patterns: map[string]patternFile{}}
	var problems []ledger.Diagnostic
	for _, l := range c.layers(p) {
		hats, ps := readFolder(l, hatFolder, readHat)
		problems = append(problems, ps...)
		for name, h := range hats {
			h.hat.Shipped = l.shipped
			cat.hats[name], cat.files[name] = h.hat, h
			if near, ok := c.knowsAgent(h.hat.Agent); !ok {
				problems = append(problems, unknownAgent(h.doc.atValue([]string{"agent", "name"}, ""), h.hat.Agent, near))
			}
			problems = append(problems, c.unknownFallbacks(h)...)
		}
		patterns, ps := readFolder(l, patternFolder, readPattern)
		problems = append(problems, ps...)
		maps.Copy(cat.patterns, patterns)
	}
	return cat, problems
}

// unknownFallbacks returns the mistakes in the fallbacks that a hat's file names.
func (c *Config) unknownFallbacks(h parsedHat) (problems []ledger.Diagnostic) {
	for n, name := range h.hat.Fallbacks {
		near, ok := c.knowsAgent(name)
		if ok {
			continue
		}
		at := []string{"agent", "fallback"}
		if item := append(at, strconv.Itoa(n)); h.doc.has(item...) {
			at = item
		}
		problems = append(problems, unknownAgent(h.doc.atValue(at, ""), name, near))
	}
	return problems
}
