package secret

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/nightporter/nightporter/internal/regexp"
)

//go:embed gitleaks.toml
var ruleFile []byte

// config is the file format of gitleaks, as far as it is used.
type config struct {
	Allowlist  *allowText  `toml:"allowlist"` // the older form of a single list
	Allowlists []allowText `toml:"allowlists"`
	Rules      []ruleText  `toml:"rules"`
}

// ruleText is a rule in the file.
type ruleText struct {
	ID          string      `toml:"id"`
	Regex       string      `toml:"regex"`
	Path        string      `toml:"path"`
	SecretGroup int         `toml:"secretGroup"`
	Entropy     float64     `toml:"entropy"`
	Keywords    []string    `toml:"keywords"`
	Allowlist   *allowText  `toml:"allowlist"`
	Allowlists  []allowText `toml:"allowlists"`
}

// rule finds one kind of secret.
type rule struct {
	id       string
	regex    func() *regexp.Regexp // compiled at the first use; nil for a rule about paths only
	path     *regexp.Regexp        // files that the rule is about; nil: all
	group    int                   // group of regex that is the secret; 0: the first that is not empty
	entropy  float64               // least entropy of the secret; 0: any
	keywords []string              // in lower case; the regex matches only near one of them. None: it is tried everywhere
	reach    reach
	allow    []allowlist
}

// reach is the text around a keyword that a rule is tried on. A regular
// expression costs too much for all of a large text.
type reach struct {
	before, after int // in bytes
	lines         int // at most that many after the keyword's own, and none before it; 0: any
}

var (
	usual = reach{before: 1 << 10, after: 4 << 10}
	near  = reach{before: 256, after: 2 << 10, lines: 2} // for a rule whose keywords are in every program
	far   = reach{before: 256, after: 32 << 10}
)

// ruleSet is a file of rules.
type ruleSet struct {
	rules []rule
	allow []allowlist // for all rules
}

// defaults returns the rules of gitleaks. The embedded file is known to be
// right, and a test reads it.
var defaults = sync.OnceValue(func() *ruleSet {
	set, err := parseRules(ruleFile)
	if err != nil {
		panic("secret: " + err.Error())
	}
	return set
})

func parseRules(data []byte) (*ruleSet, error) {
	var c config
	if err := toml.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	set := &ruleSet{}
	var err error
	if set.allow, err = allowlists(c.Allowlist, c.Allowlists); err != nil {
		return nil, err
	}
	for _, t := range c.Rules {
		r := rule{id: t.ID, group: t.SecretGroup, entropy: t.Entropy, reach: usual}
		switch {
		case t.ID == generic:
			r.reach = near
		case strings.Contains(t.Regex, `\s\S`): // a match may have any number of lines
			r.reach = far
		}
		for _, k := range t.Keywords {
			r.keywords = append(r.keywords, lower(k))
		}
		if t.Path != "" {
			if r.path, err = regexp.Compile(t.Path); err != nil {
				return nil, fmt.Errorf("rule %s: %w", t.ID, err)
			}
		}
		if text := t.Regex; text != "" {
			// Most texts have a keyword of few rules.
			r.regex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
		}
		if r.allow, err = allowlists(t.Allowlist, t.Allowlists); err != nil {
			return nil, fmt.Errorf("rule %s: %w", t.ID, err)
		}
		set.rules = append(set.rules, r)
	}
	return set, nil
}

// lower returns s with the capitals of ASCII in lower case. It keeps the length
// of s, so that positions stay valid.
func lower(s string) string {
	out := []byte(s)
	for n, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[n] = c + 'a' - 'A'
		}
	}
	return string(out)
}
