package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// chatHub is how a nightporter that stays speaks with people: what is told is
// composed from the first decision on, also while no platform is connected.
type chatHub struct {
	porter *porter
	notify *notify.Notifier
	posts  atomic.Pointer[[]*delivery.Dispatcher] // of each platform; nil until the chats have begun
	drawn  atomic.Pointer[digests]                // that go out with the next decision

	answers chan answered // that can still be taken back
}

// newTalk makes what composes messages; nil where no chat is configured.
func newTalk(p *porter) *chatHub {
	if !p.stays || p.config().Telegram == nil && p.config().Slack == nil {
		return nil
	}
	t := &chatHub{porter: p, answers: make(chan answered, 100)}
	t.notify = notify.New(notify.Options{
		Where: p.where, Group: isGroup, Threads: p.threads, Reads: p.members.read, Quiet: p.quietHours, Urgent: p.urgent, Zone: p.zone(), Digests: t.digests,
	})
	return t
}

// quietHours are those of chats that have none of their own.
func (p *porter) quietHours() ledger.Hours { return ledger.Hours(p.config().Digest.Quiet.String()) }

// quiet reports whether a chat is left in peace at a time.
func (p *porter) quiet(chat string, at time.Time) bool {
	return p.engine.Shared().QuietHours(chat, p.quietHours()).Has(at.In(p.zone()))
}

// urgent is what rings in quiet hours all the same.
func (p *porter) urgent() []string {
	if u := p.config().Digest.Urgent; len(u) > 0 {
		return u
	}
	return []string{notify.Standstill}
}

// isGroup reports whether several people read in a chat.
func isGroup(chat string) bool { return telegram.IsGroup(chat) || slack.IsGroup(chat) }

// each does something with the post of each platform.
func (t *chatHub) each(do func(*delivery.Dispatcher)) {
	if t == nil {
		return
	}
	if all := t.posts.Load(); all != nil {
		for _, p := range *all {
			do(p)
		}
	}
}

// where returns the chats in which a message with the key stands.
func (p *porter) where(key string) []string {
	chats, err := p.store.Where(context.Background(), key)
	if err != nil {
		p.log.Error("where a message stands", "key", key, "error", err)
	}
	return chats
}

// zone is the people's time zone.
func (p *porter) zone() *time.Location {
	zone, err := p.config().Zone()
	if err != nil { // checked when the configuration was read
		return time.Local
	}
	return zone
}

func (t *chatHub) compose(before loop.State, d loop.Decision, in loop.Input) []ledger.Outgoing {
	if t == nil {
		return nil
	}
	return t.notify.Compose(before, d, in)
}

// sent wakes whoever delivers.
func (t *chatHub) sent(chats []string) {
	t.each(func(p *delivery.Dispatcher) { p.Wake(chats...) })
}

// changed says that a project's live status has another text.
func (t *chatHub) changed(project string) {
	t.each(func(p *delivery.Dispatcher) {
		p.RefreshLive(bot.LiveKey(project))
		p.RefreshLive(bot.LiveKey(""))
	})
}

// longAway is from when on open questions are asked again: a press in that
// time is lost (PHONE 3.11).
const longAway = 10 * time.Minute

// away asks the open questions again where nightporter was off for long.
func (t *chatHub) away(ctx context.Context, off, now time.Time) {
	if t == nil || off.IsZero() || now.Sub(off) < longAway {
		return
	}
	for _, project := range t.porter.engine.Projects() {
		s, _ := t.porter.engine.State(project)
		messages := t.notify.AwayAgain(s, off, now)
		if len(messages) == 0 {
			continue
		}
		key := fmt.Sprintf("away:%s:%d", project, off.UnixNano())
		if err := t.porter.engine.Say(ctx, key, now, messages, nil); err != nil {
			t.porter.log.Error("ask again", "project", project, "error", err)
		}
	}
}

// liveStatus gives the text of live messages.
type liveStatus struct{ porter *porter }

// Text is the status as whoever reads the chat may see it, and whether a run
// is under way.
func (l liveStatus) Text(chat, key string) (bot.Message, bool) {
	h := host{&service{porter: l.porter}}
	m, ok := bot.Live(h, key, time.Now().In(l.porter.zone()))
	if !ok {
		return bot.Message{}, false
	}
	if person, ok := h.Shared().Person(chat); ok {
		m = m.For(person.Role)
	} else if l.porter.barred(chat) {
		return bot.Message{}, false
	}
	ticking := false
	for _, name := range h.Projects() {
		s, _ := h.State(name)
		if r := s.Project.Run; !r.Over() && r.State != ledger.RunPaused && (strings.HasSuffix(key, "/"+name) || strings.HasSuffix(key, "/*")) {
			ticking = true
		}
	}
	return m, ticking
}

