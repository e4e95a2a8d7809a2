package secret

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nightporter/nightporter/internal/regexp"
)

// allowText is a list of exceptions in the file.
type allowText struct {
	TargetRules []string `toml:"targetRules"`
	Condition   string   `toml:"condition"`
	Paths       []string `toml:"paths"`
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	StopWords   []string `toml:"stopwords"`
}

// allowlist says which findings are no secrets.
type allowlist struct {
	rules     []string // ids of the rules that it is about; none: all
	all       bool     // every kind of exception that it lists has to hold; otherwise one is enough
	paths     []*regexp.Regexp
	target    string // what regexes are tried on: "line", "match", or "" for the secret
	regexes   []*regexp.Regexp
	stopWords []string // in lower case
}

func allowlists(one *allowText, more []allowText) ([]allowlist, error) {
	if one != nil {
		more = append(slices.Clip(more), *one)
	}
	var lists []allowlist
	for _, t := range more {
		a := allowlist{rules: t.TargetRules, all: strings.EqualFold(t.Condition, "and") || t.Condition == "&&", target: t.RegexTarget}
		if a.target == "secret" {
			a.target = ""
		}
		for from, to := range map[*[]string]*[]*regexp.Regexp{&t.Paths: &a.paths, &t.Regexes: &a.regexes} {
			for _, text := range *from {
				re, err := regexp.Compile(text)
				if err != nil {
					return nil, fmt.Errorf("allowlist: %w", err)
				}
				*to = append(*to, re)
			}
		}
		for _, w := range t.StopWords {
			a.stopWords = append(a.stopWords, lower(w))
		}
		lists = append(lists, a)
	}
	return lists, nil
}

// match is what an allowlist looks at.
type match struct {
	path, line, match, secret string
}

// permits reports whether a match is an exception.
func (a allowlist) permits(m match) bool {
	var held []bool
	if len(a.paths) > 0 {
		held = append(held, anyMatch(a.paths, m.path))
	}
	if len(a.regexes) > 0 {
		on := map[string]string{"": m.secret, "line": m.line, "match": m.match}[a.target]
		held = append(held, anyMatch(a.regexes, on))
	}
	if len(a.stopWords) > 0 {
		secret := lower(m.secret)
		held = append(held, slices.ContainsFunc(a.stopWords, func(w string) bool { return strings.Contains(secret, w) }))
	}
	if a.all {
		return len(held) > 0 && !slices.Contains(held, false)
	}
	return slices.Contains(held, true)
}

func anyMatch(list []*regexp.Regexp, s string) bool {
	return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(s) })
}

// Exceptions are what a repository allows: its .gitleaks.toml and
// .gitleaksignore.
type Exceptions struct {
	lists  []allowlist
	places map[string]bool // "path:rule:line"
}

// ParseExceptions reads the two files; nil for one that is missing. Of
// .gitleaks.toml only the allowlists count. An error names the file that could
// not be read; the exceptions of the other one hold.
func ParseExceptions(toolConfig, ignore []byte) (Exceptions, error) {
	x := Exceptions{places: map[string]bool{}}
	for line := range strings.Lines(string(ignore)) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && strings.Count(line, ":") == 2 { // those with a commit are about history
			x.places[strings.ReplaceAll(line, `\`, "/")] = true
		}
	}
	var c config
	if err := toml.Unmarshal(toolConfig, &c); err != nil {
		return x, fmt.Errorf(".gitleaks.toml: %w", err)
	}
	lists, err := allowlists(c.Allowlist, c.Allowlists)
	for _, r := range c.Rules {
		own, wrong := allowlists(r.Allowlist, r.Allowlists)
		if err == nil && wrong != nil {
			err = wrong
		}
		for _, a := range own {
			a.rules = []string{r.ID}
			lists = append(lists, a)
		}
	}
	if err != nil {
		return x, fmt.Errorf(".gitleaks.toml: %w", err)
	}
	x.lists = lists
	return x, nil
}
