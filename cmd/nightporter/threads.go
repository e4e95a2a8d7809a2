package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/config"
)

// A project's thread is where the people of one platform talk of it alone: a
// topic or group of Telegram, a channel of Slack (SPEC 6.1). There is one for
// each platform at the most. What is told of the project goes there instead of
// to everybody of that platform, and what they type there is for the project.

// threadsOf are the platforms that have threads: each gives a project's
// address there, "" where it has none, or the platform is not in use.
var threadsOf = []func(*porter, config.Project) string{telegramThread, slackThread}

// telegramThread is a project's topic, or its group.
func telegramThread(p *porter, pr config.Project) string {
	at := pr.TelegramTopic
	if p.begun.Telegram == nil || at.Chat == 0 {
		return ""
	}
	group := telegram.Address(at.Chat, 0)
	return p.moves.of(group) + strings.TrimPrefix(telegram.Address(at.Chat, at.Thread), group)
}

// slackThread is a project's channel.
func slackThread(p *porter, pr config.Project) string {
	if p.begun.Slack == nil || pr.SlackChannel == "" {
		return ""
	}
	return slack.Prefix + string(pr.SlackChannel)
}

// threadOutbox are the addresses that news of a project goes to. One that takes
// nothing is none: then everybody hears it in their own chat.
func (p *porter) threads(project string) []string {
	pr, _ := p.configured(project)
	return slices.DeleteFunc(p.allThreads(pr), func(chat string) bool { return !p.talk.takes(chat) })
}

// allThreads are the addresses of a project's threads.
func (p *porter) allThreads(pr config.Project) []string {
	var out []string
	for _, of := range threadsOf {
		if chat := of(p, pr); chat != "" {
			out = append(out, chat)
		}
	}
	return out
}

// threadProject is the project whose thread a chat is, "" for a chat that all
// share. A group that is one's is so with the topics that are nobody's.
func (p *porter) threadProject(chat string) string {
	if name := p.exactThread(chat); name != "" {
		return name
	}
	return p.exactThread(telegram.GroupOf(chat))
}

// exactThread is the project whose thread has just this address.
func (p *porter) exactThread(chat string) string {
	for _, pr := range p.config().Projects {
		if slices.Contains(p.allThreads(pr), chat) {
			return pr.Name
		}
	}
	return ""
}

// Place names the thread of a project on the platform of who asks; from the
// host all of them.
func (h host) Place(project string, r bot.Request) string {
	p := h.porter
	pr, _ := p.configured(project)
	var names []string
	for _, chat := range p.allThreads(pr) {
		switch platform, _, _ := strings.Cut(chat, ":"); {
		case chat == r.Chat:
			return "this chat"
		case r.Actor == "console" || strings.HasPrefix(r.Actor, platform+":"):
			names = append(names, p.placeName(chat))
		}
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case r.Actor == "console" || !slices.ContainsFunc(p.config().Projects, func(pr config.Project) bool { return len(p.allThreads(pr)) > 0 }):
		return ""
	case r.Chat == "":
		return "this chat"
	}
	return "in private"
}

// placeName is what people call a thread; by its number, until somebody wrote
// there.
func (p *porter) placeName(chat string) string {
	platform, id, _ := strings.Cut(chat, ":")
	kind := "group"
	_, topic, is := strings.Cut(id, "/")
	switch {
	case is:
		kind, id = "topic", topic
	case platform+":" != telegram.Prefix:
		kind = "channel"
	}
	if title, known := p.titles.Load(chat); known {
		return fmt.Sprintf("%s %q", kind, bot.Cut(title.(string), 20))
	}
	return kind + " " + id
}

// takes reports whether a chat takes messages, as far as is known.
func (t *chatHub) takes(chat string) bool {
	takes := true
	t.each(func(p *delivery.Dispatcher) { takes = takes && p.Accepts(chat) })
	return takes
}