// barred reports whether a chat is that of somebody who is not let in any more
// (SPEC 6.6): it was a person's own, since nothing is ever sent to a stranger.
func (p *porter) barred(chat string) bool {
	_, in := p.engine.Shared().Person(chat)
	return !in && !isGroup(chat)
}

// kept is how long messages are kept after they were settled, and how long it
// is known that an update was handled: strangers' messages are kept no longer.
const kept = 30 * 24 * time.Hour

// tidy removes what is kept no longer, at the start and once a day: nightporter
// stays for months.
func tidy(ctx context.Context, p *porter) {
	daily := time.NewTicker(24 * time.Hour)
	defer daily.Stop()
	for {
		before := time.Now().Add(-kept)
		if _, err := p.store.PruneMessages(ctx, before); err != nil && ctx.Err() == nil {
			p.log.Warn("old messages are not removed", "error", err)
		}
		for _, platform := range []string{telegram.Prefix, slack.Prefix} {
			if _, err := p.store.PruneInputs(ctx, platform, before); err != nil && ctx.Err() == nil {
				p.log.Warn("old updates are not forgotten", "platform", platform, "error", err)
			}
		}
		select {
		case <-daily.C:
		case <-ctx.Done():
			return
		}
	}
}

// platform is one connection to where people chat.
type platform struct {
	name      string
	post      *delivery.Dispatcher
	connected func() bool
	listen    func(ctx context.Context) // hears people until ctx ends
	lock      *os.File
}

// chats starts the chats that the configuration names, and returns what stops
// them. Their platforms may be out of reach: that is no error, and nothing
// waits for it.
func chats(ctx context.Context, p *porter, off time.Time) (stop func(), err error) {
	var all []platform
	closeLocks := func() {
		for _, c := range all {
			_ = c.lock.Close() // none is no error to it
		}
	}
	for _, connect := range []func(*porter) (platform, bool, error){connectTelegram, connectSlack} {
		c, wanted, err := connect(p)
		if err != nil {
			closeLocks()
			return nil, err
		}
		if wanted {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return func() {}, nil
	}
	p.metrics.connected = func() map[string]bool {
		out := map[string]bool{}
		for _, c := range all {
			out[c.name] = c.connected()
		}
		return out
	}
	p.metrics.queued = p.queued
	var posts []*delivery.Dispatcher
	for _, c := range all {
		posts = append(posts, c.post)
	}
	p.talk.posts.Store(&posts)
	p.rethread()
	// What an earlier process showed is kept up to date from here on.
	for _, project := range append(p.engine.Projects(), "") {
		key := bot.LiveKey(project)
		for _, chat := range p.where(key) {
			p.talk.each(func(p *delivery.Dispatcher) { p.TrackLive(chat, key) })
		}
	}
	p.talk.away(ctx, off, time.Now())

	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { tidy(ctx, p) })
	work.Go(func() { p.talk.daily(ctx) })
	work.Go(func() { p.talk.settle(ctx) })
	for _, c := range all {
		work.Go(func() { _ = c.post.Run(ctx) }) // says why ctx ended
		work.Go(func() { c.listen(ctx) })
	}
	return func() {
		cancel()
		work.Wait()
		closeLocks()
	}, nil
}

// connectTelegram makes the connection to Telegram, where one is configured.
func connectTelegram(p *porter) (c platform, wanted bool, err error) {
	cfg := p.config()
	if cfg.Telegram == nil {
		return c, false, nil
	}
	token, err := telegramToken(cfg)
	if err != nil {
		return c, false, unusableChat(err)
	}
	line := &telegramLine{porter: p}
	tg, err := telegram.New(telegram.Options{
		Token: transport.Secret(token), API: cfg.Telegram.API, Log: p.log, OnChange: line.changed, OnChatMoved: p.moved, OnTopicGone: p.lost,
	})
	if err != nil {
		return c, false, unusableChat(err)
	}
	lock, err := lockBot(p.log, cfg.Telegram.API, tg.ID())
	if err != nil {
		return c, false, err
	}
	line.bot = tg
	line.post = delivery.New(delivery.Options{
		Outbox: migratingOutbox{p.store, p}, Sender: tg, OnChatClosed: p.shut, Prefix: telegram.Prefix, Platform: "Telegram", Log: p.log,
		Clock: func() time.Time { return time.Now().In(p.zone()) }, Live: liveStatus{p}, Unauthorized: p.barred, Quiet: p.quiet,
	})
	o := p.receptionOptions()
	o.Outbox, o.Notice, o.Name, o.ProjectOf = topicOutbox{p.store, p}, tg.Notice, line.name, p.threadProject
	receiver := waking{inbound.New(o), line.post, p.wrote}
	p.botName = line.name
	cursor := func(ctx context.Context) (string, error) { // asked for before every poll
		if tg.State().Connected {
			line.post.MarkReachable()
		}
		c, _, err := p.store.Cursor(ctx, tg.CursorName())
		return c.Value, err
	}
	return platform{
		name: "telegram", post: line.post, lock: lock, connected: func() bool { return tg.State().Connected },
		listen: func(ctx context.Context) {
			var beside sync.WaitGroup
			beside.Go(func() { line.menus(ctx) })
			beside.Go(func() { line.members(ctx) })
			_ = tg.Poll(ctx, cursor, receiver) // says why ctx ended
			beside.Wait()
		},
	}, true, nil
}

