package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nightporter/nightporter/config"
)

// The example loads a file, picks the project that the flags select, and
// resolves the settings of one run.
func Example() {
	dir, err := os.MkdirTemp("", "config-example-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	repo := filepath.Join(dir, "shop")
	if err := os.MkdirAll(filepath.Join(repo, ".git"), 0o755); err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "nightporter.toml")
	text := `
[[project]]
name = "shop"
repo = "shop"
source = "plan:.agents/plans/in-progress/checkout.md"
profile = "overnight"
verify = ["make test"]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		panic(err)
	}

	cfg, err := config.Load(file)
	if err != nil {
		fmt.Println(err) // every mistake, with its line
		return
	}
	flags := config.Overrides{Repo: repo, Agent: "demo"}
	project, err := cfg.Pick(flags, dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	settings, err := project.Settings(cfg, flags, time.Now())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(settings.Project, settings.Source, settings.Agent, settings.MaxIterations, settings.Push)
	// Output: shop plan:.agents/plans/in-progress/checkout.md demo 500 never
}
