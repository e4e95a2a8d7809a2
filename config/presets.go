package config

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/loop"
)

// presets are the hats and patterns of the house.
//
//go:embed presets/hats/*.toml presets/patterns/*.toml
var presets embed.FS

// Folders of hats and patterns, beside a config file and in a repository's
// .nightporter.
const (
	hatFolder     = "hats"
	patternFolder = "patterns"
	repoFolder    = ".nightporter"
)

// layer is one place in which hats and patterns are found. A later one's
// replace an earlier one's of the same name.
type layer struct {
	dir     string // of the folders "hats" and "patterns"
	shipped bool   // within presets
}

// layers of a project, or of the house where p is nil (SPEC 12.3).
func (c *Config) layers(p *Project) []layer {
	out := []layer{{dir: "presets", shipped: true}}
	if c.File != "" {
		out = append(out, layer{dir: c.dir})
	}
	if p != nil && p.TrustRepo && p.Repo != "" {
		out = append(out, layer{dir: filepath.Join(p.Repo, repoFolder)})
	}
	return out
}

// catalogue is every hat and pattern that a project can use.
type catalogue struct {
	hats     map[string]loop.Hat
	patterns map[string]patternFile
}

// parsedHat is a hat and the document that it was read from.
type parsedHat struct {
	hat loop.Hat
	doc *document
}

// catalogue reads all layers anew: the files are few, and the only copy that
// cannot be stale is the one on disk.
func (c *Config) catalogue(p *Project) (catalogue, []Problem) {
	cat := catalogue{hats: map[string]loop.Hat{}, patterns: map[string]patternFile{}}
	var problems []Problem
	for _, l := range c.layers(p) {
		hats, ps := readFolder(l, hatFolder, readHat)
		problems = append(problems, ps...)
		for name, h := range hats {
			h.hat.Shipped = l.shipped
			cat.hats[name] = h.hat
			if near, ok := c.knowsAgent(h.hat.Agent); !ok {
				problems = append(problems, unknownAgent(h.doc.atValue([]string{"agent", "name"}, ""), h.hat.Agent, near))
			}
		}
		patterns, ps := readFolder(l, patternFolder, readPattern)
		problems = append(problems, ps...)
		maps.Copy(cat.patterns, patterns)
	}
	return cat, problems
}

// readFolder reads every .toml file of a folder, which need not be there. Two
// files that define the same name are refused, since which of them would hold
// depends on the order in which they are read.
func readFolder[T any](l layer, kind string, read func(*document) (string, T, []Problem)) (map[string]T, []Problem) {
	dir := filepath.Join(l.dir, kind)
	var (
		entries []fs.DirEntry
		err     error
	)
	if l.shipped {
		entries, err = presets.ReadDir(dir)
	} else {
		entries, err = os.ReadDir(dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []Problem{{File: dir, Text: "cannot be read: " + reason(err)}}
	}
	out, from := map[string]T{}, map[string]string{}
	var problems []Problem
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".toml") {
			continue
		}
		doc, ps := openDocument(l, filepath.Join(dir, e.Name()))
		if doc == nil {
			problems = append(problems, ps...)
			continue
		}
		name, v, ps := read(doc)
		problems = append(problems, ps...)
		if other, twice := from[name]; twice && name != "" {
			problems = append(problems, doc.atValue(doc.namePath(), fmt.Sprintf("%q is defined in %s, too: one name, one file", name, other)))
			continue
		}
		if name != "" { // also of a broken one: what names it is right
			out[name], from[name] = v, e.Name()
		}
	}
	return out, problems
}

func openDocument(l layer, file string) (*document, []Problem) {
	if !l.shipped {
		return readDocument(file, maxHatBytes)
	}
	src, err := presets.ReadFile(file)
	if err != nil {
		return nil, []Problem{{File: file, Text: reason(err)}}
	}
	doc, problems := parseDocument(file, src)
	if doc != nil {
		doc.shipped = true
	}
	return doc, problems
}

// namePath is where a hat or a pattern says its name.
func (d *document) namePath() []string {
	if d.has("hat", "name") {
		return []string{"hat", "name"}
	}
	return []string{"name"}
}
