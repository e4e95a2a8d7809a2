package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// emptyDatabase returns a migrated database without entries.
var emptyDatabase = func() func(dir string) ([]byte, error) {
	var once sync.Once
	var data []byte
	var err error
	return func(dir string) ([]byte, error) {
		once.Do(func() {
			var at string
			if at, err = os.MkdirTemp(dir, "empty-"); err != nil {
				return
			}
			defer os.RemoveAll(at)
			var s *store.Store
			if s, err = store.Open(at); err != nil {
				return
			}
			if err = s.Close(); err == nil {
				data, err = os.ReadFile(filepath.Join(at, store.Name))
			}
		})
		return data, err
	}
}()

// daemon is one process of the program under test: the real engine, chats and
// outbox over the night's ledger.
type daemon struct {
	w           *world
	life        *life
	stop        context.CancelFunc
	engine      *engine.Engine
	receiver    *inbound.Receiver
	dispatchers []*delivery.Dispatcher // by platform
}

// boot starts a daemon on the ledger as the one before left it.
func (w *world) boot() {
	w.boots++
	if w.store != nil && (w.one(6) || w.disk != nil) { // as after a kill, without a checkpoint on a clean close
		if err := w.store.Close(); err != nil && w.disk == nil {
			w.fail("store", "close: %v", err)
		}
		w.store = nil
	}
	switch {
	case w.store != nil:
	case w.disk != nil:
		if w.openOnDisk() == nil {
			return
		}
	case w.memory != nil:
		w.store = memoryLedger{w.memory}
	default:
		s, err := store.Open(w.path)
		if err != nil {
			w.fail("store", "open: %v", err)
		}
		w.store = s
	}
	if w.boots == 1 {
		w.pair()
	}
	d := &daemon{w: w, life: &life{s: w.s}}
	ctx, cancel := context.WithCancel(background)
	d.stop = cancel
	n := notify.New(notify.Options{ChatsWith: func(key string) []string {
		chats, err := w.store.ChatsWith(background, key)
		_ = w.storeError(d.life, "read the chats with a message", err)
		return chats
	}, Zone: func() *time.Location { return w.zone }})
	e, err := engine.Open(background, engine.Options{
		Ledger: gate{w, d.life}, Clock: w.wall, Scheduler: d.life, Compose: n.Compose, Load: w.load,
		Ports: d.ports,
		Adder: func(repo string, at ledger.SourceRef) (engine.Adder, error) {
			return source{w.siteIn(repo), d.life, at.Path}, nil
		},
		Sent: func(chats []string) {
			for _, o := range d.dispatchers {
				o.Wake(chats...)
			}
		},
	}, w.streams()[1:])
	switch {
	case err != nil && w.disk != nil && w.diskFails():
		w.tell("daemon", "cannot open its ledger: %v", err)
		d.life.dead = true
		w.all.sleep(10 * time.Second)
		w.boot()
		return
	case err != nil:
		w.fail("recovery", "the daemon cannot open its ledger: %v", err)
	}
	d.engine = e
	service := &scenario.DaemonService{Engine: e, Store: w.store, Names: projectNames[:len(w.sites)], Quiet: "23:00-07:00", Tasks: w.opt.tasks, Settings: func(name string) ledger.Settings { return w.siteOf(name).settings }}
	d.receiver = inbound.New(inbound.Options{Service: patient{service, w}, Outbox: w.store, Hash: func(code string) string { return code }, Zone: w.zone, Clock: w.wall})
	for _, p := range w.chats {
		o := delivery.Options{
			Outbox: outbox{w.store, w, d.life}, Sender: sender{p, d.life}, Prefix: p.prefix, Platform: p.prefix, Clock: w.wall, Scheduler: d.life,
		}
		if w.live() {
			o.Live = live{service, w}
		}
		d.dispatchers = append(d.dispatchers, delivery.New(o))
	}
	w.daemon = d
	w.tell("daemon", "starts, the %s time", ordinal(w.boots))
	w.audit.booted()
	d.life.Go(func() {
		if err := e.Run(ctx, func(string) bool { return true }); err != nil {
			w.fail("recovery", "the engine ends: %v", err)
		}
	})
	for n, p := range w.chats {
		d.life.Go(func() { _ = d.dispatchers[n].Run(ctx) })
		d.life.Go(func() { p.listen(ctx, d) })
	}
}

// pair puts the people of the night into the ledger.
func (w *world) pair() {
	b := ledger.Batch{Key: "pairing", Time: w.wall(), Answer: []byte("{}")}
	for _, p := range w.people {
		r, err := scenario.Person(p.id, p.name, p.role, w.wall()).Record()
		if err != nil {
			panic(err)
		}
		b.Records = append(b.Records, r)
	}
	r, err := w.store.Commit(background, b)
	if err != nil {
		w.fail("store", "commit: %v", err)
	}
	w.committed(r)
}

