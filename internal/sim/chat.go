package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop/ledger"
)

// platform is a chat platform: what people wrote there and what they are shown. It
// outlives the daemon, and loses nothing of its own.
type platform struct {
	w      *world
	prefix string
	cursor bool // inputs have an order and are confirmed by a cursor, as Telegram's

	offline bool
	inputs  []*input
	arrived chan struct{} // buffers one signal
	shown   []*shown
	ids     int
}

// input is one thing that a person wrote or pressed.
type input struct {
	bot.Inbound
	update  int
	at      time.Time // by the scheduler's clock
	handled int       // times that the daemon confirmed it
}

// shown is one message as the chat shows it.
type shown struct {
	id, chat string
	m        bot.Message
}

func (w *world) newPlatform(prefix string, cursor bool) *platform {
	return &platform{w: w, prefix: prefix, cursor: cursor, arrived: make(chan struct{}, 1)}
}

// weather is how well the platform can be reached.
func (p *platform) weather() {
	w := p.w
	for {
		w.all.sleep(w.between(10*time.Minute, 3*time.Hour))
		if !w.on() || !w.one(3) {
			continue
		}
		w.count(chatOffline)
		d := w.around(10 * time.Minute)
		w.tell("chat", "%s cannot be reached for %s", p.prefix, d.Round(time.Second))
		p.offline = true
		w.all.sleep(d)
		p.offline = false
		w.tell("chat", "%s can be reached again", p.prefix)
		p.signal()
	}
}

func (p *platform) signal() {
	select {
	case p.arrived <- struct{}{}:
	default:
	}
}

// write puts a person's input before the daemon, now or when it next looks.
func (p *platform) write(in bot.Inbound) *input {
	n := len(p.inputs) + 1
	in.Sent = p.w.wall()
	in.Key = p.prefix + "bot:" + strconv.Itoa(n)
	if p.cursor {
		in.Cursor = &ledger.Cursor{Name: p.prefix + "bot", Value: strconv.Itoa(n + 1)}
	}
	i := &input{Inbound: in, update: n, at: p.w.s.now}
	p.inputs = append(p.inputs, i)
	p.signal()
	return i
}

// listen passes inputs to a daemon until it dies: in order and up to the cursor, or,
// without one, each until it was confirmed. What could not be committed comes again
// after growing pauses, as from the real adapters.
func (p *platform) listen(ctx context.Context, d *daemon) {
	w := p.w
	var pauses transport.Backoff
	for {
		if p.offline {
			if d.life.Wait(ctx, 5*time.Second, nil) != nil {
				return
			}
			continue
		}
		next, err := p.next()
		if next == nil {
			again := sched.Forever
			if err != nil {
				again = 5 * time.Second
			}
			if d.life.Wait(ctx, again, p.arrived) != nil {
				return
			}
			continue
		}
		d.life.sleep(w.between(0, 700*time.Millisecond))
		d.dispatcher(p).Reopen(next.Chat)
		if err := d.receiver.Receive(background, w.sentNow(next.Inbound)); err != nil {
			if d.life.Wait(ctx, pauses.Next(), nil) != nil {
				return
			}
			continue
		}
		pauses.Reset()
		next.handled++
		w.audit.acknowledged(next)
		if !w.calm && len(p.inputs) > 0 && w.hit(chatTwice) {
			again := p.inputs[w.rnd.IntN(len(p.inputs))]
			if again.handled > 0 && (w.opt.nights <= 1 || w.s.now.Sub(again.at) < 24*time.Hour) {
				_ = d.receiver.Receive(background, again.Inbound) // the same key: nothing may change
			}
		}
	}
}

// sentNow gives an input's cursor the time of its delivery.
func (w *world) sentNow(in bot.Inbound) bot.Inbound {
	if in.Cursor != nil {
		c := *in.Cursor
		c.Time = w.wall()
		in.Cursor = &c
	}
	return in
}

// next returns the input to deliver next, nil if none waits or if the daemon cannot
// read which.
func (p *platform) next() (*input, error) {
	var waiting []*input
	from := 1
	if p.cursor {
		c, found, err := p.w.store.Cursor(background, p.prefix+"bot")
		if err != nil {
			return nil, err
		}
		if found {
			from, _ = strconv.Atoi(c.Value)
		}
	}
	for _, i := range p.inputs {
		if p.cursor && i.update >= from || !p.cursor && i.handled == 0 {
			waiting = append(waiting, i)
		}
	}
	switch {
	case len(waiting) == 0:
		return nil, nil
	case !p.cursor && len(waiting) > 1 && p.w.hit(chatOrder):
		return waiting[p.w.rnd.IntN(len(waiting))], nil
	}
	return waiting[0], nil
}

