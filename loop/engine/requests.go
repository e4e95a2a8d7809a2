package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// changer is a Forge that tells for many requests at once which of them changed since
// their last look (package forge).
type changer interface {
	Changed(ctx context.Context, looks map[int]string) ([]int, error)
}

// Paces of looks. A forge limits how often it is asked, and other programs of the
// token's account ask too.
const (
	singlePace  = 15 * time.Second // between two looks, where requests are looked at one by one
	changedPace = time.Minute      // between two questions about all requests at once
	toldAway    = 5 * time.Minute  // how long a forge is away before that is recorded
)

// startLooks begins to look at a project's open requests, and ends that when there
// are none. A push or a new request is looked at soon.
func (e *Engine) startLooks(ctx context.Context, project string, news bool) {
	watched := len(loop.WatchedRequests(e.projects[project])) > 0
	cancel, looks := e.looks[project]
	switch {
	case looks && !watched:
		cancel()
		delete(e.looks, project)
	case !looks && watched:
		ports, ok := e.portsOf(project)
		if !ok || ports.Publisher == nil {
			return
		}
		lctx, cancel := context.WithCancel(ctx)
		e.looks[project] = cancel
		e.spawn(func() { e.followRequests(lctx, project, ports.Publisher) })
	case looks && news:
		e.pushed.send(project)
	}
}

// isPush reports whether an entry changes what a look at a request shows.
func isPush(e ledger.Entry) bool {
	switch e.Body.(type) {
	case ledger.BranchPushed, ledger.RequestOpened, ledger.MergeEnded:
		return true
	}
	return false
}

// followRequests looks at a project's open requests until ctx ends.
func (e *Engine) followRequests(ctx context.Context, project string, p Publisher) {
	w := requestWatch{engine: e, project: project, publisher: p, looks: map[int]*look{}}
	for {
		news := e.pushed.next(project)
		if e.o.Scheduler.Wait(ctx, w.round(ctx), news) != nil {
			return
		}
	}
}

// requestWatch is what one project's looks have in common. The times are those of the
// scheduler, which no change of the clock moves.
type requestWatch struct {
	engine    *Engine
	project   string
	publisher Publisher

	looks map[int]*look // by number of the request
	known time.Time     // no request that was looked at before is looked at again before that
	away  time.Time     // the forge has not answered since; zero = it does
	rest  time.Time     // nothing is asked before that
}

// look is the last look at a request.
type look struct {
	branch request.Branch
	head   string // pushed at that time
	tag    string
	since  time.Time // something changed
	merges int       // that had ended
	next   time.Time
}

// unseen reports whether nobody has looked at the request since the last push or since
// a merge ended.
func (l *look) unseen() bool {
	return l.branch.Seen == nil || l.merges != l.branch.MergesEnded()
}

// round looks at the requests that are due, and returns how long to wait for the next
// ones.
func (w *requestWatch) round(ctx context.Context) time.Duration {
	now := w.engine.o.Scheduler.Now()
	w.open(now)
	if now.Before(w.rest) {
		return w.rest.Sub(now)
	}
	if due := w.due(now); len(due) > 0 {
		if err := w.lookAt(ctx, due); err != nil && ctx.Err() == nil {
			w.failed(ctx, due[0], err)
		}
	}
	return w.untilNext()
}

// open takes the requests that are open now, with what the ledger knows of them.
func (w *requestWatch) open(now time.Time) {
	s, _ := w.engine.State(w.project)
	open := map[int]*look{}
	for _, b := range loop.WatchedRequests(s.Project) {
		l, known := w.looks[b.Request.Number]
		switch {
		case !known:
			l = &look{since: now, next: now, merges: b.MergesEnded()}
			if b.Seen != nil {
				l.tag = b.Seen.Tag
			}
		case b.Seen == nil && l.head != b.Pushed:
			l = &look{since: now, next: now}
		}
		l.branch, l.head = b, b.Pushed
		if l.merges != b.MergesEnded() { // what was found right before a merge is news
			l.next = now
		}
		open[b.Request.Number] = l
	}
	w.looks = open
}

