package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/nightporter/nightporter/loop/ledger"
)

// PricesFile is the name of the owner's price table, beside the configuration.
const PricesFile = "prices.toml"

// ModelPrice is a row of a price table: US dollars for a million tokens, by kind.
type ModelPrice struct {
	Name       string   `toml:"name"`
	Provider   string   `toml:"provider"` // may stand before the name: "anthropic/claude-opus-5"
	Input      *float64 `toml:"input"`
	CacheWrite *float64 `toml:"cache_write"`
	CacheRead  *float64 `toml:"cache_read"`
	Output     *float64 `toml:"output"`
	Date       string   `toml:"date"`   // day on which Source was read
	Source     string   `toml:"source"` // page of the vendor
}

// priceTable is a file of prices.
type priceTable struct {
	Model []ModelPrice `toml:"model"`
}

// AllShippedPrices returns the rows of presets/prices.toml.
var AllShippedPrices = sync.OnceValue(func() []ModelPrice {
	const file = "presets/prices.toml"
	src, err := presets.ReadFile(file)
	if err != nil {
		panic("config: " + err.Error()) // part of this program
	}
	rows, problems := parsePrices(file, src)
	if len(problems) > 0 {
		panic("config: " + Format(problems[0]))
	}
	return rows
})

// parsePrices reads a file of prices. Every row has a name of its own, and a price of
// what every session has: input and output.
func parsePrices(file string, src []byte) ([]ModelPrice, []ledger.Diagnostic) {
	doc, problems := parseDocument(file, src)
	if doc == nil {
		return nil, problems
	}
	var table priceTable
	problems = bind(doc, &table)
	seen := map[string]int{}
	for i, row := range table.Model {
		at := []string{"model", strconv.Itoa(i)}
		for _, need := range []struct {
			key  string
			lack bool
		}{{"name", row.Name == ""}, {"input", row.Input == nil}, {"output", row.Output == nil}} {
			if need.lack && !doc.has(child(at, need.key)...) {
				problems = append(problems, doc.atKey(at, fmt.Sprintf("[[model]] %s has no %s", row.Name, need.key)))
			} else if need.lack && row.Name == "" && need.key == "name" {
				problems = append(problems, doc.atValue(child(at, need.key), "the name of a model is empty"))
			}
		}
		if first, twice := seen[row.Name]; twice && row.Name != "" {
			p := doc.atValue(child(at, "name"), fmt.Sprintf("%s has two rows", row.Name))
			p.Remedy = fmt.Sprintf("Remove one of them; the first is [[model]] number %d.", first+1)
			problems = append(problems, p)
		} else {
			seen[row.Name] = i
		}
	}
	return table.Model, problems
}

// readPrices reads the owner's prices, where there are any.
func (c *Config) readPrices() []ledger.Diagnostic {
	file := filepath.Join(c.dir, PricesFile)
	src, err := readFile(file, maxConfigBytes)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return []ledger.Diagnostic{{File: file, Text: err.Error()}}
	}
	rows, problems := parsePrices(file, src)
	c.prices = rows
	return problems
}

// Prices returns what models cost. The owner's rows come first, and so replace shipped
// ones.
func (c *Config) Prices() []ledger.Price {
	var out []ledger.Price
	for _, list := range [][]ModelPrice{c.prices, AllShippedPrices()} {
		for _, row := range list {
			out = append(out, ledger.Price{
				Model: row.Name, Provider: row.Provider, Input: *row.Input, CacheRead: row.CacheRead, CacheWrite: row.CacheWrite, Output: *row.Output,
			})
		}
	}
	return out
}
