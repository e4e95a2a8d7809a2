package config

import (
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Forge is a section [github] or [gitea]: how requests are opened on its servers.
type Forge struct {
	TokenFile string `toml:"token_file"` // "" = the systemd credential, such as github-token
	API       string `toml:"api"`        // "" = that of the remote's server
}

// PR is the key pr of a project: what its requests are like.
type PR struct {
	Per       string   `toml:"per" oneof:"run task"` // "" = run; with bug reports task
	Draft     bool     `toml:"draft"`
	Labels    []string `toml:"labels"`
	Reviewers []string `toml:"reviewers"`
}

// ForgeAuto is the value of a project's forge that finds its kind by the remote's
// address. It is the default.
const ForgeAuto = "auto"

// ForgeKind returns the kind of a project's forge for the address of its remote.
func (p Project) ForgeKind(a forge.Address) ledger.ForgeKind {
	if p.Forge == "" || p.Forge == ForgeAuto {
		return a.Kind
	}
	return ledger.ForgeKind(p.Forge)
}

// ForgeAt returns the section for a kind of forge, with the place of its token: the
// configured file, the systemd credential, or the usual name beside the
// configuration.
func (c *Config) ForgeAt(kind ledger.ForgeKind) Forge {
	of := forge.KindOf(kind)
	if section := c.forge(kind); section != nil && section.TokenFile != "" { // resolved by findTokens
		return *section
	}
	f := Forge{}
	if section := c.forge(kind); section != nil {
		f = *section
	}
	if of.Credential != "" {
		f.TokenFile = c.secret("", of.Credential, of.File)
	}
	return f
}

// forge returns the section of a kind of forge, nil = none.
func (c *Config) forge(kind ledger.ForgeKind) *Forge {
	switch kind {
	case ledger.ForgeGitHub:
		return c.GitHub
	case ledger.ForgeGitea:
		return c.Gitea
	}
	return nil
}

// OtherTokens returns the files that may hold tokens of forges, those of cloud agents
// included, and of who posts bug reports. Sessions do not see them.
func (c *Config) OtherTokens() []string {
	var files []string
	if c.Bugs != nil {
		files = append(files, c.Bugs.TokenFile)
	}
	for _, p := range c.Projects {
		if p.Cloud != nil {
			files = append(files, p.Cloud.TokenFile)
		}
	}
	for _, k := range forge.Kinds {
		if f := c.ForgeAt(k.Kind).TokenFile; f != "" {
			if _, err := os.Lstat(f); err == nil {
				files = append(files, f)
			}
		}
	}
	return files
}

// forges returns the sections of forges that the file has.
func (c *Config) forges() []chat {
	var all []chat
	for _, k := range forge.Kinds {
		if s := c.forge(k.Kind); s != nil {
			all = append(all, chat{string(k.Kind), s.API, []tokenFile{{&s.TokenFile, "token_file", k.Credential, k.File, k.Remedy + ": %s"}}})
		}
	}
	return all
}

// remote checks where a project's branches go.
func (c *checker) remote(p *Project, at func(...string) []string) {
	switch u, err := url.Parse(p.Remote); {
	case p.Remote == "" && isText(c.doc, at("remote")):
		c.value("remote is empty", at("remote")...).Remedy = "Name a remote of the repository, or an address"
	case strings.HasPrefix(p.Remote, "-") || strings.ContainsAny(p.Remote, " \t\n"):
		c.value("remote is neither the name of a remote nor an address", at("remote")...)
	case err == nil && u.User != nil:
		if _, has := u.User.Password(); has {
			c.value("remote has a password in its address", at("remote")...).Remedy = "Take it out, and put it into a file: [github] or [gitea] token_file"
		}
	}
	for _, l := range []struct {
		key   string
		words []string
	}{{"labels", p.PR.Labels}, {"reviewers", p.PR.Reviewers}} {
		for i, w := range l.words {
			if where := at("pr", l.key, strconv.Itoa(i)); strings.TrimSpace(w) == "" && isText(c.doc, where) {
				c.value(l.key+" holds an empty name", where...)
			}
		}
	}
}
