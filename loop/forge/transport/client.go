package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Limits of a call.
const (
	timeout      = 30 * time.Second
	maxBody      = 16 << 20 // bytes; a page of a hundred requests with full bodies has 13 MB
	maxRedirects = 3
)

// Options configure a Client.
type Options struct {
	Title         string // name of the forge for people
	Base          string // address of its interface
	Token         string
	Authorization string           // header, with the token
	Clock         func() time.Time // nil = time.Now
}

// Client calls one server with one token.
type Client struct {
	HTTP *http.Client
	Base *url.URL

	o Options
}

// New returns a client. It fails for a base that is no web address.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.Base)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.User != nil {
		return nil, fmt.Errorf("the address of %s's interface cannot be used; expected one like https://api.github.com/", o.Title)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	c := &Client{Base: base, o: o}
	line := http.DefaultTransport.(*http.Transport).Clone()
	line.ResponseHeaderTimeout = timeout
	c.HTTP = &http.Client{Timeout: timeout, Transport: &guard{c, line}, CheckRedirect: c.redirect}
	return c, nil
}

// Title returns the name of the forge for people.
func (c *Client) Title() string { return c.o.Title }

// Now returns the time.
func (c *Client) Now() time.Time { return c.o.Clock() }

// MovedError says that a call was answered by the address of a repository that has
// another name now. The call had no effect.
type MovedError struct{}

// Error says so.
func (MovedError) Error() string { return "the repository has another name now" }

// errElsewhere is the reason why an answer is not followed.
var errElsewhere = errors.New("it sends to another server, which would get the token")

// redirect follows a redirect on the same server, which renamed repositories have.
// It follows no call that would become another one on the way, as a POST becomes a
// GET.
func (c *Client) redirect(r *http.Request, via []*http.Request) error {
	switch {
	case r.URL.Host != c.Base.Host || r.URL.Scheme != c.Base.Scheme:
		return errElsewhere
	case r.Method != via[0].Method:
		return MovedError{}
	case len(via) > maxRedirects:
		return errors.New("it redirects in a circle")
	}
	return nil
}

// guard adds the token to calls of its server and refuses all others.
type guard struct {
	c    *Client
	line http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != g.c.Base.Host || r.URL.Scheme != g.c.Base.Scheme {
		return nil, errElsewhere
	}
	r = r.Clone(r.Context())
	if g.c.o.Authorization != "" {
		r.Header.Set("Authorization", g.c.o.Authorization)
	}
	if tag, ok := r.Context().Value(etagKey{}).(string); ok && tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	resp, err := g.line.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &bounded{resp.Body, maxBody}
	return resp, nil
}

// bounded is a body that fails beyond its limit.
type bounded struct {
	io.ReadCloser
	left int64
}

// errTooLong is the error of a body that is longer than any answer.
var errTooLong = fmt.Errorf("the answer is longer than %d MB", maxBody>>20)

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// etagKey is the key of a context's ETag.
type etagKey struct{}

// IfNoneMatch makes the calls of a context conditional: the server answers 304 if
// their result still has the ETag. "" makes none.
func IfNoneMatch(ctx context.Context, etag string) context.Context {
	return context.WithValue(ctx, etagKey{}, etag)
}
