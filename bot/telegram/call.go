package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"
)

// maxAnswer is what is read of one answer. A hundred updates with all that
// people can put into them stay below it.
const maxAnswer = 32 << 20

// refusal is an error that somebody answered.
type refusal struct {
	method  string
	code    int // of the platform, or of HTTP
	text    string
	after   time.Duration // 0 = none
	to      int64         // new id of the chat, 0 = none
	foreign bool          // not the platform's form: a proxy, a login page
}

func (r *refusal) Error() string { return fmt.Sprintf("telegram %s: %d %s", r.method, r.code, r.text) }

// silence is a call without an answer.
type silence struct {
	method string
	sent   bool // there was a connection, so the call may have had its effect
	text   string
	err    error
}

func (s *silence) Error() string { return "telegram " + s.method + ": " + s.text }

// Unwrap leads to the cause, such as context.Canceled.
func (s *silence) Unwrap() error { return s.err }

// doer is an HTTP client for one call of the library, which knows no contexts.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

// call makes one call and reads its result into result, nil for none. Errors
// are *refusal and *silence, without the token.
func (b *Bot) call(ctx context.Context, method string, p tgbotapi.Params, result any) error {
	return b.exchange(ctx, b.o.Timeout, method, result, func(api *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		return api.MakeRequest(method, p)
	})
}

// upload is call with a file.
func (b *Bot) upload(ctx context.Context, method string, p tgbotapi.Params, field, name string, data []byte, result any) error {
	return b.exchange(ctx, 4*b.o.Timeout, method, result, func(api *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		return api.UploadFiles(method, p, []tgbotapi.RequestFile{{Name: field, Data: tgbotapi.FileBytes{Name: name, Bytes: data}}})
	})
}

func (b *Bot) exchange(ctx context.Context, limit time.Duration, method string, result any, do func(*tgbotapi.BotAPI) (*tgbotapi.APIResponse, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var connected atomic.Bool
	status, foreign := 0, false
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	api := &tgbotapi.BotAPI{Token: string(b.o.Token), Client: doer(func(r *http.Request) (*http.Response, error) {
		resp, err := b.client.Do(r.WithContext(traced))
		if err != nil {
			return nil, b.withoutToken(err)
		}
		status = resp.StatusCode
		foreign, err = readable(resp)
		return resp, err
	})}
	api.SetAPIEndpoint(b.endpoint)
	resp, err := do(api)
	var refused *tgbotapi.Error
	switch {
	case err == nil && result == nil:
		return nil
	case err == nil:
		if err := json.Unmarshal(resp.Result, result); err != nil {
			return &refusal{method: method, code: status, text: "unexpected result: " + b.clean(err.Error()), foreign: true}
		}
		return nil
	case errors.As(err, &refused):
		r := &refusal{
			method: method, code: refused.Code, text: b.clean(refused.Message), foreign: foreign,
			after: time.Duration(refused.RetryAfter) * time.Second, to: refused.MigrateToChatID,
		}
		if r.code == 0 { // the library drops it of uploads
			r.code = status
		}
		if r.text == "" {
			r.text = http.StatusText(r.code)
		}
		return r
	}
	text := b.clean(err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		text = fmt.Sprintf("no answer within %s", limit)
	}
	return &silence{method: method, sent: connected.Load(), text: text, err: err}
}

// readable makes an answer that is not the platform's form one that the
// library can read, so that its status is not lost.
func readable(resp *http.Response) (foreign bool, err error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_ = resp.Body.Close() // only read
	if err != nil {
		return false, err
	}
	var form struct {
		OK *bool `json:"ok"`
	}
	if json.Unmarshal(body, &form) != nil || form.OK == nil {
		foreign = true
		body, err = json.Marshal(tgbotapi.APIResponse{
			ErrorCode: resp.StatusCode, Description: "not an answer of Telegram (" + http.StatusText(resp.StatusCode) + ")",
		})
		if err != nil {
			return true, err
		}
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return foreign, nil
}

// withoutToken takes the address, and the token with it, out of an error of
// package net/http, which holds it in full.
func (b *Bot) withoutToken(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// clean is the last line against a token in a text.
func (b *Bot) clean(text string) string {
	text = strings.ReplaceAll(text, string(b.o.Token), hidden)
	_, secret, _ := strings.Cut(string(b.o.Token), ":")
	return strings.ReplaceAll(text, secret, hidden)
}
