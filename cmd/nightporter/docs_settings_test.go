package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// settingsSite is a folder with a configuration, and what one may name.
type settingsSite struct {
	dir string
	t   *testing.T
}

func newSettingsSite(t *testing.T) settingsSite {
	t.Helper()
	s := settingsSite{t.TempDir(), t}
	for _, name := range []string{"telegram.token", "bugs.token", "my-agent.env", "shop-setup.env", "shop-verify.env", "shop-home/.npmrc"} {
		s.write(name, "NAME=value\n", 0o600)
	}
	s.write("my-agent.sh", "#!/bin/sh\n", 0o755)
	if err := os.Chmod(filepath.Join(s.dir, "shop-home"), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// text puts the place of the site into examples that name one of a person's own.
func (s settingsSite) text(example string) string {
	return strings.ReplaceAll(example, "/home/me/bin/ring", filepath.Join(s.dir, "my-agent.sh"))
}

func (s settingsSite) write(name, text string, mode os.FileMode) {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(s.text(text)), mode); err != nil {
		s.t.Fatal(err)
	}
}

// mistakes reads the configuration as every command does, and returns what is wrong
// in it.
func (s settingsSite) mistakes() []ledger.Diagnostic {
	s.t.Helper()
	_, err := config.Load(filepath.Join(s.dir, "nightporter.toml"))
	var mistakes *config.Error
	if err != nil && !errors.As(err, &mistakes) {
		s.t.Fatal(err)
	}
	if err == nil {
		return nil
	}
	return mistakes.Diagnostics
}

// settingPlaces are the places where a setting may stand: a file, and the line above
// the setting; or both sides of it within an inline table.
var settingPlaces = map[string]struct{ file, above, before, after string }{
	"top level":     {file: "nightporter.toml"},
	"[[project]]":   {file: "nightporter.toml", above: "[[project]]"},
	"{verify}":      {"nightporter.toml", "[[project]]", "verify = [{run = \"true\", ", "}]"},
	"{pr}":          {"nightporter.toml", "[[project]]", "pr = {", "}"},
	"[agents.NAME]": {file: "nightporter.toml", above: "[agents.mine]"},
	"[[hook]]":      {file: "nightporter.toml", above: "[[hook]]"},
	"[telegram]":    {file: "nightporter.toml", above: "[telegram]"},
	"[slack]":       {file: "nightporter.toml", above: "[slack]"},
	"[github]":      {file: "nightporter.toml", above: "[github]"},
	"[gitea]":       {file: "nightporter.toml", above: "[gitea]"},
	"[bugs]":        {file: "nightporter.toml", above: "[bugs]"},
	"[digest]":      {file: "nightporter.toml", above: "[digest]"},
	"[budget]":      {file: "nightporter.toml", above: "[budget]"},
	"[retention]":   {file: "nightporter.toml", above: "[retention]"},
	"[limits]":      {file: "nightporter.toml", above: "[limits]"},
	"[hat]":         {file: "hats/tried.toml", above: "[hat]"},
	"[hat.context]": {file: "hats/tried.toml", above: "[hat.context]"},
	"[hat.exit]":    {file: "hats/tried.toml", above: "[hat.exit]"},
	"[tools]":       {file: "hats/tried.toml", above: "[tools]"},
	"[verify]":      {"hats/tried.toml", "[verify]", "", "\n[hat.context]\nwrite_allowed = [\"**\"]"},
	"[agent]":       {file: "hats/tried.toml", above: "[agent]"},
	"pattern":       {file: "patterns/tried.toml"},
	"[[route]]":     {file: "patterns/tried.toml", above: "[[route]]"},
}

// tryAt returns what is wrong with one setting in a place. What the rest of its file
// lacks is no matter of it.
func (s settingsSite) tryAt(place, setting string) error {
	s.t.Helper()
	p, ok := settingPlaces[place]
	if !ok {
		s.t.Fatalf("no place is called %s", place)
	}
	s.write("nightporter.toml", "", 0o600)
	s.write(p.file, p.above+"\n"+p.before+setting+p.after+"\n", 0o600)
	if p.file != "nightporter.toml" {
		defer func() { _ = os.Remove(filepath.Join(s.dir, p.file)) }()
	}
	for _, d := range s.mistakes() {
		if filepath.Base(d.File) == filepath.Base(p.file) && d.Line == 2 {
			return fmt.Errorf("%s %s", d.Text, d.Remedy)
		}
	}
	return nil
}

// knows reports whether a place has a key, whatever its value.
func (s settingsSite) knows(place, key string) bool {
	s.t.Helper()
	err := s.tryAt(place, key+" = 1979-05-27") // no setting is a date
	return err == nil || !strings.HasPrefix(err.Error(), "unknown key")
}

var (
	settingSpan = regexp.MustCompile(`^([a-z_]+) = (.+)$`)
	settingKey  = regexp.MustCompile(`^[a-z_]+$`)
	choice      = regexp.MustCompile(`^"[a-z_]*"(?: \| "[a-z_]*")+$`)
	namesOnly   = regexp.MustCompile(`^\{\s*[a-z_]+(?:, [a-z_]+)*\s*\}$`)
)

// otherSettings are settings on the pages that belong to files of others.
var otherSettings = []string{"kind = recurring"}

// valuesOf returns the values that the text on the right of a setting stands for.
func valuesOf(text string) []string {
	switch {
	case text == "N":
		return []string{"1"}
	case choice.MatchString(text):
		return strings.Split(text, " | ")
	}
	return []string{text}
}

// TestDocsSettings: the configuration has a place for each setting on the pages, and
// accepts its value there.
func TestDocsSettings(t *testing.T) {
	s := newSettingsSite(t)
	seen := 0
	for _, c := range docCodes(t) {
		m := settingSpan.FindStringSubmatch(c.text)
		if !c.span || m == nil || slices.Contains(otherSettings, c.text) {
			continue
		}
		seen++
		if namesOnly.MatchString(m[2]) {
			if !s.knows("[[project]]", m[1]) {
				t.Errorf("%s: %s: no place has this key", c.at, c.text)
			}
			continue
		}
		for _, value := range valuesOf(m[2]) {
			if refused := s.tryEverywhere(m[1] + " = " + value); refused != "" {
				t.Errorf("%s: %s = %s is accepted nowhere%s", c.at, m[1], value, refused)
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d settings were found: are they written otherwise now?", seen)
	}
	for _, bad := range []string{`pusch = "end"`, `push = "always"`} {
		if s.tryEverywhere(bad) == "" {
			t.Errorf("a planted mistake is not found: %s", bad)
		}
	}
}

// tryEverywhere returns "" if a place accepts a setting. Else it returns why places
// refuse it, without those to which the key is unknown. It tries the place of most
// settings first.
func (s settingsSite) tryEverywhere(setting string) (refused string) {
	s.t.Helper()
	for _, place := range append([]string{"[[project]]"}, slices.Sorted(maps.Keys(settingPlaces))...) {
		err := s.tryAt(place, setting)
		if err == nil {
			return ""
		}
		if !strings.HasPrefix(err.Error(), "unknown key") {
			refused += "\n  " + place + ": " + err.Error()
		}
	}
	return cmp.Or(refused, "\n  unknown key")
}

// TestDocsBlocks: each TOML block on the pages is read without a mistake. A project
// that is shown in part is completed; hats and patterns lie beside the
// configuration as their own blocks show them.
func TestDocsBlocks(t *testing.T) {
	s := newSettingsSite(t)
	seen := 0
	var configs []docCode
	for _, c := range docCodes(t) {
		if c.span || c.lang != "toml" {
			continue
		}
		seen++
		name := regexp.MustCompile(`(?m)^name = "(.+)"`).FindStringSubmatch(c.text)
		switch {
		case strings.HasPrefix(c.text, "[hat]"):
			s.write("hats/"+name[1]+".toml", c.text, 0o600)
		case strings.HasPrefix(c.text, "[[model]]"):
			s.write("prices.toml", c.text, 0o600)
		case strings.Contains(c.text, "[[route]]"):
			s.write("patterns/"+name[1]+".toml", c.text, 0o600)
		default:
			configs = append(configs, c)
		}
	}
	if seen < 10 || len(configs) == seen {
		t.Errorf("only %d blocks were found, %d of them configurations", seen, len(configs))
	}
	for _, c := range configs {
		s.write("nightporter.toml", completed(c.text), 0o600)
		for _, d := range s.mistakes() {
			t.Errorf("%s: %s", c.at, config.Format(d))
		}
	}
	s.write("nightporter.toml", "[[project]]\npusch = \"end\"\n", 0o600)
	if len(s.mistakes()) == 0 {
		t.Error("a planted mistake is not found")
	}
}

// completed adds the section and the keys that a part of a project needs.
func completed(text string) string {
	if !strings.HasPrefix(text, "[") {
		text = "[[project]]\n" + text
	}
	head, body, is := strings.Cut(text, "[[project]]\n")
	if !is {
		return text
	}
	for _, line := range []string{`name = "shop"`, `repo = "/srv/shop"`, `source = "plan:plan.md"`, `agent = "demo"`} {
		key, _, _ := strings.Cut(line, " ")
		if !regexp.MustCompile(`(?m)^` + key + ` =`).MatchString(body) {
			body = line + "\n" + body
		}
	}
	return head + "[[project]]\n" + body
}

// TestDocsTables: each key in the tables of docs/operating.md is a key of its
// section, and the default that stands beside it is a value that it may have.
func TestDocsTables(t *testing.T) {
	s := newSettingsSite(t)
	keys, defaults := 0, 0
	for _, row := range settingRows(docPages(t)["docs/operating.md"]) {
		for n, key := range row.keys {
			keys++
			if !s.knows(row.place, key) {
				t.Errorf("docs/operating.md:%d: %s has no key %s", row.line, row.place, key)
			}
			if n >= len(row.defaults) {
				continue
			}
			defaults++
			if err := s.tryAt(row.place, key+" = "+row.defaults[n]); err != nil {
				t.Errorf("docs/operating.md:%d: %s = %s: %v", row.line, key, row.defaults[n], err)
			}
		}
	}
	if keys < 90 || defaults < 30 {
		t.Errorf("only %d keys and %d defaults were found: are the tables written otherwise now?", keys, defaults)
	}
	if s.knows("[digest]", "quite") {
		t.Error("a planted mistake is not found")
	}
}

// settingRow is a row of a table of settings.
type settingRow struct {
	line     int
	place    string
	keys     []string
	defaults []string // of the keys, as many as stand there
}

var (
	tableDefault = regexp.MustCompile("^(?:\"[^`]*\"|[0-9]+|true|false|\\[.*\\]|\\{.*\\})$")
	toldDefault  = regexp.MustCompile("^ `([^`]+)`[:,]")
)

// settingRows returns the rows of the tables of settings. Their heads are a place, or
// "section" where the rows name the places, or "key" for those of hats and patterns.
func settingRows(text string) []settingRow {
	var rows []settingRow
	place, sections := "", false
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) < 5 {
			place = ""
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(lines[min(n+1, len(lines)-1)]), "| --") || strings.HasPrefix(lines[min(n+1, len(lines)-1)], "|--") {
			head := strings.Trim(cells[1], " `")
			sections = head == "section"
			switch _, is := settingPlaces[head]; {
			case is || sections:
				place = head
			case head == "key" && strings.Contains(lines[n+2], "`start`"):
				place = "pattern"
			case head == "key":
				place = "[hat]"
			}
			continue
		}
		if place == "" {
			continue
		}
		row := settingRow{line: n + 1}
		named := cells[1]
		if sections {
			named += cells[2]
		}
		for _, m := range codeSpan.FindAllStringSubmatch(named, -1) {
			if _, is := settingPlaces[m[1]]; is && m[1][0] == '[' {
				place = m[1]
			} else if settingKey.MatchString(m[1]) {
				row.keys = append(row.keys, m[1])
			}
		}
		row.place = place
		if told := toldDefault.FindStringSubmatch(cells[3]); sections && told != nil {
			for range row.keys {
				row.defaults = append(row.defaults, told[1])
			}
		} else if !sections {
			for value := range strings.SplitSeq(cells[2], "`, `") {
				if value = strings.Trim(strings.ReplaceAll(value, "\x00", "|"), " `"); tableDefault.MatchString(value) {
					row.defaults = append(row.defaults, value)
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}