func ordinal(n int) string {
	switch {
	case n%10 == 1 && n != 11:
		return fmt.Sprintf("%dst", n)
	case n%10 == 2 && n != 12:
		return fmt.Sprintf("%dnd", n)
	case n%10 == 3 && n != 13:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// live reports whether chats show a live status in this night. Its edits, one a
// minute, would be most of what a night computes.
func (w *world) live() bool { return w.seed%8 == 0 }

func (d *daemon) dispatcher(p *platform) *delivery.Dispatcher {
	return d.dispatchers[slices.Index(d.w.chats, p)]
}

// ports are the project's adapters.
func (d *daemon) ports(_ context.Context, set ledger.Settings) (engine.Ports, error) {
	p := d.w.siteOf(set.Project)
	g, r := workspace{p, d.life}, runner{p, d.life}
	from := source{p, d.life, set.Source.Path}
	var to engine.Publisher
	if d.w.pushes != nil {
		to = remoteOf{p, d.life}
	}
	return engine.Ports{
		Publisher: to, Source: from, Adder: from, Repository: g, Files: g, Scoper: g, Zone: d.w.zone,
		Place: engine.Place{Folders: g, Rooms: g, Runner: r, Agents: r, Sockets: r},
	}, nil
}

// kill ends the daemon between two steps.
func (w *world) kill(why string) {
	if w.daemon == nil {
		return
	}
	w.tell("daemon", "dies: %s", why)
	w.daemon.life.dead = true
	if w.disk != nil {
		w.disk.Crash()
	}
	w.gone()
}

// gone is what follows the end of a daemon.
func (w *world) gone() {
	w.daemon, w.downSince = nil, w.s.now
	for _, p := range w.sites {
		p.plan.notified, p.plan.read = nil, nil
		for _, id := range p.machine.order {
			if s := p.machine.sessions[id]; !s.ended {
				s.poke()
			}
		}
	}
	off := w.around(20 * time.Second)
	switch {
	case w.calm:
	case w.one(6):
		off = w.between(31*time.Minute, 3*time.Hour)
		w.count(daemonLong)
	case w.one(3):
		off = w.around(5 * time.Minute)
	}
	w.spawn(func() {
		w.all.sleep(off)
		w.boot()
	})
}

// terminate ends the daemon as SIGTERM does: it has ten seconds.
func (w *world) terminate() {
	d := w.daemon
	w.tell("daemon", "is stopped")
	d.stop()
	w.all.sleep(10 * time.Second)
	if w.daemon == d {
		d.life.dead = true
		w.gone()
	}
}

// gate is the store as one daemon reaches it: full for a while, and out of reach
// once the daemon is dead. A store whose files fail can stand in its place.
type gate struct {
	*world
	life *life
}

var _ engine.Ledger = gate{}

// Commit is engine.Ledger's.
func (g gate) Commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error) {
	g.life.check()
	g.audit.tries()
	if g.full {
		return ledger.Receipt{}, fmt.Errorf("%w: %w", store.ErrDisk, syscall.ENOSPC)
	}
	if g.disk != nil && g.draws(powerCut) {
		g.disk.CutAfter(1 + g.rnd.IntN(40))
	}
	r, err := g.store.Commit(context.WithoutCancel(ctx), b)
	if err != nil {
		return r, g.storeError(g.life, "a commit", err)
	}
	g.committed(r)
	_ = g.storeError(g.life, "what follows a commit", nil)
	if !r.Repeated && g.hit(commitCut) {
		g.kill("right after a commit")
		g.life.check()
	}
	return r, nil
}

// Records is engine.Ledger's.
func (g gate) Records(ctx context.Context, stream string, after int64, yield func(ledger.Record) error) error {
	read := 0
	err := g.store.Records(context.WithoutCancel(ctx), stream, after, func(r ledger.Record) error {
		read++
		return yield(r)
	})
	if w := g.world; read > w.long.folded {
		if w.long.folded = read; read > maxFolded {
			w.fail("bounded start", "a start reads %d entries of %s", read, stream)
		}
	}
	return g.storeError(g.life, "a read", err)
}

// Pending is engine.Ledger's.
func (g gate) Pending(ctx context.Context) ([]ledger.PendingEffect, error) {
	all, err := g.store.Pending(context.WithoutCancel(ctx))
	return all, g.storeError(g.life, "a read", err)
}

// Head is engine.Ledger's.
func (g gate) Head(ctx context.Context, stream string) (int64, []byte, error) {
	seq, hash, err := g.store.Head(context.WithoutCancel(ctx), stream)
	return seq, hash, g.storeError(g.life, "a read", err)
}

// Snapshot is engine.Ledger's.
func (g gate) Snapshot(ctx context.Context, stream string, version int) (ledger.SnapshotRow, error) {
	row, err := g.store.Snapshot(context.WithoutCancel(ctx), stream, version)
	return row, g.storeError(g.life, "a read", err)
}

// SaveSnapshot is engine.Ledger's.
func (g gate) SaveSnapshot(ctx context.Context, row ledger.SnapshotRow) error {
	g.life.check()
	if g.full {
		return fmt.Errorf("%w: %w", store.ErrDisk, syscall.ENOSPC)
	}
	return g.storeError(g.life, "a snapshot", g.store.SaveSnapshot(context.WithoutCancel(ctx), row))
}

// outbox is the store's outbox as one daemon reaches it.
type outbox struct {
	nightLedger
	w    *world
	life *life
}

func (o outbox) write() error {
	o.life.check()
	if o.w.full {
		return fmt.Errorf("%w: %w", store.ErrDisk, syscall.ENOSPC)
	}
	return nil
}

// NextMessage is delivery.Outbox's, like the methods below. A context that can end
// would cost a goroutine for each query.
func (o outbox) NextMessage(_ context.Context, chat string) (ledger.QueuedMessage, bool, error) {
	o.life.check()
	return o.nightLedger.NextMessage(background, chat)
}

func (o outbox) Chats(context.Context) ([]string, error) {
	o.life.check()
	return o.nightLedger.Chats(background)
}

func (o outbox) Queued(_ context.Context, chat string) ([]ledger.QueuedMessage, error) {
	o.life.check()
	return o.nightLedger.Queued(background, chat)
}

func (o outbox) SentFor(_ context.Context, chat, key string) (ledger.SentMessage, bool, error) {
	o.life.check()
	return o.nightLedger.SentFor(background, chat, key)
}

func (o outbox) LastJoined(_ context.Context, chat, joins string) (ledger.SentMessage, bool, error) {
	o.life.check()
	return o.nightLedger.LastJoined(background, chat, joins)
}

func (o outbox) Together(_ context.Context, chat, platformID string) ([]ledger.SentMessage, error) {
	o.life.check()
	return o.nightLedger.Together(background, chat, platformID)
}

func (o outbox) BeginDelivery(ctx context.Context, id int64) error {
	if err := o.write(); err != nil {
		return err
	}
	return o.nightLedger.BeginDelivery(context.WithoutCancel(ctx), id)
}

func (o outbox) AbortDelivery(ctx context.Context, id int64) error {
	if err := o.write(); err != nil {
		return err
	}
	return o.nightLedger.AbortDelivery(context.WithoutCancel(ctx), id)
}

func (o outbox) Sent(ctx context.Context, id int64, platformID string, at time.Time) (string, error) {
	if err := o.write(); err != nil {
		return "", err
	}
	return o.nightLedger.Sent(context.WithoutCancel(ctx), id, platformID, at)
}

func (o outbox) Drop(ctx context.Context, id int64, why string) error {
	if err := o.write(); err != nil {
		return err
	}
	return o.nightLedger.Drop(context.WithoutCancel(ctx), id, why)
}

func (o outbox) Forget(ctx context.Context, chat string, classes ...ledger.MessageClass) (int, error) {
	if err := o.write(); err != nil {
		return 0, err
	}
	return o.nightLedger.Forget(context.WithoutCancel(ctx), chat, classes...)
}

// patient reads the ledger without the time limit of inbound.Options.Patience: that
// is a time of the machine's, which must not decide anything in a night.
type patient struct {
	*scenario.DaemonService
	w *world
}

// Records is bot.Service's, like the methods below.
func (s patient) Records(_ context.Context, project, task string) ([]ledger.Record, error) {
	return s.DaemonService.Records(background, project, task)
}

func (s patient) Runs(_ context.Context, project string) ([]string, error) {
	return s.DaemonService.Runs(background, project)
}

func (s patient) RunRecords(_ context.Context, project, run string, types ...string) ([]ledger.Record, error) {
	return s.DaemonService.RunRecords(background, project, run, types...)
}

// ReadSource is bot.SourceReader's.
func (s patient) ReadSource(_ context.Context, project string) (bot.SourceReading, error) {
	return s.w.siteOf(project).readSource()
}

// ReadInbox is bot.SourceReader's: no night reports bugs.
func (s patient) ReadInbox(context.Context, string) (bot.SourceReading, error) {
	return bot.SourceReading{}, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "there are no bug reports"}}}
}

// live is delivery.Live over the daemon's service.
type live struct {
	service *scenario.DaemonService
	w       *world
}

// Text is delivery.Live's.
func (l live) Text(_, key string) (bot.Message, bool) {
	m, ok := bot.Live(l.service, key, l.w.wall())
	if !ok {
		return bot.Message{}, false
	}
	s, _ := l.service.State(strings.TrimPrefix(key, "status/"))
	r := s.Project.Run
	return m, !r.Over() && r.State != ledger.RunPaused
}

// asJSON is how states are compared.
func asJSON(s loop.State) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
