package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestShippedPrices: each row says where and when it was read, and prices what every
// program tells.
func TestShippedPrices(t *testing.T) {
	for _, row := range AllShippedPrices() {
		if _, err := time.Parse(time.DateOnly, row.Date); err != nil {
			t.Errorf("%s: date: %v", row.Name, err)
		}
		if !strings.HasPrefix(row.Source, "https://") || row.Provider == "" || row.CacheRead == nil {
			t.Errorf("row %+v: it needs a source, a provider and a price for what is read from a cache", row)
		}
		if *row.Input <= 0 || *row.CacheRead <= 0 || *row.CacheRead >= *row.Input || *row.Input >= *row.Output || row.CacheWrite != nil && *row.CacheWrite <= *row.Input {
			t.Errorf("%s: prices out of order", row.Name)
		}
	}
}

// TestOwnPrices: the owner's rows replace shipped ones and add others; a mistake is named
// with file and line.
func TestOwnPrices(t *testing.T) {
	for name, c := range map[string]struct {
		file string // "" = there is none
		want string // part of the error
		usd  map[string]float64
	}{
		"none": {"", "", map[string]float64{"claude-opus-5": 5, "mine": -1}},
		"one replaced, one added": {"[[model]]\nname = \"claude-opus-5\"\ninput = 4\noutput = 20\n[[model]]\nname = \"mine\"\ninput = 0\noutput = 0.5\n", "",
			map[string]float64{"claude-opus-5": 4, "mine": 0, "claude-opus-4-8": 5}},
		"empty":            {"# nothing yet\n", "", map[string]float64{"claude-opus-5": 5}},
		"a misspelt key":   {"[[model]]\nname = \"mine\"\ninput = 1\noutputs = 2\n", `prices.toml:4:1  unknown key "outputs" in [[model]] mine`, nil},
		"no price":         {"\n[[model]]\nname = \"mine\"\ninput = 1\n", "prices.toml:2:1  [[model]] mine has no output", nil},
		"a negative price": {"[[model]]\nname = \"mine\"\ninput = -1\noutput = 2\n", "prices.toml:3:9  input cannot be negative", nil},
		"a price in words": {"[[model]]\nname = \"mine\"\ninput = \"$1\"\noutput = 2\n", "prices.toml:3:9  input must be a number", nil},
		"two rows":         {"[[model]]\nname = \"mine\"\ninput = 1\noutput = 2\n[[model]]\nname = \"mine\"\ninput = 1\noutput = 2\n", "prices.toml:6:8  mine has two rows", nil},
		"no TOML":          {"[[model]\n", "prices.toml:1:", nil},
		"no name":          {"[[model]]\ninput = 1\noutput = 2\n", "prices.toml:1:1  [[model]]  has no name", nil},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "nightporter.toml")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, PricesFile), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cfg, err := Load(file)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for model, want := range c.usd {
			p, ok := ledger.FindPrice(cfg.Prices(), model)
			if ok != (want >= 0) || ok && p.Input != want {
				t.Errorf("%s: %s: $%v, %v", name, model, p.Input, ok)
			}
		}
	}
}
