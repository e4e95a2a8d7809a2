package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nightporter/nightporter/loop/ledger"
)

// scanFolder records the file of each hat in a folder. All files were parsed
// before, so an error means that one has just changed.
func (c hatCatalog) scanFolder(dir string) error {
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

// origin returns the path of a hat's file, or a note that it is built in.
func (c hatCatalog) origin(name string) string {
	if file, own := c.from[name]; own {
		return file
	}
	return "built in"
}

// hatCatalog holds the hats and patterns in force and the origin of each hat.
type hatCatalog struct {
	hats     map[string]ledger.Hat
	patterns map[string]ledger.Pattern
	agent    string            // the project's; "" outside of one
	from     map[string]string // path by name, for hats that are not built in
}
