package config

import "fmt"

// chat is the section of a chat platform, as reading and checking see it.
type chat struct {
	name   string // of the section
	api    string
	tokens []tokenFile
}

// tokenFile is where one of a platform's tokens is kept.
type tokenFile struct {
	file       *string // as configured; then where it is
	key        string  // that names it
	credential string  // of systemd that takes its place
	usual      string  // beside the configuration
	ask        string  // what to do where it is not there, with %s for the file
}

// findTokens resolves the files of all tokens.
func (c *Config) findTokens() {
	for _, at := range c.chats() {
		for _, t := range at.tokens {
			*t.file = c.secret(*t.file, t.credential, t.usual)
		}
	}
}

// chats checks the sections of chat platforms.
func (c *checker) chats() {
	for _, at := range c.cfg.chats() {
		for _, t := range at.tokens {
			c.secretFile(*t.file, t.ask, at.name, t.key)
		}
		c.url(at.api, at.name, "api")
	}
}

// thread is a project's own chat on one platform.
type thread struct {
	key, noun   string
	value, none any // comparable
}

// threads checks that a project's own chats are nobody else's: what is said
// there without a project's name is for one of them.
func (c *checker) threads(i int, at func(...string) []string) {
	for _, o := range c.cfg.Projects[:i] {
		theirs := o.threads()
		for n, t := range c.cfg.Projects[i].threads() {
			if t.value != t.none && t.value == theirs[n].value {
				c.value(fmt.Sprintf("this is %s's %s already: one project each", o.Name, t.noun), at(t.key)...)
			}
		}
	}
}