// sender is a platform as one daemon reaches it.
type sender struct {
	*platform
	life *life
}

var _ bot.Sender = sender{}

// call stands for the network: it takes time, and fails in every way.
func (s sender) call(what string) (arrives bool, err error) {
	w := s.w
	d := w.between(20*time.Millisecond, time.Second)
	if w.hit(chatSlow) {
		d = w.between(time.Second, 100*time.Second)
	}
	s.life.sleep(d)
	switch {
	case s.offline:
		return false, &bot.SendError{Reason: bot.ErrOffline, Text: "no route to host"}
	case w.hit(chatRate):
		return false, &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: w.between(time.Second, time.Minute), Text: "too many requests"}
	case w.hit(chatUnknown):
		arrives = w.one(2)
		w.tell("chat", "%s: nobody knows whether it arrived (it did: %v)", what, arrives)
		return arrives, &bot.SendError{Reason: bot.ErrOutcomeUnknown, Text: "connection reset"}
	}
	return true, nil
}

// Send is bot.Sender's.
func (s sender) Send(_ context.Context, chat string, m bot.Message, _ bot.SendOptions) (string, error) {
	arrives, err := s.call("send " + m.Key)
	if !arrives {
		return "", err
	}
	s.ids++
	at := strconv.Itoa(s.ids)
	s.show(&shown{id: at, chat: chat, m: m})
	if err != nil {
		return "", err
	}
	s.life.sleep(s.w.between(0, 50*time.Millisecond)) // the answer travels back
	return at, nil
}

func (s sender) show(x *shown) {
	s.platform.shown = append(s.platform.shown, x)
	s.w.audit.toldOfAdds(x.m)
	s.w.audit.toldOfIdeas(x.m)
	s.w.audit.shown(x)
	s.w.tell("chat", "→ %s #%s %s", who(x.chat), x.id, first(x.m))
}

// Edit is bot.Sender's.
func (s sender) Edit(_ context.Context, at bot.Ref, m bot.Message) error {
	arrives, err := s.call("edit " + m.Key)
	if !arrives {
		return err
	}
	n := slices.IndexFunc(s.shown, func(x *shown) bool { return x.chat == at.Chat && x.id == at.ID })
	if n < 0 || s.w.hit(chatGone) {
		return &bot.SendError{Reason: bot.ErrMessageGone, Text: "message to edit not found"}
	}
	x := s.shown[n]
	x.m = m
	s.w.audit.shown(x)
	s.w.audit.toldOfAdds(m)
	s.w.audit.toldOfIdeas(m)
	s.w.tell("chat", "→ %s #%s now %s", who(x.chat), x.id, first(m))
	return err
}

// Delete is bot.Sender's.
func (s sender) Delete(_ context.Context, at bot.Ref) error {
	arrives, err := s.call("delete")
	if arrives {
		s.platform.shown = slices.DeleteFunc(s.platform.shown, func(x *shown) bool { return x.chat == at.Chat && x.id == at.ID })
	}
	return err
}

// Notice is bot.Sender's.
func (s sender) Notice(context.Context, string, string) error { return nil }

func first(m bot.Message) string {
	if len(m.Lines) == 0 {
		return "(nothing)"
	}
	return m.Lines[0].Text
}

func who(chat string) string {
	_, name, _ := strings.Cut(chat, ":")
	return name
}

// person is somebody with a phone.
type person struct {
	w    *world
	p    *platform
	id   string
	name string
	role ledger.Role
}

func (w *world) drawPeople() {
	telegram, slack := w.newPlatform("telegram:", true), w.newPlatform("slack:", false)
	w.chats = []*platform{telegram, slack}
	w.people = []*person{{w, telegram, "telegram:mira", "Mira", ledger.RoleAdmin}, {w, slack, "slack:ana", "Ana", ledger.RoleSteer}}
}

// live is what the person does all night: little, then much.
func (p *person) live() {
	w := p.w
	for {
		if w.calm {
			w.all.sleep(w.between(time.Minute, 3*time.Minute))
			p.settle()
			continue
		}
		w.all.sleep(w.around(40 * time.Minute))
		if w.intensity > 0 && !w.calm {
			p.act()
		}
	}
}

