package acceptance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/loop/ledger"

	farslack "github.com/nightporter/nightporter/internal/fake/slack"

	fartelegram "github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/store"
)

// phone is a fake platform with its users, and the adapter that is connected to
// it.
type phone interface {
	// id returns a user's address.
	id(name string) string
	// name returns the platform's name in golden files.
	name() string
	// thread returns the address of the group in which everybody writes, which is the
	// project's thread; "" = everybody writes in a chat of their own.
	thread() string
	// say sends a line in a user's chat: in the group, if there is one, else in their own.
	say(who, line string)
	// press presses the button with a label below the newest message of the
	// user's chat whose first line begins with first.
	press(who, first, label string) error
	// reply replies to that message, and react puts a thumb on it.
	reply(who, first, line string) error
	react(who, first string) error
	// edit changes the newest message that a user wrote with this text.
	edit(who, text, to string) error
	// shows returns the messages of a user's chat, oldest first.
	shows(who string) []shownMessage
	// transcript returns the chat in readable form.
	transcript(who string) string
	// picture returns the picture of the newest digest.
	picture(who string) []byte

	// options and listen configure and run the adapter.
	options(o delivery.Options) delivery.Options
	reception(o inbound.Options, s *store.Store) inbound.Options
	listen(ctx context.Context, s *store.Store, r bot.Receiver) error
	close()
}

// shownMessage is one message as the fake platform recorded it.
type shownMessage struct {
	at    time.Time
	first string // its first line
	lines []string
	reply bool // it replies to a person's message
	rings bool
	live  bool // the live message, which is edited in place
	edits int
	mine  bool // written by a person
}

// --- Telegram ---

type telegramPhone struct {
	far   *fartelegram.Server
	bot   *telegram.Bot
	net   *wire
	group int64 // 0 = none
}

var users = map[string]fartelegram.User{"Mira": {ID: 48213377, Name: "Mira"}, "Ana": {ID: 51900221, Name: "Ana"}, "Ben": {ID: 60074418, Name: "Ben"}}

