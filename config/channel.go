package config

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Channel is the id of a project's own Slack channel (docs/spec 6.1). It is the
// id because a channel's name can change. "" means none.
type Channel string

var (
	channelID   = regexp.MustCompile(`^[CG][A-Z0-9]{5,20}$`)
	channelLink = regexp.MustCompile(`^https?://[a-z0-9.-]+\.slack(?:-gov)?\.com/(?:archives|client/[TE][A-Z0-9]{2,20})/([CG][A-Z0-9]{5,20})(?:[/?#]\S*)?$`)
)

// fromTOML reads a channel in the forms that a person can copy: the link of the
// channel or of a message in it, or the id alone.
func (c *Channel) fromTOML(x any) error {
	text, is := x.(string)
	if !is {
		return &valueError{text: `must be a text in quotes, like "C0123456"`}
	}
	v := strings.TrimSpace(text)
	if m := channelLink.FindStringSubmatch(v); m != nil {
		v = m[1]
	}
	if !channelID.MatchString(v) {
		const shown = 60
		if r := []rune(v); len(r) > shown {
			v = string(r[:shown]) + "…"
		}
		return &valueError{
			text: fmt.Sprintf("%q is no id of a Slack channel", v),
			fix:  `In Slack, copy the channel's link: https://example.slack.com/archives/C0123456. Its id does as well, and stands at the end of the channel's details: C0123456`,
		}
	}
	*c = Channel(v)
	return nil
}
