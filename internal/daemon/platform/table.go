package platform

import (
	"strings"

	"github.com/nightporter/nightporter/config"
)

// All lists the platforms in the order in which they are connected and shown.
var All = []Platform{Telegram, Slack}

// Of returns the platform of a chat's or person's address; ok is false for an
// unknown prefix.
func Of(address string) (Platform, bool) {
	name, _, ok := strings.Cut(address, ":")
	for _, p := range All {
		if ok && p.Name == name {
			return p, true
		}
	}
	return Platform{}, false
}

// Used returns the platforms that have a section in the configuration.
func Used(cfg *config.Config) []Platform {
	var used []Platform
	for _, p := range All {
		if cfg != nil && p.Section(cfg) != nil {
			used = append(used, p)
		}
	}
	return used
}

// IsGroup reports whether several people read a chat of any platform.
func IsGroup(chat string) bool {
	p, ok := Of(chat)
	return ok && p.IsGroup(chat)
}

// Group returns the group that a thread of any platform belongs to, and any
// other address unchanged.
func Group(chat string) string {
	if p, ok := Of(chat); ok {
		return p.Group(chat)
	}
	return chat
}

// TokenFiles returns the paths of the token files of all platforms in use.
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
