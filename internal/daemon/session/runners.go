package session

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// Runners delegates to the runner of the configuration in force. A reload
// replaces that runner for new sessions; every runner finds the sessions in
// progress by their folders. Call Use before any other method.
type Runners struct {
	make func(cfg *config.Config) (*agent.Runner, error)
	now  atomic.Pointer[agent.Runner]

	redacted redacted
}

// NewRunners returns runners that are created by makes, one for each
// configuration.
func NewRunners(makes func(cfg *config.Config) (*agent.Runner, error)) *Runners {
	return &Runners{make: makes}
}

// Use creates the runner for a configuration. On an error the previous one
// stays.
func (r *Runners) Use(cfg *config.Config) error {
	made, err := r.make(cfg)
	if err == nil {
		r.now.Store(made)
	}
	return err
}

// Known reports whether the session was started before, by this daemon or an
// earlier one.
func (r *Runners) Known(session string) bool { return r.now.Load().Known(session) }

// Start starts a session with the runner in force.
func (r *Runners) Start(ctx context.Context, l ledger.Launch) error {
	return r.now.Load().Start(ctx, l)
}

// Wait waits for the end of a session and returns how it ended. What looks like
// a secret in the output is removed: the ledger keeps its last lines.
func (r *Runners) Wait(ctx context.Context, session string) (ledger.Exit, error) {
	x, err := r.now.Load().Wait(ctx, session)
	x.Text, x.Tail, x.Said = secret.Redact(x.Text), secret.RedactPart(x.Tail), secret.RedactPart(x.Said)
	if x.Event != nil {
		x.Event.Data = secret.RedactJSON(x.Event.Data)
	}
	return x, err
}

// End ends a session after the grace period.
func (r *Runners) End(ctx context.Context, session string, grace ledger.Duration) error {
	return r.now.Load().End(ctx, session, grace)
}

// Touch records a sign of life of the session.
func (r *Runners) Touch(session string) { r.now.Load().Touch(session) }

// Screenshot returns what a session left for a picture.
func (r *Runners) Screenshot(session string) ([]byte, error) { return r.now.Load().Screenshot(session) }

// HostRequests calls asked for each unanswered host that the session asks for, until
// ctx ends.
func (r *Runners) HostRequests(ctx context.Context, session string, asked func(ledger.HostRequest)) error {
	return r.now.Load().HostRequests(ctx, session, asked)
}

// AnswerHost settles a host for the rest of the session.
func (r *Runners) AnswerHost(session string, a ledger.HostAnswer) error {
	return r.now.Load().AnswerHost(session, a)
}

// DropScreenshot removes what a session left for a picture.
func (r *Runners) DropScreenshot(session string) error { return r.now.Load().DropScreenshot(session) }

// ClosedNetwork reports whether sessions can have a network of their own, and if
// not, why.
func (r *Runners) ClosedNetwork() (bool, string) { return r.now.Load().ClosedNetwork() }

// Check reports whether the named agent can be started.
func (r *Runners) Check(ctx context.Context, name string) error { return r.now.Load().Check(ctx, name) }

// WantedHosts returns the hosts that an agent's program asks for.
func (r *Runners) WantedHosts(ctx context.Context, name string) ([]ledger.HostUse, error) {
	return r.now.Load().WantedHosts(ctx, name)
}

// ReadsRepository returns the paths of a repository that is not trusted from which an
// agent's program reads settings all the same.
func (r *Runners) ReadsRepository(project, name string) []string {
	return r.now.Load().ReadsRepository(project, name)
}

// OneSession reports whether an agent's login allows one session at a time.
func (r *Runners) OneSession(name string) (bool, error) { return r.now.Load().OneSession(name) }

// CheckCommands reports what keeps a project's commands from getting what the
// configuration names for them.
func (r *Runners) CheckCommands(project string) error { return r.now.Load().CheckCommands(project) }

// Level returns the highest working level of the boundary around sessions, and
// why each higher one fails.
func (r *Runners) Level() (int, []string) { return r.now.Load().Level() }

// SocketPath returns the path at which a session's hat connects to the daemon.
func (r *Runners) SocketPath(session string) string { return r.now.Load().SocketPath(session) }

// OutputTail returns the last lines, at most most, that a running session printed,
// without what looks like a secret.
func (r *Runners) OutputTail(session string, most int) (agent.OutputTail, error) {
	tail, err := r.now.Load().OutputTail(session, most)
	tail.Lines = redactTail(tail.Lines)
	return tail, err
}

// redactTail returns the last lines of an output without what looks like a secret. A
// private key is several lines, and the output may have more of it.
func redactTail(lines []string) []string {
	if len(lines) == 0 {
		return lines
	}
	return strings.Split(secret.RedactPart(strings.Join(lines, "\n")), "\n")
}

// LastAction returns the last tool call of a running session in a few words:
// "npm test", "edits cart/total.go". It returns "" if its output shows none. The
// words are foreign text without what looks like a secret.
func (r *Runners) LastAction(session string) (string, error) {
	a, err := r.now.Load().LastAction(session)
	return withoutSecrets(a).String(), err
}

// withoutSecrets removes the words of an action from the first one on that is part
// of a secret. The rules need the text around a secret, so they are applied to the
// text that the words were taken from.
func withoutSecrets(a adapter.Action) adapter.Action {
	rest := secret.Redact(a.From)
	for n, word := range a.Words {
		if !strings.Contains(rest, word) || secret.Redact(word) != word {
			a.Words = a.Words[:n]
			break
		}
	}
	return a
}

// Tidy removes the folders of sessions and runs that ended before a time,
// except those of runs that keep reports. It returns their number.
func (r *Runners) Tidy(ctx context.Context, before time.Time, keep func(run string) bool) (int, error) {
	return r.now.Load().Tidy(ctx, before, keep)
}

// TidyLast calls agent.Runner.TidyLast.
func (r *Runners) TidyLast(prefix string, n int) error { return r.now.Load().TidyLast(prefix, n) }

// HidesAgents reports whether no session can connect to the agents that hold the
// keys of the daemon's user.
func (r *Runners) HidesAgents() bool { return r.now.Load().HidesAgents() }

// User returns the user and group that sessions run as; -1 means the daemon's.
func (r *Runners) User() (uid, gid int) { return r.now.Load().User() }

// Mounts reports whether sessions can have folders mounted, and if not, why.
func (r *Runners) Mounts() (ok bool, why string) { return r.now.Load().Mounts() }
