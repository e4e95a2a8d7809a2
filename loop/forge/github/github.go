package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Options configure a Forge.
type Options struct {
	API   string // address of the interface, such as "https://api.github.com/"
	Owner string
	Name  string
	Token forge.Token
	Clock func() time.Time // nil = time.Now
}

// Forge is a repository on GitHub.
type Forge struct {
	line *transport.Client
	api  *gh.Client

	mu          sync.Mutex
	owner, name string // as they are called now
	login       string // "" = not asked yet
	writers     map[string]permission
	list        list
	tips        map[string]tip // by branch
	turn        int            // of Changed
}

// New returns a Forge. It does not use the network.
func New(o Options) (*Forge, error) {
	line, err := transport.New(transport.Options{
		Title: "GitHub", Base: o.API, Token: string(o.Token), Authorization: "Bearer " + string(o.Token), Clock: o.Clock,
	})
	if err != nil {
		return nil, &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: err.Error(), Remedy: "Name the address of the server's interface"}
	}
	base := line.Base.String()
	// Limits are the caller's to wait for, by the time in the error.
	api, err := gh.NewClient(gh.WithHTTPClient(line.HTTP), gh.WithURLs(&base, &base), gh.WithUserAgent("nightporter"), gh.WithDisableRateLimitCheck())
	if err != nil {
		return nil, &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: err.Error(), Remedy: "Name the address of the server's interface"}
	}
	return &Forge{line: line, api: api, owner: o.Owner, name: o.Name, writers: map[string]permission{}, tips: map[string]tip{}}, nil
}

// repository returns owner and name.
func (f *Forge) repository() (owner, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.owner, f.name
}

// try carries out calls. If the repository turns out to have another name, it
// learns that and tries once more: the first of the calls had no effect then.
func try[T any](f *Forge, ctx context.Context, do func(owner, name string) (T, error)) (T, error) {
	out, err := do(f.repository())
	var moved transport.MovedError
	if errors.As(err, &moved) {
		if _, err := f.rename(ctx); err != nil {
			var none T
			return none, f.failure(err)
		}
		out, err = do(f.repository())
	}
	return out, f.failure(err)
}

// rename reads the repository and takes its name over: GitHub redirects from those
// that it had.
func (f *Forge) rename(ctx context.Context) (*gh.Repository, error) {
	owner, name := f.repository()
	repo, _, err := f.api.Repositories.Get(ctx, owner, name)
	if err != nil {
		return nil, err
	}
	owner, name, ok := strings.Cut(repo.GetFullName(), "/")
	if !ok {
		return nil, f.line.Unreadable()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.owner, f.name = owner, name
	return repo, nil
}

// readable returns a pull request of a call, or an error for one that has not what
// all have. go-github returns nil for an empty answer.
func (f *Forge) readable(p *gh.PullRequest, _ *gh.Response, err error) (*gh.PullRequest, error) {
	if err != nil {
		return nil, err
	}
	if p.GetNumber() == 0 || p.GetHead().GetSHA() == "" || p.GetBase().GetRef() == "" {
		return nil, f.line.Unreadable()
	}
	p.Labels, p.RequestedReviewers, p.RequestedTeams = transport.Present(p.Labels), transport.Present(p.RequestedReviewers), transport.Present(p.RequestedTeams)
	return p, nil
}

// failure returns an error as a *ledger.ForgeError, nil for nil.
func (f *Forge) failure(err error) error {
	if err == nil {
		return nil
	}
	var done *ledger.ForgeError
	if errors.As(err, &done) {
		return done
	}
	if a, ok := answer(err); ok {
		return f.line.Failure(a)
	}
	return f.line.Lost(err)
}

// answer returns GitHub's answer, if an error is one.
func answer(err error) (transport.Answer, bool) {
	var (
		plain   *gh.ErrorResponse
		limit   *gh.RateLimitError
		second  *gh.AbuseRateLimitError
		two     *gh.TwoFactorAuthError
		resp    *http.Response
		message string
	)
	switch {
	case errors.As(err, &limit):
		resp, message = limit.Response, limit.Message
	case errors.As(err, &second):
		resp, message = second.Response, second.Message
	case errors.As(err, &two):
		resp, message = two.Response, two.Message
	case errors.As(err, &plain):
		resp, message = plain.Response, words(plain)
	}
	if resp == nil {
		return transport.Answer{}, false
	}
	return transport.Answer{Status: resp.StatusCode, Header: resp.Header, Message: message}, true
}

// words returns the message of an answer with those of its errors, which have the
// reason.
func words(e *gh.ErrorResponse) string {
	all := []string{e.Message}
	for _, one := range e.Errors {
		if one.Message != "" {
			all = append(all, one.Message)
		} else if one.Field != "" {
			all = append(all, one.Field+" "+one.Code)
		}
	}
	return strings.Join(all, ": ")
}

// status returns the status of the answer in an error, 0 = none.
func status(err error) int {
	a, _ := answer(err)
	return a.Status
}

// says reports whether an answer has a status and words, which are in lower case.
// GitHub has no codes for what a 422 is about.
func says(err error, code int, words string) bool {
	a, _ := answer(err)
	return a.Status == code && strings.Contains(strings.ToLower(a.Message), words)
}

// same reports whether an answer says that nothing changed.
func same(err error) bool { return status(err) == http.StatusNotModified }

// etag returns the ETag of an answer.
func etag(r *gh.Response) string {
	if r == nil || r.Response == nil {
		return ""
	}
	return r.Header.Get("ETag")
}

// date returns the time of an answer by the server's clock.
func (f *Forge) date(r *gh.Response) time.Time {
	if r != nil && r.Response != nil {
		if at, err := http.ParseTime(r.Header.Get("Date")); err == nil {
			return at
		}
	}
	return f.line.Now()
}
