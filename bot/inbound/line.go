package inbound

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

var (
	questionKey = regexp.MustCompile(`^q[0-9]{1,9}$`)
	itemKey     = regexp.MustCompile(`^g[0-9]{1,9}$`)
	runKey      = regexp.MustCompile(`(?:^|/)(r[0-9]{1,9})$`)
	handleWord  = regexp.MustCompile(`^[qgQG][0-9]{1,9}$`)
)

// line is the command that a message is, with what it answers made plain, and
// whether it is for us at all (PHONE 2): in a private chat everything is, in a
// group only commands and replies to what we said.
func (v *request) line(ctx context.Context) (line string, forUs bool, err error) {
	text := strings.TrimSpace(v.in.Text)
	mine, is := v.command(text)
	if is {
		if v.in.ReplyTo != "" && mine {
			// A reply says which project a bare command is for.
			if _, _, err := v.repliedTo(ctx); err != nil {
				return "", false, err
			}
		}
		return text, mine, nil
	}
	key, found, err := v.repliedTo(ctx)
	if err != nil || !found {
		return text, v.in.Private, err
	}
	if text == "" {
		return "", true, nil
	}
	return v.reply(key, text), true, nil
}

// command reports whether a text is one that needs no context, and whether it
// is for us: "/stop@other" is for another bot.
func (v *request) command(text string) (mine, is bool) {
	if !bot.IsCommand(text) {
		return false, false
	}
	word, _, _ := strings.Cut(strings.ReplaceAll(text, "\n", " "), " ")
	if !strings.HasPrefix(word, "/") {
		_, err := bot.Parse(text)
		return v.in.Private || err == nil, true
	}
	if _, name, called := strings.Cut(word, "@"); called {
		if us := v.o.Name(); us != "" && !strings.EqualFold(name, us) {
			return false, true
		}
	}
	return true, true
}

// repliedTo returns the key of the message of ours that is answered, and takes
// up what that one is about.
func (v *request) repliedTo(ctx context.Context) (key string, found bool, err error) {
	if v.in.ReplyTo == "" {
		return "", false, nil
	}
	sent, ok, err := v.o.Outbox.SentAt(ctx, v.in.Chat, v.in.ReplyTo)
	if err != nil {
		return "", false, fmt.Errorf("look up the message that is answered: %w", err)
	}
	if !ok && v.in.Answers != "" && v.times(v.in.Key) < giveUp-1 {
		// The person is quicker than our note that it arrived.
		return "", false, errOnItsWay
	}
	if !ok {
		// A restart left it in doubt, so its id was never learned. Its first
		// line names what it is about.
		key := named.FindString(v.in.Answers)
		if owner := bot.ProjectOf(v.o.Service, key); owner != "" {
			v.key, v.project = key, owner
		}
		return key, key != "", nil
	}
	v.takeUp(sent)
	return sent.Key, true, nil
}

// errOnItsWay says that a message is answered whose sending is not noted yet.
var errOnItsWay = errors.New("the message that is answered is not known yet")

// named finds the question or guidance that a message's first line names:
// "■ shop #8 blocked (q5)", "○ g17 queued".
var named = regexp.MustCompile(`\b[qg][0-9]{1,9}\b`)

// takeUp reads what a message of ours is about.
func (v *request) takeUp(sent ledger.SentMessage) {
	v.key = sent.Key
	if json.Unmarshal(sent.Body, &v.pressed) != nil {
		v.pressed = bot.Message{} // of another version: its key says enough
	}
	if p := v.pressed.Project; p != "" {
		v.project = p
	}
	if p := bot.ProjectOf(v.o.Service, cmp.Or(bot.QuestionOf(sent.Key), sent.Key)); p != "" {
		v.project = p
	}
}

// reply is the command that words stand for as an answer to a message of ours.
func (v *request) reply(key, text string) string {
	switch {
	case bot.QuestionOf(key) != "":
		return bot.QuestionOf(key) + " " + text
	case strings.HasPrefix(key, wordsKey):
		return spoken(key) + " " + text
	case itemKey.MatchString(key):
		switch strings.ToLower(text) {
		case "drop", "keep":
			return key + " " + text
		}
	}
	if a, _ := guidance.Parse(text); a.Task == "" {
		return "/guidance " + v.address() + text
	}
	return "/guidance " + text
}

// address is whom words are for that answer a message about a task.
func (v *request) address() string {
	id := v.pressed.About
	if itemKey.MatchString(v.key) {
		s, _ := v.o.Service.State(v.project)
		if i, ok := s.Project.Guidance.Get(v.key); ok {
			switch {
			case i.Bound != "" && i.Bound != "-":
				id = i.Bound
			case i.Task != "":
				id = i.Task
			}
		}
	}
	short := strings.TrimPrefix(ledger.ShortID(id), "#")
	if short == "" || strings.ContainsAny(short, " \t\n#") {
		return ""
	}
	return "#" + short + " "
}

// A message that asks for words bears the command that they complete in its
// key: "words.q5.guide", "words.guidance".
const wordsKey = "words."

func wordsFor(command string) string {
	return wordsKey + strings.ReplaceAll(strings.TrimPrefix(command, "/"), " ", ".")
}

// spoken is the command of such a key.
func spoken(key string) string {
	parts := strings.Split(strings.TrimPrefix(key, wordsKey), ".")
	if handleWord.MatchString(parts[0]) {
		return strings.Join(parts, " ")
	}
	return "/" + strings.Join(parts, " ")
}