func newTelegram(t *testing.T) phone {
	p := &telegramPhone{net: newWire("telegram.test:80")}
	var err error
	p.far, err = fartelegram.Start(fartelegram.Options{Location: berlin, Rates: true, Listen: p.net.listen})
	if err != nil {
		t.Fatal(err)
	}
	p.bot, err = telegram.New(telegram.Options{Token: transport.Secret(p.far.Token()), API: p.far.URL(), Dial: p.net.Dial})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newTelegramGroup is a Telegram whose users write in a group.
func newTelegramGroup(t *testing.T) phone {
	p, _ := newTelegram(t).(*telegramPhone)
	p.group = -1001
	return p
}

func (p *telegramPhone) id(name string) string { return telegram.Address(users[name].ID, 0) }
func (p *telegramPhone) name() string          { return "telegram" }

func (p *telegramPhone) thread() string {
	if p.group == 0 {
		return ""
	}
	return telegram.Address(p.group, 0)
}

// chat returns the id of a user's chat.
func (p *telegramPhone) chat(who string) int64 {
	if p.group != 0 {
		return p.group
	}
	return users[who].ID
}

// say sends a line. In a group, what is no command goes behind /guidance: there people
// also talk to each other.
func (p *telegramPhone) say(who, line string) {
	chat := p.chat(who)
	switch {
	case strings.HasPrefix(line, "/pair"):
		chat = users[who].ID
	case p.group != 0 && !strings.HasPrefix(line, "/"):
		line = "/guidance " + line
	}
	p.far.Say(users[who], chat, line)
}

// find returns the chat and the id of the newest message of a user's chat that begins
// with first; or of their own chat, where it is not in the group.
func (p *telegramPhone) find(who, first string) (chat int64, id int, err error) {
	for _, chat := range []int64{p.chat(who), users[who].ID} {
		m, ok := p.far.Chat(chat).Find(func(m fartelegram.Message) bool { return m.Bot && strings.HasPrefix(m.Text, first) })
		if ok {
			return chat, m.ID, nil
		}
	}
	return 0, 0, fmt.Errorf("%s has no message %q", who, first)
}

func (p *telegramPhone) press(who, first, label string) error {
	chat, id, err := p.find(who, first)
	if err == nil {
		_, err = p.far.Press(users[who], chat, id, label)
	}
	return err
}

func (p *telegramPhone) reply(who, first, line string) error {
	chat, id, err := p.find(who, first)
	if err == nil {
		p.far.Reply(users[who], chat, id, line)
	}
	return err
}

func (p *telegramPhone) react(who, first string) error {
	chat, id, err := p.find(who, first)
	if err == nil {
		p.far.React(users[who], chat, id, "👍")
	}
	return err
}

func (p *telegramPhone) edit(who, text, to string) error {
	m, ok := p.far.Chat(p.chat(who)).Find(func(m fartelegram.Message) bool { return !m.Bot && m.Text == text })
	if !ok || !p.far.EditText(users[who], p.chat(who), m.ID, to) {
		return fmt.Errorf("%s wrote no %q", who, text)
	}
	return nil
}

func (p *telegramPhone) shows(who string) []shownMessage {
	var out []shownMessage
	for _, m := range p.far.Chat(p.chat(who)).Messages {
		lines := strings.Split(m.Text, "\n")
		out = append(out, shownMessage{at: m.Date.In(berlin), first: lines[0], lines: lines, reply: m.ReplyTo != 0, rings: m.Bot && !m.Silent, live: m.Pinned, edits: m.Edits, mine: !m.Bot})
	}
	return out
}

func (p *telegramPhone) transcript(who string) string { return p.far.Transcript(p.chat(who)) }

// drawn returns a user's chat since a time as a picture.
func (p *telegramPhone) drawn(who string, since time.Time) []byte {
	pinned := ""
	var shown []fartelegram.Message
	for _, m := range p.far.Chat(users[who].ID).Messages {
		if m.Pinned {
			pinned, _, _ = strings.Cut(m.Text, "\n")
		}
		if !m.Date.Before(since) {
			shown = append(shown, m)
		}
	}
	return phoneSVG("night porter", pinned, shown, berlin)
}

func (p *telegramPhone) picture(who string) []byte {
	m, _ := p.far.Chat(users[who].ID).Find(func(m fartelegram.Message) bool { return m.File != nil && m.File.Photo })
	if m.File == nil {
		return nil
	}
	return m.File.Data
}

func (p *telegramPhone) options(o delivery.Options) delivery.Options {
	o.Sender, o.Prefix, o.Platform = p.bot, telegram.Prefix, "Telegram"
	return o
}

func (p *telegramPhone) reception(o inbound.Options, s *store.Store) inbound.Options {
	o.Outbox, o.Notice = s, p.bot.Notice
	return o
}

func (p *telegramPhone) listen(ctx context.Context, s *store.Store, r bot.Receiver) error {
	return p.bot.Poll(ctx, func(ctx context.Context) (string, error) {
		c, _, err := s.Cursor(ctx, p.bot.CursorName())
		return c.Value, err
	}, r)
}

func (p *telegramPhone) close() { p.far.Close() }

// --- Slack ---

type slackPhone struct {
	far     *farslack.Server
	bot     *slack.Bot
	net     *wire
	channel string // "" = none
	outbox  inbound.Outbox
}

var members = map[string]string{"Mira": "UMIRA", "Ana": "UANA", "Ben": "UBEN"}

func newSlack(t *testing.T) phone {
	p := &slackPhone{net: newWire("slack.test:80")}
	p.far = farslack.StartOn(p.net)
	for _, id := range members {
		p.far.Direct(id)
	}
	var err error
	p.bot, err = slack.New(slack.Options{
		AppToken: farslack.AppToken, BotToken: farslack.BotToken, API: p.far.URL(), Dial: p.net.Dial,
		PingTimeout: 30 * 24 * time.Hour, // the fake sends no pings
		RepliedTo: func(ctx context.Context, chat, message string) bool {
			_, found, err := p.outbox.AnswerTo(ctx, chat, message)
			return found && err == nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newSlackChannel is a Slack whose users write in a channel.
func newSlackChannel(t *testing.T) phone {
	p, _ := newSlack(t).(*slackPhone)
	p.channel = "CSHOP"
	p.far.Rename(p.channel, "shop")
	return p
}

func (p *slackPhone) id(name string) string { return slack.Prefix + members[name] }
func (p *slackPhone) name() string          { return "slack" }

func (p *slackPhone) thread() string {
	if p.channel == "" {
		return ""
	}
	return slack.Prefix + p.channel
}

// chat returns the id of a user's conversation.
func (p *slackPhone) chat(who string) string {
	if p.channel != "" {
		return p.channel
	}
	return p.far.Direct(members[who])
}

// say sends a line. A command goes behind /porter, the only form that Slack has in a
// conversation of two; in a channel, everything mentions the app.
func (p *slackPhone) say(who, line string) {
	command, is := strings.CutPrefix(line, "/")
	switch {
	case strings.HasPrefix(line, "/pair"), is && p.channel == "":
		p.far.Slash(members[who], p.far.Direct(members[who]), command)
	case p.channel != "":
		p.far.Say(members[who], p.channel, "@porter "+command)
	default:
		p.far.Say(members[who], p.chat(who), line)
	}
}

// find returns the channel and time stamp of the newest message of a user's chat that
// begins with first; or of their own chat, where it is not in the channel.
func (p *slackPhone) find(who, first string) (where, ts string, err error) {
	for _, where := range []string{p.chat(who), p.far.Direct(members[who])} {
		for _, m := range slices.Backward(p.far.Messages(where)) {
			if m.Bot && strings.HasPrefix(firstOf(m), first) {
				return where, m.TS, nil
			}
		}
	}
	return "", "", fmt.Errorf("%s has no message %q", who, first)
}

func (p *slackPhone) press(who, first, label string) error {
	where, ts, err := p.find(who, first)
	if err == nil {
		_, err = p.far.Press(members[who], where, ts, label)
	}
	return err
}

func (p *slackPhone) reply(who, first, line string) error {
	where, ts, err := p.find(who, first)
	if err == nil {
		for _, m := range p.far.Messages(where) {
			if m.TS == ts {
				ts = cmp.Or(m.Root, ts)
			}
		}
		p.far.Reply(members[who], where, ts, line)
	}
	return err
}

func (p *slackPhone) react(who, first string) error {
	where, ts, err := p.find(who, first)
	if err == nil {
		p.far.React(members[who], where, ts, "+1")
	}
	return err
}

func (p *slackPhone) edit(who, text, to string) error {
	where := p.chat(who)
	for _, m := range slices.Backward(p.far.Messages(where)) {
		if !m.Bot && m.Text == text {
			p.far.Edit(where, m.TS, to)
			return nil
		}
	}
	return fmt.Errorf("%s wrote no %q", who, text)
}

// firstOf returns the text that a notification shows of a message, without the
// sender.
func firstOf(m farslack.Message) string {
	text := m.Text
	for strings.HasPrefix(text, "<@") {
		_, text, _ = strings.Cut(text, "> ")
	}
	return text
}

func (p *slackPhone) shows(who string) []shownMessage {
	var out []shownMessage
	for _, m := range p.far.Messages(p.chat(who)) {
		if m.VisibleTo != "" || len(m.Files) > 0 && m.Text == "" {
			continue // a reply to a press, or a picture in a thread
		}
		key := ""
		if _, after, ok := strings.Cut(string(m.Blocks), `"block_id":"`); ok {
			key, _, _ = strings.Cut(after, `"`)
		}
		out = append(out, shownMessage{
			at: m.Time().In(berlin), first: firstOf(m), lines: m.Lines(), rings: m.Mentions(), edits: m.Edits, mine: !m.Bot,
			live: strings.HasPrefix(key, "status."), reply: strings.HasPrefix(key, "guidance."),
		})
	}
	return out
}

func (p *slackPhone) transcript(who string) string {
	return p.far.Transcript(p.chat(who), berlin)
}

func (p *slackPhone) picture(string) []byte {
	for _, f := range p.far.Files() {
		if strings.HasSuffix(f.Name, ".png") {
			return f.Data
		}
	}
	return nil
}

func (p *slackPhone) options(o delivery.Options) delivery.Options {
	o.Sender, o.Prefix, o.Platform, o.Limits, o.IsGroup = p.bot, slack.Prefix, "Slack", delivery.SlackLimits, slack.IsGroup
	return o
}

func (p *slackPhone) reception(o inbound.Options, s *store.Store) inbound.Options {
	p.outbox = s
	o.Outbox, o.Notice, o.NoticeStays, o.Ask = threads{s}, p.bot.Notice, true, p.bot.OpenForm
	return o
}

// threads is an Outbox for Slack: for a user's message, SentAt finds
// nightporter's reply in the thread below it.
type threads struct{ inbound.Outbox }

func (o threads) SentAt(ctx context.Context, chat, id string) (ledger.SentMessage, bool, error) {
	if slack.IsUserMessage(id) {
		return o.AnswerTo(ctx, chat, id)
	}
	return o.Outbox.SentAt(ctx, chat, id)
}

func (p *slackPhone) listen(ctx context.Context, s *store.Store, r bot.Receiver) error {
	return p.bot.Run(ctx, func(ctx context.Context) (string, error) {
		c, _, err := s.Cursor(ctx, p.bot.CursorName())
		return c.Value, err
	}, r)
}

func (p *slackPhone) close() { p.far.Close() }
