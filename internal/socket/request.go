package socket

import (
	"bytes"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/api"
)

// version is the value of the version header.
var version = strconv.Itoa(api.Version)

// internalText is the only text about an internal error that a caller receives.
const internalText = "nightporter failed at this request; its log says why. What you sent is not to blame: try the same again later"

// tooOftenText is the answer to a session that exceeds sessionCalls. hat repeats
// the call for a while, so an agent reads it only if the session keeps on.
const tooOftenText = "this session calls too often; nothing was done with this call. Stop what calls hat in a loop, or wait a second between two calls"

// remedied is an internal error for which the caller receives other words than
// internalText: what is wrong and what a person does about it.
type remedied interface {
	error
	Remedy() string
}

// route handles the body of a request to one path.
type route func(r *http.Request, body []byte) (api.Reply, error)

// typed returns a route whose body is a T.
func typed[T any](do func(r *http.Request, v T) (api.Reply, error)) route {
	return func(r *http.Request, body []byte) (api.Reply, error) {
		v, err := decode[T](body)
		if err != nil {
			return api.Reply{}, err
		}
		return do(r, v)
	}
}

// badRequest is the error for a body that cannot be parsed. Its text names the
// correction.
type badRequest struct{ text string }

func (e badRequest) Error() string { return e.text }

// router returns the http.Handler of one socket. unauthorized is the text for a
// caller with a wrong token; m limits the others.
func router(token, unauthorized string, log *slog.Logger, m *meter, routes map[string]route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text := checkVersion(r.Header.Get(api.VersionHeader)); text != "" {
			writeReply(w, http.StatusUpgradeRequired, refuse(text))
			return
		}
		got := r.Header.Get(api.TokenHeader)
		// An empty token was never generated, so it refuses every caller.
		if token == "" || subtle.ConstantTimeCompare([]byte(got), []byte(token)) != 1 {
			writeReply(w, http.StatusUnauthorized, refuse(unauthorized))
			return
		}
		prove(r.Context())
		do, ok := routes[r.URL.Path]
		if !ok {
			writeReply(w, http.StatusNotFound, refuse(fmt.Sprintf("there is no %q here", r.URL.Path)))
			return
		}
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			writeReply(w, http.StatusMethodNotAllowed, refuse("use POST, also to read"))
			return
		}
		body, status, err := readBody(w, r)
		if err != nil {
			writeReply(w, status, refuse(err.Error()))
			return
		}
		if !m.allow(len(body)) {
			writeReply(w, http.StatusTooManyRequests, refuse(tooOftenText))
			return
		}
		reply, err := do(r, body)
		var bad badRequest
		switch {
		case err == nil:
			writeReply(w, http.StatusOK, reply)
		case errors.As(err, &bad):
			writeReply(w, http.StatusBadRequest, refuse(bad.text))
		case errors.Is(err, api.ErrLater):
			writeReply(w, http.StatusServiceUnavailable, refuse(err.Error()))
		default:
			log.Error("socket: request", "path", r.URL.Path, "err", err)
			text := internalText
			if known, ok := errors.AsType[remedied](err); ok {
				text = known.Remedy()
			}
			writeReply(w, http.StatusInternalServerError, refuse(text))
		}
	})
}

// checkVersion returns which of the two programs to update, "" for neither.
func checkVersion(got string) string {
	n, err := strconv.Atoi(got)
	switch {
	case err != nil || n < 1:
		return fmt.Sprintf("this is nightporter, with version %s of its API; send it as %s: %s, or use hat or nightporter to call", version, api.VersionHeader, version)
	case n > api.Version:
		return fmt.Sprintf("the running nightporter speaks version %s of its API, you speak %d: restart nightporter with the newer release", version, n)
	case n < api.Version:
		return fmt.Sprintf("the running nightporter speaks version %s of its API, you speak %d: update the program that you call it with", version, n)
	}
	return ""
}

// readBody reads the whole body. At its end net/http lifts the read deadline,
// which limits slow callers and not slow handlers.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, int, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, api.MaxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is over %d kB: put long text into a file and name the file", api.MaxBody>>10)
	}
	if err != nil {
		return nil, http.StatusBadRequest, errors.New("the request did not arrive whole: send it again")
	}
	return body, 0, nil
}

// decode decodes exactly one JSON object with no field besides those of T.
func decode[T any](body []byte) (T, error) {
	var v T
	if !utf8.Valid(body) {
		return v, badRequest{"the request is not UTF-8"}
	}
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' {
		return v, badRequest{"the request has to be one JSON object: {…}"}
	}
	if isDeep(body) {
		return v, badRequest{fmt.Sprintf("the request is nested more than %d levels deep: send it flatter, as a list or a text", api.MaxDepth)}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, badRequest{"the request cannot be read: " + describeJSONError(err)}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, badRequest{"something follows the JSON object: send exactly one"}
	}
	return v, nil
}

// isDeep reports whether JSON is nested more than api.MaxDepth levels deep. It
// looks before anything is decoded: encoding/json itself ends at 10,000 levels,
// and what it takes with a few less makes a snapshot of the state, where it lies
// deeper, that cannot be read again.
func isDeep(body []byte) bool {
	depth, quoted := 0, false
	for n := 0; n < len(body); n++ {
		switch c := body[n]; {
		case quoted && c == '\\':
			n++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > api.MaxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// describeJSONError returns an error of encoding/json in words for people.
func describeJSONError(err error) string {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("%s, at byte %d", syntax.Error(), syntax.Offset)
	case errors.As(err, &wrong):
		return fmt.Sprintf("field %q cannot be a %s", wrong.Field, wrong.Value)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends in the middle"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// refuse returns the reply to a request that is refused.
func refuse(text string) api.Reply { return api.Reply{Text: text} }

// writeReply writes a reply and flushes it, so that closing the server directly
// afterwards cannot lose it.
func writeReply(w http.ResponseWriter, status int, reply api.Reply) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(reply); err != nil { // a Data that is not JSON
		b.Reset()
		b.WriteString(`{"ok":false,"text":"` + internalText + `"}`)
		status = http.StatusInternalServerError
	}
	h := w.Header()
	h.Set(api.VersionHeader, version)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	// A caller without a response retries.
	_, _ = w.Write(b.Bytes())
	_ = http.NewResponseController(w).Flush()
}

func stack() string { return string(debug.Stack()) }