// receptionOptions are what the receptions of all platforms share.
func (p *porter) receptionOptions() inbound.Options {
	return inbound.Options{
		Service: host{&service{porter: p}}, Zone: p.zone(), Log: p.log,
		Hash: func(code string) string { return pairingHash(p.door.key, code) },
	}
}

// unusableChat is what a person has to mend before any chat begins.
func unusableChat(err error) error {
	return &ledger.InputError{Findings: []ledger.Finding{{Text: err.Error()}}}
}

// waking tells the post that somebody wrote in a chat, so that one that took
// nothing is tried again.
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

// queued counts what waits to be delivered.
func (p *porter) queued() (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return p.store.Waiting(ctx)
}

// telegramLine is the connection to Telegram as the rest of nightporter sees it.
type telegramLine struct {
	porter *porter
	bot    *telegram.Bot
	post   *delivery.Dispatcher

	mu       sync.Mutex
	username string
	asking   bool
}

// name is the bot's, "" while it is not known.
func (l *telegramLine) name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.username
}

// changed is told of every coming and going of the connection.
func (l *telegramLine) changed(s transport.State) {
	if s.Connected {
		l.porter.remarks.set("", remarkChat, "")
		l.porter.log.Info("telegram is reached")
		if l.post != nil {
			l.post.MarkReachable()
		}
		l.introduce()
		l.porter.changes.ring() // there may be menus to set
		return
	}
	if s.Trouble == transport.TroubleStart {
		return
	}
	l.porter.log.Warn("telegram", "trouble", string(s.Trouble), "text", s.Text)
	l.porter.remarks.set("", remarkChat, "! Telegram: "+s.Text)
}

// introduce learns the bot's name, once.
func (l *telegramLine) introduce() {
	l.mu.Lock()
	begin := !l.asking && l.username == ""
	l.asking = l.asking || begin
	l.mu.Unlock()
	if !begin {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(l.porter.closing, 30*time.Second)
		defer cancel()
		me, err := l.bot.Me(ctx)
		l.mu.Lock()
		l.asking = false
		if err == nil {
			l.username = me.Username
		}
		l.mu.Unlock()
		if err != nil {
			l.porter.log.Warn("telegram: the bot's name is not known", "error", err)
			return
		}
		l.porter.changes.ring()
	}()
}

// lockBot keeps a second nightporter of this person on this machine from
// polling with the same bot: each would lose what the other reads (SPEC 13).
// The folder is everybody's, so what lies there under the name may be a trap,
// or somebody else's: then there is no lock, and the platform's own refusal of
// a second poller has to do. It must not keep nightporter from starting.
func lockBot(log *slog.Logger, api, id string) (*os.File, error) {
	sum := sha256.Sum256([]byte(api + " " + id))
	path := filepath.Join(os.TempDir(), fmt.Sprintf("nightporter-bot-%d-%s.lock", os.Geteuid(), hex.EncodeToString(sum[:8])))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err == nil {
		if err = mine(f); err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		}
		if err == nil {
			return f, nil
		}
		_ = f.Close()
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, &ledger.InputError{Findings: []ledger.Finding{{
			Text: "another nightporter of this machine hears people with this bot's token; both would lose messages",
			Fix:  "End the other one, or give this one a bot with a token of its own.",
		}}}
	}
	log.Warn("no lock of the bot: a second nightporter with its token is noticed by Telegram only", "file", path, "error", err)
	return nil, nil //nolint:nilnil // no lock, and no reason not to start
}

// mine refuses a file that is not a plain one of this process's user.
func mine(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || !ok || int(st.Uid) != os.Geteuid() {
		return errors.New("it is somebody else's, or no plain file")
	}
	return nil
}
