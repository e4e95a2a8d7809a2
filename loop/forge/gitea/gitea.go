package gitea

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Options configure a Forge.
type Options struct {
	API   string // address of the server, such as "https://codeberg.org"
	Owner string
	Name  string
	Token forge.Token
	Clock func() time.Time // nil = time.Now
}

// Forge is a repository on a Gitea.
type Forge struct {
	line *transport.Client

	mu          sync.Mutex
	owner, name string // as they are called now
	login       string // "" = not asked yet
	writers     writers
	turn        int // of Changed
}

// New returns a Forge. It does not use the network.
func New(o Options) (*Forge, error) {
	line, err := transport.New(transport.Options{
		Title: "Gitea", Base: o.API, Token: string(o.Token), Authorization: "token " + string(o.Token), Clock: o.Clock,
	})
	if err != nil {
		return nil, &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: err.Error(), Remedy: "Name the address of the server"}
	}
	return &Forge{line: line, owner: o.Owner, name: o.Name}, nil
}

// call is one call of the adapter: the repository as it is called now, and a client
// with the call's context, which the SDK keeps in its client.
type call struct {
	*sdk.Client
	ctx         context.Context
	f           *Forge
	owner, name string
}

// refusal is an answer that is no success. The SDK returns it beside its error.
type refusal struct {
	transport.Answer
	err error
}

// Error returns the SDK's words.
func (r *refusal) Error() string { return r.err.Error() }

// try carries out calls. If the repository turns out to have another name, it
// learns that and tries once more: the first of the calls had no effect then.
func try[T any](f *Forge, ctx context.Context, do func(c *call) (T, error)) (T, error) {
	var none T
	c, err := f.call(ctx)
	if err != nil {
		return none, f.failure(err)
	}
	out, err := do(c)
	var moved transport.MovedError
	if errors.As(err, &moved) {
		if _, err = c.repository(); err == nil {
			out, err = do(c)
		}
	}
	return out, f.failure(err)
}

// call returns a call.
func (f *Forge) call(ctx context.Context) (*call, error) {
	f.mu.Lock()
	owner, name := f.owner, f.name
	f.mu.Unlock()
	// The empty version keeps the SDK from asking for the server's before each
	// call, and from refusing Forgejo, which counts differently.
	client, err := sdk.NewClient(f.line.Base.String(), sdk.SetHTTPClient(f.line.HTTP), sdk.SetContext(ctx), sdk.SetGiteaVersion(""), sdk.SetUserAgent("nightporter"))
	return &call{client, ctx, f, owner, name}, err
}

// checked returns the error of a call of the SDK, with the answer that it had.
func checked(resp *sdk.Response, err error) error {
	if err == nil || resp == nil || resp.Response == nil {
		return err
	}
	if resp.StatusCode/100 == 2 {
		// A success that cannot be read comes from something else on the way, such
		// as the page of a proxy.
		return &refusal{transport.Answer{Status: http.StatusBadGateway, Header: resp.Header, Message: "its answer cannot be read"}, err}
	}
	return &refusal{transport.Answer{Status: resp.StatusCode, Header: resp.Header, Message: err.Error()}, err}
}

// failure returns an error as a *ledger.ForgeError, nil for nil.
func (f *Forge) failure(err error) error {
	if err == nil {
		return nil
	}
	var done *ledger.ForgeError
	var answer *refusal
	switch {
	case errors.As(err, &done):
		return done
	case errors.As(err, &answer):
		return f.line.Failure(answer.Answer)
	}
	return f.line.Lost(err)
}

// status returns the status of the answer in an error, 0 = none.
func status(err error) int {
	var answer *refusal
	if errors.As(err, &answer) {
		return answer.Status
	}
	return 0
}

// send makes a call that the SDK does not have, or of which it drops the server's
// words.
func (c *call) send(method string, body any, path ...string) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	at := c.f.line.Base.JoinPath(append([]string{"api/v1/repos", url.PathEscape(c.owner), url.PathEscape(c.name)}, path...)...)
	req, err := http.NewRequestWithContext(c.ctx, method, at.String(), bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.f.line.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	var said struct{ Message string }
	if resp.StatusCode/100 == 2 {
		return nil
	}
	_ = json.NewDecoder(resp.Body).Decode(&said) // the status says enough where there are no words
	return &refusal{transport.Answer{Status: resp.StatusCode, Header: resp.Header, Message: said.Message}, errors.New(said.Message)}
}

// date returns the time of an answer by the server's clock.
func (c *call) date(r *sdk.Response) time.Time {
	if r != nil && r.Response != nil {
		if at, err := http.ParseTime(r.Header.Get("Date")); err == nil {
			return at
		}
	}
	return c.f.line.Now()
}
