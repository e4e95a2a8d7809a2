package telegram

import (
	"fmt"
	"net/http"
)

// Fault is a failure of one call. The functions below make common ones.
type Fault struct {
	Code       int    // HTTP status and error code
	Text       string // description
	RetryAfter int    // seconds
	MigrateTo  int64
	Body       string // body that replaces the error
	Hang       bool   // no response until the caller gives up
	Cut        bool   // the connection is closed without a response
	After      bool   // the fault comes after the call has had its effect
	Times      int    // how often; 0 is once, -1 until ClearFaults
}

// TooMany is a 429 that asks for a pause.
func TooMany(seconds int) Fault {
	return Fault{Code: 429, Text: fmt.Sprintf("Too Many Requests: retry after %d", seconds), RetryAfter: seconds}
}

// Conflict is the 409 for polling while another bot polls with the token.
func Conflict() Fault {
	return Fault{Code: 409, Text: conflict}
}

// Unauthorized is the 401 of a revoked token.
func Unauthorized() Fault { return Fault{Code: 401, Text: "Unauthorized"} }

// Forbidden is a 403; text follows "Forbidden: ".
func Forbidden(text string) Fault { return Fault{Code: 403, Text: "Forbidden: " + text} }

// BadRequest is a 400; text follows "Bad Request: ".
func BadRequest(text string) Fault { return Fault{Code: 400, Text: "Bad Request: " + text} }

// BadGateway is a 502 with HTML, as a proxy sends it.
func BadGateway() Fault {
	return Fault{Code: 502, Body: "<html><head><title>502 Bad Gateway</title></head></html>"}
}

// Hang sends no response until the caller gives up.
func Hang() Fault { return Fault{Hang: true} }

// CutBefore closes the connection before the call has an effect.
func CutBefore() Fault { return Fault{Cut: true} }

// CutAfter closes the connection after the call has had its effect.
func CutAfter() Fault { return Fault{Cut: true, After: true} }

// Migrated is the error for a group that became a supergroup with another id.
func Migrated(to int64) Fault {
	return Fault{Code: 400, Text: "Bad Request: group chat was upgraded to a supergroup chat", MigrateTo: to}
}

// Fault makes the next calls of a method fail, in order; "*" means any method.
func (s *Server) Fault(method string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], faults...)
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = map[string][]Fault{}
}

// nextFault returns the next fault of a method, nil if there is none.
func (s *Server) nextFault(method string) *Fault {
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

// fail responds with a fault.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, method string, c call, f Fault) {
	switch {
	case f.Hang:
		s.record(method, c, 0)
		<-r.Context().Done()
	case f.Cut:
		s.record(method, c, 0)
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close() // closing is the fault
		}
	case f.Body != "":
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(f.Code)
		_, _ = w.Write([]byte(f.Body)) // the caller may be gone
		s.record(method, c, f.Code)
	default:
		a := methodResult{code: f.Code, text: f.Text, params: map[string]any{}}
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
