package inbound

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Messages that only a chat needs. Package bot has all others.

func message(key string, lines ...string) bot.Message {
	m := bot.Message{Key: key}
	for n, text := range lines {
		text = bot.CleanLine(text)
		if n == 0 {
			text = bot.Cut(text, bot.FirstWidth)
		}
		m.Lines = append(m.Lines, bot.Line{Text: text})
	}
	return m
}

// withQuote adds a person's own text to m as its second line.
func withQuote(m bot.Message, text string) bot.Message {
	const twoLines = 72
	if text = bot.Cut(bot.Clean(text), twoLines); text != "" {
		rest := append([]bot.Line{{Kind: bot.Quote, Text: text}}, m.Lines[1:]...)
		m.Lines = append(m.Lines[:1:1], rest...)
	}
	return m
}

// rejected is the reply to an input that was put aside because it cannot be
// decided.
func rejected(text string) bot.Message {
	return withQuote(message("fault", bot.SignFailed+" Not done: a fault in nightporter", "Nothing was changed. The host's log says why; send it again later."), text)
}

// questionElsewhere tells a group where the question that confirms a command
// was sent.
func questionElsewhere(question, project string) bot.Message {
	m := message("asked", bot.SignAsk+" "+question+" asks you in private", "Nothing is done until it is answered.")
	m.Project = project
	return m
}

// otherAddressee is the reply to an edit that would change the address of
// guidance.
func otherAddressee(i guidance.Item, project string) bot.Message {
	m := message("guidance.address", bot.SignFailed+" "+i.ID+" not changed: it goes elsewhere", "Only its words can be edited. Drop it and send them anew; no answer: it stays so.")
	m.Project = project
	m.Buttons = []bot.Button{{Label: "Drop", Command: "/drop " + i.ID}}
	return m
}

// wordsMessage asks for the text that a button needs (docs/spec 23.5).
func wordsMessage(key, command, project, task string) bot.Message {
	id, verb, _ := strings.Cut(command, " ")
	about := bot.Cut(bot.Clean(ledger.ShortID(task)), 14)
	text := "Your words:"
	switch {
	case verb == "fail":
		text = "What did you see? (" + id + ")"
	case verb == "reject":
		text = "What is wrong with it? (" + id + ")"
	case task != "" && questionKey.MatchString(id):
		text = "Your words for " + about + " (" + id + "):"
	case questionKey.MatchString(id):
		text = "Your words (" + id + "):"
	case task != "" && strings.HasPrefix(command, "/plan "):
		text = "Your words for the plan of " + about + ":"
	case project != "":
		text = "Your words for " + project + ":"
	}
	m := message(key, bot.SignAsk+" "+text, "Reply to this message. No answer: nothing changes.")
	m.Project, m.About = project, task
	return m
}
