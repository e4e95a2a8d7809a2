package toolchain

import (
	"encoding/json"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// want is a version of a tool that a file names.
type want struct{ tool, version string }

// file is a file in the top folder of a repository by which managers choose
// versions.
type file struct {
	name     string
	managers []string // that read it
	read     func(text string) []want
}

var files = []file{
	{"rust-toolchain.toml", []string{"rustup"}, rustToolchain},
	{"rust-toolchain", []string{"rustup"}, rustToolchain},
	{".nvmrc", []string{"nvm"}, oneVersion("node")},
	{".node-version", []string{"nodenv"}, oneVersion("node")},
	{".python-version", []string{"pyenv"}, oneVersion("python")},
	{".ruby-version", []string{"rbenv"}, oneVersion("ruby")},
	{".tool-versions", []string{"asdf"}, toolVersions},
	{"mise.toml", []string{"mise"}, miseTools},
	{".mise.toml", []string{"mise"}, miseTools},
	{"package.json", []string{"volta"}, voltaTools},
}

// rustToolchain reads the channel of a toolchain file, in its old or new form.
func rustToolchain(text string) []want {
	var f struct {
		Toolchain struct{ Channel, Path string }
	}
	if err := toml.Unmarshal([]byte(text), &f); err != nil {
		return oneVersion("rust")(text)
	}
	return []want{{"rust", f.Toolchain.Channel}}
}

// oneVersion reads a file whose first word is a version.
func oneVersion(tool string) func(string) []want {
	return func(text string) []want {
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "#")
			if words := strings.Fields(line); len(words) > 0 {
				return []want{{tool, strings.TrimPrefix(words[0], "v")}}
			}
		}
		return nil
	}
}

// toolVersions reads asdf's file: a tool and its versions on a line, of which the
// first one that is installed counts.
func toolVersions(text string) (all []want) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) == 2 {
			all = append(all, want{words[0], words[1]})
		}
	}
	return all
}

// miseTools reads [tools], whose values are versions, tables with one, or lists.
func miseTools(text string) (all []want) {
	var f struct{ Tools map[string]any }
	if err := toml.Unmarshal([]byte(text), &f); err != nil {
		return nil
	}
	for tool, value := range f.Tools {
		if table, ok := value.(map[string]any); ok {
			value = table["version"]
		}
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, v := range list {
			if version, ok := v.(string); ok {
				all = append(all, want{tool, version})
			}
		}
	}
	return all
}

// voltaTools reads the tools that package.json pins for volta.
func voltaTools(text string) (all []want) {
	var f struct{ Volta map[string]string }
	if json.Unmarshal([]byte(text), &f) != nil {
		return nil
	}
	for tool, version := range f.Volta {
		if tool != "extends" {
			all = append(all, want{tool, version})
		}
	}
	return all
}
