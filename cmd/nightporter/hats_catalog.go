package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nightporter/nightporter/loop/ledger"
)

// find notes which file of a folder each hat is in. All of them were read and
// found to be right a moment ago.
func (c hatCatalog) find(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.toml"))
	if err != nil {
		return fmt.Errorf("hats: %w", err)
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), ".") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("hats: %w", err)
		}
		var in struct {
			Hat struct {
				Name string `toml:"name"`
			} `toml:"hat"`
		}
		if err := toml.Unmarshal(text, &in); err != nil {
			return fmt.Errorf("hats: %s: %w", file, err)
		}
		c.from[in.Hat.Name] = file
	}
	return nil
}

// origin says where a hat comes from.
func (c hatCatalog) origin(name string) string {
	if file, own := c.from[name]; own {
		return file
	}
	return "built in"
}

// hatCatalog is every hat and pattern that counts, and where each hat comes from.
type hatCatalog struct {
	hats     map[string]ledger.Hat
	patterns map[string]ledger.Pattern
	from     map[string]string // file of a person's own hat
}
