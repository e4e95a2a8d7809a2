package config

import "fmt"

// chat is the section of one chat platform or forge, in the form that reading and
// checking use.
type chat struct {
	name   string // name of the section
	api    string
	tokens []tokenFile
}

// tokenFile is the location of one of a platform's tokens.
type tokenFile struct {
	file        *string // the configured path; after findTokens, the resolved one
	key         string  // key in the section
	credential  string  // name of the systemd credential that can replace it
	defaultName string  // file name to try beside the configuration
	remedy      string  // remedy for a missing file, with %s for its path
}

// findTokens resolves the paths of all files with tokens.
func (c *Config) findTokens() {
	for _, at := range append(c.chats(), c.forges()...) {
		for _, t := range at.tokens {
			*t.file = c.secret(*t.file, t.credential, t.defaultName)
		}
	}
	if b := c.Bugs; b != nil {
		b.TokenFile = c.secret(b.TokenFile, bugsCredential, bugsTokenName)
	}
}

// chats checks the sections of chat platforms and forges.
func (c *checker) chats() {
	for _, at := range append(c.cfg.chats(), c.cfg.forges()...) {
		for _, t := range at.tokens {
			c.secretFile(*t.file, t.remedy, at.name, t.key)
		}
		c.url(at.api, at.name, "api")
	}
}

// thread is a project's own chat on one platform.
type thread struct {
	key, noun   string
	value, none any // comparable; none is the value of an unset key
}

// threads checks that no two projects share a chat. A command in such a chat
// needs no project's name, so it must mean one project.
func (c *checker) threads(i int, at func(...string) []string) {
	for _, o := range c.cfg.Projects[:i] {
		others := o.threads()
		for n, t := range c.cfg.Projects[i].threads() {
			if t.value != t.none && t.value == others[n].value {
				c.value(fmt.Sprintf("this is %s's %s already: one project each", o.Name, t.noun), at(t.key)...)
			}
		}
	}
}