// due returns the requests to look at, the most overdue first.
func (w *requestWatch) due(now time.Time) []*look {
	var due []*look
	for _, l := range w.looks {
		if !now.Before(l.next) && (l.unseen() || !now.Before(w.known)) {
			due = append(due, l)
		}
	}
	slices.SortFunc(due, func(a, b *look) int {
		if n := a.next.Compare(b.next); n != 0 {
			return n
		}
		return a.branch.Request.Number - b.branch.Request.Number
	})
	return due
}

// lookAt looks at due requests: at those that nobody has seen at once, at the others
// as the forge permits it. These are asked about together, also those with pending
// checks: a look at each takes a forge four calls and more.
func (w *requestWatch) lookAt(ctx context.Context, due []*look) error {
	_, forge, err := w.publisher.Open(ctx)
	if err != nil {
		return err
	}
	if forge == nil {
		return &ledger.ForgeError{Failure: ledger.ForgeMissing, Text: "the remote has no requests any more", Remedy: "Set forge as it was"}
	}
	var known []*look
	for _, l := range due {
		if !l.unseen() {
			known = append(known, l)
			continue
		}
		if err := w.look(ctx, forge, l); err != nil {
			return err
		}
	}
	if len(known) == 0 {
		return nil
	}
	all, ok := forge.(changer)
	if !ok || len(w.looks) == 1 {
		w.known = w.engine.o.Scheduler.Now().Add(singlePace)
		return w.look(ctx, forge, known[0])
	}
	w.known = w.engine.o.Scheduler.Now().Add(changedPace)
	tags := map[int]string{}
	for _, l := range known {
		tags[l.branch.Request.Number] = w.tagOf(l)
	}
	changed, err := all.Changed(ctx, tags)
	if err != nil {
		return err
	}
	w.answered()
	for _, l := range known {
		if !slices.Contains(changed, l.branch.Request.Number) {
			w.plan(l, ledger.RequestView{Unchanged: true})
			w.unchanged(ctx, l)
			continue
		}
		if err := w.look(ctx, forge, l); err != nil {
			return err
		}
	}
	return nil
}

// look looks at one request and delivers what is news.
func (w *requestWatch) look(ctx context.Context, forge Forge, l *look) error {
	v, err := forge.Look(ctx, l.branch.Request.Number, w.tagOf(l))
	if missing, is := errors.AsType[*ledger.ForgeError](err); is && missing.Failure == ledger.ForgeMissing {
		w.deliver(ctx, l, l.branch.FailedLook(*missing), nil)
		w.plan(l, ledger.RequestView{Unchanged: true})
		return nil
	}
	if err != nil {
		return err
	}
	w.answered()
	if v.Tag != "" {
		l.tag = v.Tag
	}
	w.plan(l, v)
	if v.Unchanged {
		w.unchanged(ctx, l)
	} else {
		w.deliver(ctx, l, l.branch.StandingOf(v), &v)
	}
	return nil
}

// unchanged goes on after a look that showed nothing new. That no checks have begun by
// then is news, too.
func (w *requestWatch) unchanged(ctx context.Context, l *look) {
	if seen := l.branch.Seen; seen != nil && !seen.ChecksDue.IsZero() {
		w.deliver(ctx, l, seen.RequestStanding, nil)
	}
}

// tagOf returns the tag that a look is conditional on; "" = it has to show all,
// because that is to be recorded.
func (w *requestWatch) tagOf(l *look) string {
	s, _ := w.engine.State(w.project)
	b := l.branch
	if b.Seen == nil || b.Seen.Failure != "" || b.Count.Waiting > 0 && s.Project.CommentRoom(b.Run) > 0 {
		return ""
	}
	return l.tag
}

// plan sets the time of the next look after one that showed v.
func (w *requestWatch) plan(l *look, v ledger.RequestView) {
	now := w.engine.o.Scheduler.Now()
	l.merges = l.branch.MergesEnded()
	if !v.Unchanged {
		l.since = now
	}
	l.next = now.Add(request.LookPause(now.Sub(l.since)))
	if seen := l.branch.Seen; seen != nil {
		if wait := seen.ChecksDue.Sub(w.engine.o.Clock()); wait > 0 && wait < l.next.Sub(now) {
			l.next = now.Add(wait)
		}
	}
	if wait := v.Next.Sub(w.engine.o.Clock()); !v.Next.IsZero() && wait > l.next.Sub(now) {
		l.next = now.Add(min(wait, longestLimit))
	}
}

