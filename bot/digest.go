package bot

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Digester is a Service that can look back. Without one, the reply to /digest names the command that does it.
type Digester interface {
	// Digest returns a project's digest of a span, with its picture where there
	// is something to be drawn.
	Digest(ctx context.Context, project string, q DigestQuery) (Message, error)
}

// Keys of digests.
const (
	KeyDigest     = "digest"
	KeyDigestAll  = "digest.all"
	KeyDigestIdle = "digest.idle" // nothing happened: it makes no sound
	KeyDigestWeek = "digest.week" // of a week in which nothing needs anybody: no sound, either
)

// DigestQuery is what somebody wants to read of.
type DigestQuery struct {
	Span  string // one of the Span words, or "7d"; "" = SpanLast
	Admin bool   // reads what admins read, too
	Now   time.Time
}

// Spans that a digest can be asked for.
const (
	SpanLast  = "last"  // what the last one was about, up to now
	SpanToday = "today" // since midnight
	SpanAll   = "all"   // as SpanLast, with all that a caption leaves out
)

var spanForm = regexp.MustCompile(`^(?:last|today|all|[1-9][0-9]?d)$`)

// IsSpan reports whether a word is a span that a digest can be asked for.
func IsSpan(word string) bool { return spanForm.MatchString(strings.ToLower(word)) }

// From is where the span begins, given what the last digest was about: it
// begins a day ago where there was none.
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

// digest is the digest once more.
func (d dispatch) digest(ctx context.Context) (Message, error) {
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

// NoDigest is said where nobody can look back.
func NoDigest() Message {
	m := newMessage("digest.elsewhere", SignLater+" No digest here")
	m.add("It is made where nightporter stays, or by: nightporter digest")
	return m
}

// DigestBroken is told where a project's digest cannot be made.
func DigestBroken(project string) Message {
	m := newMessage(KeyDigest+".broken", fit(SignFailed, project, "no digest today: a fault", ""))
	m.Project = project
	m.add("All else goes on. Look at the daemon's log; /status says where it stands.")
	m.button("Status", "/status")
	return m
}

// DigestFault is told to admins where a digest comes without its picture, or,
// with no project, not at all, because of a fault in nightporter (docs/spec 23.11).
func DigestFault(project string) Message {
	m := refusal(KeyDigest+".fault", SignFailed+" No digest: a fault in nightporter")
	m.add("It is tried again every minute.")
	if project != "" {
		m = refusal(KeyDigest+".fault", fit(SignFailed, project, "digest, no picture: a fault", ""))
		m.Project = project
		m.add("Its text says all that the picture would.")
	}
	m.add("Why stands in the host's log. All else goes on.")
	return m
}
