package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/nightporter/nightporter/loop/ledger"
)

// secret replaces the token in texts.
const secret = "(secret)"

// pause is how long a limit lasts that says no time.
const pause = time.Minute

// maxText limits what is quoted of a server's words.
const maxText = 300

// Answer is an answer that is no success.
type Answer struct {
	Status  int
	Header  http.Header
	Message string // in the server's words
}

// Failure returns the error of an answer: what every forge means by its status.
func (c *Client) Failure(a Answer) *ledger.ForgeError {
	said := c.quote(a.Message)
	e := &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: fmt.Sprintf("%s refuses it (%d)", c.o.Title, a.Status)}
	switch {
	case c.limited(a):
		e.Failure, e.RetryAt = ledger.ForgeLimited, c.retryAt(a.Header)
		e.Text = c.o.Title + " takes no more calls for now"
	case a.Status == http.StatusUnauthorized:
		e.Failure = ledger.ForgeLogin
		e.Text = c.o.Title + " does not know the token"
		e.Remedy = "Make a new token and put it in the file: it may be expired or revoked"
	case a.Status == http.StatusForbidden && contains(a.Message, "archived"):
		e.Failure = ledger.ForgeArchived
		e.Text = "the repository is archived: it is read-only"
		e.Remedy = "Unarchive it on " + c.o.Title
	case a.Status == http.StatusForbidden:
		e.Failure = ledger.ForgeRights
		e.Text = "the token may not do this on " + c.o.Title
		e.Remedy = "Give the token the right, or use another one"
	case a.Status == http.StatusNotFound || a.Status == http.StatusGone:
		e.Failure = ledger.ForgeMissing
		e.Text = c.o.Title + " has nothing there, or does not show it to this token"
		e.Remedy = "Compare git remote -v with the repository's page, and see what the token may read"
	case a.Status == http.StatusMethodNotAllowed:
		e.Failure = ledger.ForgeProtected
		e.Text = "a rule of the repository forbids it"
	case a.Status == http.StatusLocked:
		e.Failure = ledger.ForgeArchived
		e.Text = "the repository is read-only"
	case a.Status >= 500 || a.Status == http.StatusRequestTimeout:
		e.Failure = ledger.ForgeAway
		e.Text = fmt.Sprintf("%s has a fault (%d)", c.o.Title, a.Status)
		e.RetryAt = c.after(a.Header)
	}
	if said != "" {
		e.Text += ": " + said
	}
	return e
}

// limited reports whether an answer is one of a rate limit. GitHub gives 403 as
// well as 429.
func (c *Client) limited(a Answer) bool {
	if a.Status == http.StatusTooManyRequests {
		return true
	}
	return a.Status == http.StatusForbidden &&
		(a.Header.Get("Retry-After") != "" || a.Header.Get("X-RateLimit-Remaining") == "0" || contains(a.Message, "rate limit"))
}

// retryAt returns the end of a limit.
func (c *Client) retryAt(h http.Header) time.Time {
	if at := c.after(h); !at.IsZero() {
		return at
	}
	if at := c.Reset(h); h.Get("X-RateLimit-Remaining") == "0" && !at.IsZero() {
		return at
	}
	return c.Now().Add(pause)
}

// after returns the time of the header Retry-After: seconds, or a date. Zero =
// none.
func (c *Client) after(h http.Header) time.Time {
	text := h.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return c.Now().Add(time.Duration(min(n, 24*3600)) * time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return c.local(at, h)
	}
	return time.Time{}
}

// Reset returns when the server's rate limit begins anew, by this machine's clock.
// Zero = it does not say.
func (c *Client) Reset(h http.Header) time.Time {
	n, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return c.local(time.Unix(n, 0), h)
}

// local returns a time of the server by this machine's clock, which may differ.
func (c *Client) local(at time.Time, h http.Header) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return c.Now().Add(min(at.Sub(date), 24*time.Hour))
	}
	return at
}

// Lost returns the error of a call without an answer. A call that was not finished
// may have had its effect.
func (c *Client) Lost(err error) *ledger.ForgeError {
	var moved MovedError
	if errors.As(err, &moved) {
		return &ledger.ForgeError{Failure: ledger.ForgeMissing, Text: moved.Error(), Remedy: "git remote set-url NAME ADDRESS"}
	}
	if errors.Is(err, errElsewhere) {
		return &ledger.ForgeError{
			Failure: ledger.ForgeRefused, Text: fmt.Sprintf("the answer of %s is not followed: %v", c.Base.Host, errElsewhere),
			Remedy: "Name the address that the server has now",
		}
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	text := c.quote(err.Error())
	var timed interface{ Timeout() bool }
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timed) && timed.Timeout() {
		text = fmt.Sprintf("no answer within %s", timeout)
	}
	return &ledger.ForgeError{Failure: ledger.ForgeAway, Text: fmt.Sprintf("%s cannot be reached at %s: %s", c.o.Title, c.Base.Host, text)}
}

// Unreadable returns the error of an answer that is a success and has not what was
// asked for, such as one of a proxy. A call that was not finished may have had its
// effect.
func (c *Client) Unreadable() *ledger.ForgeError {
	return &ledger.ForgeError{Failure: ledger.ForgeAway, Text: fmt.Sprintf("the answer of %s at %s cannot be read", c.o.Title, c.Base.Host)}
}

// Present returns a list without the elements that are null.
func Present[T any](list []*T) []*T {
	return slices.DeleteFunc(list, func(one *T) bool { return one == nil })
}

// quote returns a server's words in one line, without the token.
func (c *Client) quote(text string) string {
	if c.o.Token != "" {
		text = strings.ReplaceAll(text, c.o.Token, secret)
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if r := []rune(text); len(r) > maxText {
		return string(r[:maxText]) + "…"
	}
	return text
}

// contains reports whether a server's words have others, which are in lower case.
func contains(message, words string) bool { return strings.Contains(strings.ToLower(message), words) }