// answered notes that the forge answers.
func (w *requestWatch) answered() { w.away, w.rest = time.Time{}, time.Time{} }

// failed plans the next try after a failure that the requests have in common. What
// only a person can mend is recorded at once, and a forge that is away after a while.
func (w *requestWatch) failed(ctx context.Context, l *look, err error) {
	now := w.engine.o.Scheduler.Now()
	if w.away.IsZero() {
		w.away = now
		w.engine.o.Log.Warn("requests cannot be looked at, and are tried again", "project", w.project, "error", err)
	}
	of, ok := errors.AsType[*ledger.ForgeError](err)
	if !ok {
		of = &ledger.ForgeError{Failure: ledger.ForgeAway, Text: err.Error()}
		if in, wrong := errors.AsType[*ledger.InputError](err); wrong {
			of = &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: in.Diagnostics[0].Text, Remedy: in.Diagnostics[0].Remedy}
		}
	}
	if !of.Passes() || now.Sub(w.away) >= toldAway {
		w.deliver(ctx, l, l.branch.FailedLook(*of), nil)
	}
	w.rest = now.Add(request.LookPause(now.Sub(w.away)))
	if wait := of.RetryAt.Sub(w.engine.o.Clock()); !of.RetryAt.IsZero() && wait > w.rest.Sub(now) {
		w.rest = now.Add(min(wait, longestLimit))
	}
}

// deliver sends what a look showed to the core, if it is news. A look that failed has
// no view.
func (w *requestWatch) deliver(ctx context.Context, l *look, now ledger.RequestStanding, v *ledger.RequestView) {
	e := w.engine
	s, _ := e.State(w.project)
	of := s.Project.Requests.Branch(l.branch.Run)
	now = of.AwaitChecks(now, e.o.Clock())
	body := loop.RequestLooked{Run: l.branch.Run, Now: now, Tag: l.tag}
	if v != nil {
		if news := of.NewsOf(*v); len(news.New) > 0 || news.Count != of.Count {
			body.Comments = &news
		}
	}
	if body.Comments == nil && !of.IsNews(now) {
		return
	}
	in := loop.Input{Project: w.project, Actor: "daemon", Body: body}
	e.untilSaved(ctx, w.project, func() error {
		_, err := e.Do(ctx, in)
		return err
	})
}

// untilNext returns how long to wait for the next request that is due.
func (w *requestWatch) untilNext() time.Duration {
	now, wait := w.engine.o.Scheduler.Now(), sched.Forever
	for _, l := range w.looks {
		at := l.next
		if !l.unseen() && at.Before(w.known) {
			at = w.known
		}
		wait = min(wait, max(at.Sub(now), 0))
	}
	if w.rest.After(now) {
		wait = max(wait, w.rest.Sub(now))
	}
	return wait
}

// reply carries out an EffectReply. A forge that refuses it says the same the next
// time: nobody waits for the reply, and it is not tried again. A request that is not
// open any more is left alone.
func reply(ctx context.Context, ports Ports, of request.Branch, b ledger.EffectReply) (loop.InputBody, error) {
	done := loop.ReplyFinished{Run: b.Run, Key: b.Reply.Key}
	if !of.IsOpen() {
		return done, nil
	}
	_, forge, err := ports.publisher(ctx)
	switch {
	case err != nil:
	case forge == nil:
		err = &ledger.ForgeError{Failure: ledger.ForgeMissing, Text: "the remote has no requests any more", Remedy: "Set forge as it was"}
	default:
		if ports.Redact != nil {
			b.Reply.Body = ports.Redact(b.Reply.Body)
		}
		_, err = forge.Reply(ctx, b.Reply)
	}
	refused, is := errors.AsType[*ledger.ForgeError](err)
	if err != nil && (!is || refused.Passes()) {
		return nil, err
	}
	done.Failure = refused
	return done, nil
}
