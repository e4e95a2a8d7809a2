package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/nightporter/nightporter/bot/transport"
)

// apiError is an HTTP response that reports a failure.
type apiError struct {
	method     string
	code       int // error code of Telegram, or the HTTP status
	text       string
	retryAfter time.Duration // 0 = none
	migratedTo int64         // new id of the chat, 0 = none
	foreign    bool          // the response is not in Telegram's form: a proxy or a login page sent it
}

func (r *apiError) Error() string { return fmt.Sprintf("telegram %s: %d %s", r.method, r.code, r.text) }

// doer adapts a function to the library's HTTP client, whose calls take no
// context.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

// call calls a method and decodes the result into result; nil discards it. Errors
// are *apiError or *transport.NoResponseError, and never contain the token.
func (b *Bot) call(ctx context.Context, method string, p tgbotapi.Params, result any) error {
	return b.exchange(ctx, b.o.Timeout, method, result, func(api *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		return api.MakeRequest(method, p)
	})
}

// upload is call with a file in the named field.
func (b *Bot) upload(ctx context.Context, method string, p tgbotapi.Params, field, name string, data []byte, result any) error {
	return b.exchange(ctx, 4*b.o.Timeout, method, result, func(api *tgbotapi.BotAPI) (*tgbotapi.APIResponse, error) {
		return api.UploadFiles(method, p, []tgbotapi.RequestFile{{Name: field, Data: tgbotapi.FileBytes{Name: name, Bytes: data}}})
	})
}

// exchange lets the library make one call within timeout, over conn instead of
// the library's own HTTP client, and converts its errors.
func (b *Bot) exchange(ctx context.Context, timeout time.Duration, method string, result any, do func(*tgbotapi.BotAPI) (*tgbotapi.APIResponse, error)) error {
	status, foreign := 0, false
	api := &tgbotapi.BotAPI{Token: string(b.o.Token), Client: doer(func(r *http.Request) (*http.Response, error) {
		a, err := b.conn.Exchange(r.WithContext(ctx), method, timeout)
		if err != nil {
			return nil, err
		}
		var body []byte
		status = a.Status
		body, foreign, err = asPlatformForm(a.Status, a.Body)
		return &http.Response{StatusCode: a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader(body))}, err
	})}
	api.SetAPIEndpoint(b.endpoint)
	resp, err := do(api)
	var refused *tgbotapi.Error
	switch {
	case err == nil && result == nil:
		return nil
	case err == nil:
		if err := json.Unmarshal(resp.Result, result); err != nil {
			return &apiError{method: method, code: status, text: "unexpected result: " + b.redact(err.Error()), foreign: true}
		}
		return nil
	case errors.As(err, &refused):
		r := &apiError{
			method: method, code: refused.Code, text: b.redact(refused.Message), foreign: foreign,
			retryAfter: time.Duration(refused.RetryAfter) * time.Second, migratedTo: refused.MigrateToChatID,
		}
		if r.code == 0 { // the library loses the code of a failed upload
			r.code = status
		}
		if r.text == "" {
			r.text = http.StatusText(r.code)
		}
		return r
	}
	return err
}

// asPlatformForm rewrites a response of a proxy into a form that the library
// can decode, so that its HTTP status is kept. foreign reports that it did so.
func asPlatformForm(status int, body []byte) (form []byte, foreign bool, err error) {
	var is struct {
		OK *bool `json:"ok"`
	}
	if json.Unmarshal(body, &is) == nil && is.OK != nil {
		return body, false, nil
	}
	form, err = json.Marshal(tgbotapi.APIResponse{
		ErrorCode: status, Description: "not an answer of Telegram (" + http.StatusText(status) + ")",
	})
	return form, true, err
}

// redact removes the token from a text.
func (b *Bot) redact(text string) string {
	text = strings.ReplaceAll(text, string(b.o.Token), transport.Redacted)
	_, secret, _ := strings.Cut(string(b.o.Token), ":")
	return strings.ReplaceAll(text, secret, transport.Redacted)
}
