package telegram

import (
	"fmt"
	"net/http"
)

// Fault is how one call goes wrong. The functions below make the usual ones.
type Fault struct {
	Code       int    // of HTTP, and of the error
	Text       string // description
	RetryAfter int    // seconds
	MigrateTo  int64
	Body       string // answered as it is instead of an error of the platform
	Hang       bool   // no answer until the caller goes away
	Cut        bool   // the connection is closed without an answer
	After      bool   // the call has its effect first
	Times      int    // how often; 0 is once, -1 until ClearFaults
}

// TooMany is 429: wait some seconds.
func TooMany(seconds int) Fault {
	return Fault{Code: 429, Text: fmt.Sprintf("Too Many Requests: retry after %d", seconds), RetryAfter: seconds}
}

// Conflict is 409: another bot polls with this token.
func Conflict() Fault {
	return Fault{Code: 409, Text: conflict}
}

// Unauthorized is 401: the token was revoked.
func Unauthorized() Fault { return Fault{Code: 401, Text: "Unauthorized"} }

// Forbidden is 403 with what follows "Forbidden: ".
func Forbidden(text string) Fault { return Fault{Code: 403, Text: "Forbidden: " + text} }

// BadRequest is 400 with what follows "Bad Request: ".
func BadRequest(text string) Fault { return Fault{Code: 400, Text: "Bad Request: " + text} }

// BadGateway is a 502 that is no JSON, as something in between sends it.
func BadGateway() Fault {
	return Fault{Code: 502, Body: "<html><head><title>502 Bad Gateway</title></head></html>"}
}

// Hang answers nothing until the caller goes away.
func Hang() Fault { return Fault{Hang: true} }

// CutBefore closes the connection before the call has an effect.
func CutBefore() Fault { return Fault{Cut: true} }

// CutAfter closes the connection after the call had its effect: nobody knows.
func CutAfter() Fault { return Fault{Cut: true, After: true} }

// Migrated says that a group became a supergroup with another id.
func Migrated(to int64) Fault {
	return Fault{Code: 400, Text: "Bad Request: group chat was upgraded to a supergroup chat", MigrateTo: to}
}

// Fault scripts the next calls of a method, "*" of any method.
func (s *Server) Fault(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// ClearFaults forgets what was scripted.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = map[string][]Fault{}
}

// fault takes the next scripted one, nil where there is none.
func (s *Server) fault(method string) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{method, "*"} {
		list := s.faults[name]
		if len(list) == 0 {
			continue
		}
		f := list[0]
		switch {
		case f.Times > 1:
			list[0].Times--
		case f.Times >= 0:
			s.faults[name] = list[1:]
		}
		return &f
	}
	return nil
}

// fail carries a fault out.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, method string, c call, f Fault) {
	switch {
	case f.Hang:
		s.record(method, c, 0)
		<-r.Context().Done()
	case f.Cut:
		s.record(method, c, 0)
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close() // that is the fault
		}
	case f.Body != "":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Code)
		_, _ = w.Write([]byte(f.Body)) // a caller that is gone does not read it
		s.record(method, c, f.Code)
	default:
		a := answer{code: f.Code, text: f.Text, params: map[string]any{}}
		if f.RetryAfter > 0 {
			a.params["retry_after"] = f.RetryAfter
		}
		if f.MigrateTo != 0 {
			a.params["migrate_to_chat_id"] = f.MigrateTo
		}
		if len(a.params) == 0 {
			a.params = nil
		}
		s.record(method, c, write(w, a))
	}
}
