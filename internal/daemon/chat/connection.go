package chat

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop/ledger"
)

// line is the connection to one platform.
type line struct {
	platform platform.Platform
	place    int // in the table of platforms
	hub      *Hub
	conn     *platform.Conn
	post     *delivery.Dispatcher
	receiver bot.Receiver
	lock     *os.File
	spawn    func(func(ctx context.Context)) // of the connections

	mu      sync.Mutex
	botName string
	asking  bool
}

func (l *line) unlock() { _ = l.lock.Close() } // none is no error to it

// listen hands over what people do until ctx ends.
func (l *line) listen(ctx context.Context) {
	cursor := func(ctx context.Context) (string, error) { // asked for before every poll
		if l.conn.State().Connected {
			l.post.MarkReachable()
		}
		c, _, err := l.hub.o.Store.Cursor(ctx, l.conn.Cursor)
		return c.Value, err
	}
	_ = l.conn.Listen(ctx, cursor, l.receiver) // says why ctx ended
}

// name is the bot's, "" while it is not known.
func (l *line) name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.botName
}

// changed is told of every coming and going of the connection.
func (l *line) changed(s transport.State) {
	h, about := l.hub, project.AboutChat(l.place)
	if s.Connected {
		h.o.Catalog.Warn("", about, "")
		l.post.MarkReachable()
		l.introduce()
		h.o.Changes.Ring() // there may be menus to set
		return
	}
	if s.Trouble != transport.TroubleStart {
		h.o.Catalog.Warn("", about, "! "+l.platform.Title+": "+s.Text)
	}
}

// introduce learns the bot's name, once.
func (l *line) introduce() {
	l.mu.Lock()
	begin := l.conn.BotName != nil && !l.asking && l.botName == ""
	l.asking = l.asking || begin
	l.mu.Unlock()
	if !begin {
		return
	}
	l.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		name, err := l.conn.BotName(ctx)
		l.mu.Lock()
		l.asking = false
		if err == nil {
			l.botName = name
		}
		l.mu.Unlock()
		if err != nil {
			l.hub.o.Log.Warn("the bot's name is not known", "platform", l.platform.Name, "error", err)
			return
		}
		l.hub.o.Changes.Ring()
	})
}

// steerers are those of the platform who may steer: a message in a chat of
// several people can name them, so that it makes a sound.
func (l *line) steerers(string) []string {
	var out []string
	for _, who := range l.hub.o.Engine.Shared().People {
		if strings.HasPrefix(who.ID, l.platform.Prefix()) && who.Role.May(ledger.RoleSteer) {
			out = append(out, who.ID)
		}
	}
	return out
}

// answered reports whether somebody's message has an answer of ours.
func (l *line) answered(ctx context.Context, chat, id string) bool {
	_, found, err := l.hub.o.Store.AnswerTo(ctx, chat, id)
	if err != nil {
		l.hub.o.Log.Error("look up an answer", "chat", chat, "error", err)
	}
	return found
}

// alive notes that a chat takes messages, which it may not have before.
func (l *line) alive(chat string) {
	l.post.Reopen(chat)
	l.hub.wrote(bot.Inbound{Chat: chat})
}

// open are the messages of a chat whose questions wait for an answer.
func (l *line) open(ctx context.Context, chat string) []string {
	var out []string
	for _, name := range l.hub.o.Engine.Projects() {
		s, _ := l.hub.o.Engine.State(name)
		for _, q := range s.Project.Questions {
			m, found, err := l.hub.o.Store.SentFor(ctx, chat, q.ID)
			if err != nil {
				l.hub.o.Log.Error("look up a question", "chat", chat, "question", q.ID, "error", err)
			}
			if found {
				out = append(out, m.ID)
			}
		}
	}
	return out
}

// waking reports to the dispatcher and the hub that somebody wrote in a chat: a
// chat that took nothing is tried again.
type waking struct {
	bot.Receiver
	post  *delivery.Dispatcher
	wrote func(bot.Inbound)
}

// Receive hands an input on.
func (o waking) Receive(ctx context.Context, in bot.Inbound) error {
	o.post.Reopen(in.Chat)
	o.wrote(in)
	return o.Receiver.Receive(ctx, in)
}

// sentOutbox is the outbox as the people of a platform point at it.
type sentOutbox struct {
	inbound.Outbox
	line *line
}

// SentAt finds the message of ours that an id stands for.
func (o sentOutbox) SentAt(ctx context.Context, chat, id string) (ledger.SentMessage, bool, error) {
	return o.line.platform.SentAt(ctx, o.Outbox, o.line.hub.Threads.all(), chat, id)
}

// menus keeps the menu of commands in everybody's own chat as their role is,
// until ctx ends. Strangers have none, and neither have groups,
// where strangers read. A menu is a convenience: what cannot be set is logged.
func (l *line) menus(ctx context.Context) {
	m := menus{prefix: l.platform.Prefix(), tell: l.conn.SetMenu, log: l.hub.o.Log, set: map[string]ledger.Role{}}
	for ctx.Err() == nil {
		rung := l.hub.o.Changes.Next()
		if l.conn.State().Connected {
			if retry := m.update(ctx, l.hub.o.Engine.Shared().People); retry > 0 {
				_ = transport.Sleep(ctx, retry) // says why ctx ended
				continue
			}
		}
		select {
		case <-ctx.Done():
		case <-rung:
		}
	}
}

// membersFor is for how long what a platform said of members is believed.
const membersFor = time.Hour

// members asks who is in the groups of threads, until ctx ends: at once where
// somebody is new or a thread is, and again every hour.
func (l *line) members(ctx context.Context) {
	h := l.hub
	asked := map[string]time.Time{} // by thread and person
	hourly := time.NewTicker(membersFor)
	defer hourly.Stop()
	for ctx.Err() == nil {
		rung := h.o.Changes.Next()
		if l.conn.State().Connected {
			for _, pr := range h.o.Catalog.Config().Projects {
				thread := h.Threads.on(l.platform, pr)
				for _, who := range h.o.Engine.Shared().People {
					if thread == "" || !strings.HasPrefix(who.ID, l.platform.Prefix()) || time.Since(asked[thread+" "+who.ID]) < membersFor-time.Minute {
						continue
					}
					asked[thread+" "+who.ID] = time.Now()
					reads, err := l.conn.Reads(ctx, thread, who.ID)
					if err != nil {
						h.o.Log.Debug("nobody says whether somebody is in a group", "chat", thread, "person", who.ID, "error", err)
					}
					h.members.note(thread, who.ID, err == nil && !reads)
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-rung:
			_ = transport.Sleep(ctx, time.Second) // a night rings often, and nobody's coming is urgent
		case <-hourly.C:
		}
	}
}
