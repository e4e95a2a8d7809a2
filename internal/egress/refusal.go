package egress

import (
	"errors"
	"fmt"
	"net/http"
)

// Code says why something was refused. The text beside it is for people.
type Code string

const (
	CodeUnknown     Code = "unknown"     // no entry of the policy, and nobody to ask
	CodeDenied      Code = "denied"      // the answer to the question was no
	CodeWaiting     Code = "waiting"     // the question is still open
	CodeName        Code = "name"        // not a host name
	CodeLocal       Code = "local"       // a name of local networks that the policy does not have
	CodeLiteral     Code = "literal"     // an address that the policy does not name
	CodeLeak        Code = "leak"        // the name looks like data
	CodeCanary      Code = "canary"      // the request carries a canary
	CodeReadOnly    Code = "read_only"   // more than reading, of a host that is only read
	CodeTLS         Code = "tls"         // not TLS, or of another host
	CodeRequest     Code = "request"     // HTTP or SOCKS that is malformed or ambiguous
	CodeToken       Code = "token"       // the proxy's token is missing
	CodeAddress     Code = "address"     // the name resolves to an address that is not public
	CodeUnreachable Code = "unreachable" // the host does not resolve or does not answer
	CodeBusy        Code = "busy"        // more connections or questions than permitted
)

// Settings that a refusal names, so that whoever reads it knows what to change.
const (
	settingHosts    = "hosts of [[project]]"
	settingReadOnly = "read_only_hosts of [[project]]"
	settingServices = "services of [[project]]"
)

// refusal is the error of a connection that was not let out.
type refusal struct {
	code   Code
	reason string
}

func (r *refusal) Error() string { return r.reason }

func refusef(code Code, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// asRefusal returns err as a refusal; any other error is of the network.
func asRefusal(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	return &refusal{CodeUnreachable, err.Error()}
}

// status is the HTTP status by which a refusal is told.
func (r *refusal) status() int {
	switch r.code {
	case CodeRequest, CodeName:
		return http.StatusBadRequest
	case CodeToken:
		return http.StatusProxyAuthRequired
	case CodeUnreachable:
		return http.StatusBadGateway
	case CodeBusy, CodeWaiting:
		return http.StatusServiceUnavailable
	}
	return http.StatusForbidden
}

// text is what the client is told: one line of printable ASCII, which may also
// stand in a status line.
func (r *refusal) text() string { return "nightporter: " + printable(r.reason, 500) }

func printable(s string, limit int) string {
	out := make([]byte, 0, min(len(s), limit))
	for _, c := range []byte(s) {
		if len(out) == limit {
			break
		}
		if c < ' ' || c > '~' {
			c = '?'
		}
		out = append(out, c)
	}
	return string(out)
}
