package main

import (
	"slices"

	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/config"
)

// A project's thread is where the people of one platform talk of it alone: a
// topic or group of Telegram, a channel of Slack (SPEC 6.1). There is one for
// each platform at the most. What is told of the project goes there instead of
// to everybody of that platform, and what they type there is for the project.

// threadsOf are the platforms that have threads: each gives a project's
// address there, "" where it has none, or the platform is not in use.
var threadsOf = []func(*porter, config.Project) string{telegramThread}

// telegramThread is a project's topic, or its group.
func telegramThread(p *porter, pr config.Project) string {
	at := pr.TelegramTopic
	if p.begun.Telegram == nil || at.Chat == 0 {
		return ""
	}
	return telegram.Address(at.Chat, at.Thread)
}

// threads are the addresses of a project's threads.
func (p *porter) threads(project string) []string {
	pr, ok := p.configured(project)
	if !ok {
		return nil
	}
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
	for _, at := range []string{chat, telegram.Group(chat)} {
		for _, pr := range p.config().Projects {
			if slices.Contains(p.threads(pr.Name), at) {
				return pr.Name
			}
		}
	}
	return ""
}