func (p *person) say(text string) *input {
	w := p.w
	w.tell("person", "%s: %s", p.name, text)
	w.audit.message++
	return p.p.write(bot.Inbound{Actor: p.id, Name: p.name, Chat: p.id, Private: true, Text: text, Message: fmt.Sprintf("p%d", w.audit.message)})
}

// act is one thing of all that people do.
func (p *person) act() {
	w := p.w
	if w.adds != nil && w.on() && w.adds.IntN(4) == 0 {
		if w.adds.IntN(3) > 0 && p.decides() {
			return
		}
		w.count(personAdds)
		p.say(w.addLine())
		return
	}
	if w.hit(personLate) && !p.p.offline { // sent where there is no network: it arrives later
		w.tell("person", "%s is out of reach", p.name)
		in := p.choose()
		if in != "" {
			i := p.say(w.named(in))
			i.Sent = i.Sent.Add(-w.between(time.Hour, 5*time.Hour))
		}
		return
	}
	if w.one(3) && p.press(w.one(3)) {
		return
	}
	if in := p.choose(); in != "" {
		p.say(w.named(in))
	}
}

// choose returns a line to type.
func (p *person) choose() string {
	w := p.w
	task := fmt.Sprintf("#%d", 1+w.rnd.IntN(w.opt.tasks))
	says := func(f fault, lines ...string) string {
		if !w.on() {
			return ""
		}
		w.count(f)
		return pick(w, lines...)
	}
	if w.remakes != nil && w.remakes.IntN(3) == 0 {
		return says(personRemakes, w.remakeLines(task)...)
	}
	switch n := w.rnd.IntN(20); {
	case n < 6:
		return says(personTalks, "/status", "/tasks", "/queue", "/log", "/cost", "/evidence "+task, "/help", "how is it going?", "/runs", "/frob", "/task "+task)
	case n < 11:
		w.audit.message++
		text := fmt.Sprintf("keep the names of note%d", w.audit.message)
		return says(personGuides, "/guidance "+text, "/guidance @builder "+text, "/guidance "+task+" "+text, "/guidance !sticky "+text, text, "/guidance @nobody "+text)
	case n < 12:
		return says(personGuides, "/now", "/now stop that", "/drop g1", "/drop g2")
	case n < 15:
		return says(personHolds, "/pause", "/pause now", "/resume", "/resume", "/resume")
	case n < 16:
		return says(personStops, "/stop", "/stop now", "/run", "/run")
	default:
		return says(personTask, "/skip "+task, "/retry "+task, "/next "+task, "/retry "+task)
	}
}

// press presses a button that the chat shows: of an old message, or of the last.
func (p *person) press(old bool) bool {
	w := p.w
	var with []*shown
	for _, x := range p.p.shown {
		if x.chat == p.id && len(x.m.Buttons) > 0 {
			with = append(with, x)
		}
	}
	if len(with) == 0 {
		return false
	}
	x := with[len(with)-1]
	f := personPresses
	if old {
		x, f = with[w.rnd.IntN(len(with))], personOld
	}
	if !w.calm && !w.on() {
		return false
	}
	w.count(f)
	n := w.rnd.IntN(len(x.m.Buttons))
	p.pressButton(x, n)
	return true
}

func (p *person) pressButton(x *shown, n int) {
	w := p.w
	w.tell("person", "%s presses [%s] of #%s", p.name, x.m.Buttons[n].Label, x.id)
	switch command := x.m.Buttons[n].Command; {
	case strings.HasSuffix(command, " skip"): // the settled question says what became of the idea
		for _, id := range ideaID.FindAllString(first(x.m), -1) {
			w.ideas[id] = &idea{told: true}
		}
	case strings.HasPrefix(command, "/add undo"):
		w.undos++
	case x.m.Key == "ask.idea" && strings.HasSuffix(command, " start"):
		w.agrees(func(title string) bool {
			return slices.ContainsFunc(x.m.Lines, func(l bot.Line) bool { return strings.Contains(l.Text, title) })
		})
	}
	p.p.write(bot.Inbound{
		Actor: p.id, Name: p.name, Chat: p.id, Private: true, Message: x.id,
		Press: bot.ButtonData(x.m, n, 64), PressID: fmt.Sprintf("press%d", len(p.p.inputs)),
	})
}
