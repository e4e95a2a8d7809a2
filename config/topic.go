package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Topic is a project's own Telegram chat (docs/spec 6.1): a group, or one topic
// of a forum. The zero value is none.
type Topic struct {
	Chat   int64 // the chat id in the Bot API: negative
	Thread int   // 0 = the whole group, of which the topic "General" is part
}

// general is the id of the topic "General". Every forum has it, and messages in
// it carry no topic id.
const general = 1

// supergroups is the upper bound of supergroup ids; links contain the distance
// from it. Only supergroups have topics.
const supergroups = -1_000_000_000_000

var (
	topicLink = regexp.MustCompile(`^(?:https?://)?(?:www\.)?t(?:elegram)?\.me/c/([0-9]{5,12})(?:/([0-9]{1,9}))?(?:/[0-9]{1,9})?/?(?:\?(\S*))?$`)
	topicID   = regexp.MustCompile(`^(-[0-9]{5,15})(?:/([0-9]{1,9}))?$`)
	topicOf   = regexp.MustCompile(`(?:^|&)thread=([0-9]{1,9})(?:&|$)`)
	topicName = regexp.MustCompile(`^(?:@|(?:https?://)?(?:www\.)?t(?:elegram)?\.me/)[A-Za-z][A-Za-z0-9_]{3,31}(?:/[0-9/]*)?(?:\?\S*)?$`)
)

// fromTOML reads a topic in the forms that a person can copy: the link of a
// message in it, or the group's id, optionally with a slash and the topic's id.
func (t *Topic) fromTOML(x any) error {
	var text Text
	if err := text.fromTOML(x); err != nil {
		return errors.New(`must be a text in quotes, like "-1001234567890/42"`)
	}
	v := strings.TrimSpace(string(text))
	var chat, thread string
	if m := topicLink.FindStringSubmatch(v); m != nil {
		n, _ := strconv.ParseInt(m[1], 10, 64) // m[1] holds digits only
		chat, thread = strconv.FormatInt(supergroups-n, 10), m[2]
		if in := topicOf.FindStringSubmatch(m[3]); in != nil {
			thread = in[1]
		}
	} else if m := topicID.FindStringSubmatch(v); m != nil {
		chat, thread = m[1], m[2]
	}
	at := Topic{}
	at.Chat, _ = strconv.ParseInt(chat, 10, 64) // digits only, or 0
	at.Thread, _ = strconv.Atoi(thread)
	if at.Thread == general {
		at.Thread = 0
	}
	const how = `In the topic, copy the link of a message: https://t.me/c/1234567890/42. The group's number does as well: -1001234567890, or -1001234567890/42 with a topic`
	switch {
	case topicName.MatchString(v):
		return &valueError{
			text: fmt.Sprintf("%q has no number: the group is public, and its links name it", v),
			fix:  "Send /whoami there to a nightporter that is up: it says what to write here",
		}
	case at.Chat == 0:
		return &valueError{text: fmt.Sprintf("%q is no group of Telegram and no topic of one", v), fix: how}
	case at.Chat > supergroups && at.Thread != 0:
		return &valueError{text: fmt.Sprintf("%d is a group without topics: they begin with -100", at.Chat), fix: how}
	}
	*t = at
	return nil
}
