package bot

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Digester is a Service that can make digests. With any other Service the reply
// to /digest is NoDigest.
type Digester interface {
	// Digest returns a project's digest of a span, with a picture if there is
	// something to draw.
	Digest(ctx context.Context, project string, q DigestQuery) (Message, error)
}

// Keys of the messages that are digests.
const (
	KeyDigest     = "digest"
	KeyDigestAll  = "digest.all"
	KeyDigestIdle = "digest.idle" // nothing happened: it makes no sound
	KeyDigestWeek = "digest.week" // a week in which nothing needs a person: it makes no sound
)

// DigestQuery says which digest a person asks for.
type DigestQuery struct {
	Span  string    // a Span constant, or a number of days such as "7d"; "" = SpanLast
	Admin bool      // with the parts that only admins may read
	Now   time.Time // its location is the person's
}

// Spans of a digest.
const (
	SpanLast  = "last"  // from the beginning of the last digest's span, up to now
	SpanToday = "today" // since midnight
	SpanAll   = "all"   // as SpanLast, with everything that a picture's caption omits
)

var spanForm = regexp.MustCompile(`^(?:last|today|all|[1-9][0-9]?d)$`)

// IsSpan reports whether a word names the span of a digest, in any case: a Span
// constant, or "1d" to "99d".
func IsSpan(word string) bool { return spanForm.MatchString(strings.ToLower(word)) }

// From returns the beginning of the span. last is the last digest that was sent;
// without one, SpanLast and SpanAll begin a day ago.
func (q DigestQuery) From(last ledger.DigestSent) time.Time {
	if days, ok := strings.CutSuffix(q.Span, "d"); ok {
		n, err := strconv.Atoi(days)
		if err == nil && n > 0 {
			return q.Now.AddDate(0, 0, -n)
		}
	}
	switch {
	case q.Span == SpanToday:
		y, m, d := q.Now.Date()
		return time.Date(y, m, d, 0, 0, 0, 0, q.Now.Location())
	case last.From.IsZero() || !last.From.Before(q.Now):
		return q.Now.AddDate(0, 0, -1)
	}
	return last.From
}

// digestOfAll handles /digest if the line names no project and there are several: it
// makes a digest of each that has had a run, as the morning does. It returns done =
// false for the digest of one project.
func digestOfAll(ctx context.Context, h sharedRequest) (all Message, done bool, err error) {
	if _, can := h.service.(Digester); !can || h.c.Project != "" || h.r.Project != "" || len(projectNames(h.service)) < 2 {
		return Message{}, false, nil
	}
	for _, name := range WithRuns(h.service) {
		s, _ := stateOf(h.service, name)
		m, err := makeDigest(ctx, dispatch{service: h.service, r: h.r, c: h.c, s: s, project: name})
		if err != nil {
			return Message{}, true, err
		}
		if m.Project = name; !done {
			all, done = m, true
			continue
		}
		all.Also = append(all.Also, m)
	}
	if !done {
		all = newMessage("digest.none", SignLater+" No digest: no run so far")
		all.add("Nothing runs. Start one: /run PROJECT")
	}
	return all, true, nil
}

// WithRuns returns the names of the projects that have had a run.
func WithRuns(service Service) []string {
	return slices.DeleteFunc(slices.Clone(projectNames(service)), func(name string) bool {
		s, _ := stateOf(service, name)
		return s.Project.Run == nil
	})
}

// makeDigest returns the digest that a person asked for. A sender who is not
// paired, such as the operator at the host, gets the admins' digest.
func makeDigest(ctx context.Context, d dispatch) (Message, error) {
	service, ok := d.service.(Digester)
	if !ok {
		return NoDigest(), nil
	}
	q := DigestQuery{Span: strings.ToLower(d.c.Target), Now: d.r.Time, Admin: true}
	if host, ok := d.service.(DaemonService); ok {
		if p, known := host.Shared().Person(d.r.Actor); known {
			q.Admin = p.Role.May(ledger.RoleAdmin)
		}
	}
	return service.Digest(ctx, d.project, q)
}

// NoDigest is the reply to /digest where digests cannot be made, such as in a
// foreground run. It names the command that makes one.
func NoDigest() Message {
	m := newMessage("digest.elsewhere", SignLater+" No digest here")
	m.add("It is made where nightporter stays, or by: nightporter digest")
	return m
}

// DigestBroken renders the message that replaces a digest that could not be
// made.
func DigestBroken(project string) Message {
	m := newMessage(KeyDigest+".broken", firstLine(SignFailed, project, "no digest today: a fault", ""))
	m.Project = project
	m.add("All else goes on. Look at the daemon's log; /status says where it stands.")
	m.button("Status", "/status")
	return m
}

// DigestFault tells admins that a fault in nightporter left a project's digest
// without its picture or, with project "", prevented all digests
// (docs/spec 23.11).
func DigestFault(project string) Message {
	m := refusal(KeyDigest+".fault", SignFailed+" No digest: a fault in nightporter")
	m.add("It is tried again every minute.")
	if project != "" {
		m = refusal(KeyDigest+".fault", firstLine(SignFailed, project, "digest, no picture: a fault", ""))
		m.Project = project
		m.add("Its text says all that the picture would.")
	}
	m.add("Why stands in the host's log. All else goes on.")
	return m
}
