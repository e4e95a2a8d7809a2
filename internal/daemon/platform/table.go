package platform

import (
	"strings"

	"github.com/nightporter/nightporter/config"
)

// All are the platforms in the order in which they are connected and shown.
var All = []Platform{Telegram, Slack}

// Of returns the platform of an address.
func Of(address string) (Platform, bool) {
	name, _, ok := strings.Cut(address, ":")
	for _, p := range All {
		if ok && p.Name == name {
			return p, true
		}
	}
	return Platform{}, false
}

// Used returns the platforms that a configuration has a section for.
func Used(cfg *config.Config) []Platform {
	var used []Platform
	for _, p := range All {
		if cfg != nil && p.Section(cfg) != nil {
			used = append(used, p)
		}
	}
	return used
}

// IsGroup reports whether several people read in a chat, of whatever platform.
func IsGroup(chat string) bool {
	p, ok := Of(chat)
	return ok && p.IsGroup(chat)
}

// Group is the chat that a thread of any platform is part of.
func Group(chat string) string {
	if p, ok := Of(chat); ok {
		return p.Group(chat)
	}
	return chat
}

// TokenFiles are the files of the tokens of all platforms that a configuration
// uses.
func TokenFiles(cfg *config.Config) []string {
	var files []string
	for _, p := range Used(cfg) {
		for _, t := range p.Tokens {
			if file := t.File(cfg); file != "" {
				files = append(files, file)
			}
		}
	}
	return files
}
