package models

import (
	"fmt"
	"strconv"
	"time"
)

// Fault is a failure of one response.
type Fault struct {
	// Times is how often the same turn of the same session fails before it gets
	// its answer. 0 = always.
	Times int

	Status  int    // HTTP status of an error, 0 = none
	Type    string // error type in the body
	Message string
	Header  map[string]string
	Extra   map[string]any // more fields of the error, in the Responses API

	Hang      bool // send nothing until the caller gives up
	Cut       bool // close the connection
	AfterHalf bool // with Hang or Cut: send half of the answer first
}

// Once returns the fault with Times set to 1.
func (f Fault) Once() Fault {
	f.Times = 1
	return f
}

// RateLimited is a 429 with a retry-after header, unless after is zero.
func RateLimited(after time.Duration) Fault {
	f := Fault{Status: 429, Type: "rate_limit_error", Message: "This request would exceed your account's rate limit. Please try again later."}
	if after > 0 {
		f.Header = map[string]string{"retry-after": strconv.Itoa(int(after.Seconds()))}
	}
	return f
}

// LimitReached is the 429 of a subscription whose limit is used up until reset.
// window is five_hour or seven_day. Agents heed these headers only if they use an
// OAuth token.
func LimitReached(window string, reset time.Time) Fault {
	f := RateLimited(time.Until(reset))
	f.Header = Unified("rejected", window, 1, reset)
	f.Header["retry-after"] = strconv.Itoa(max(1, int(time.Until(reset).Seconds())))
	return f
}

// Unified returns the headers about the use of a subscription's limit. status
// is allowed, allowed_warning or rejected; use is the used share, from 0 to 1.
func Unified(status, window string, use float64, reset time.Time) map[string]string {
	const p = "anthropic-ratelimit-unified-"
	short := map[string]string{"five_hour": "5h", "seven_day": "7d"}[window]
	at := strconv.FormatInt(reset.Unix(), 10)
	return map[string]string{
		p + "status": status, p + "reset": at, p + "representative-claim": window,
		p + short + "-status": status, p + short + "-reset": at, p + short + "-utilization": strconv.FormatFloat(use, 'f', 2, 64),
		p + "overage-status": "rejected", p + "overage-disabled-reason": "org_level_disabled", p + "fallback": "unavailable",
	}
}

// Overloaded is a 529.
func Overloaded() Fault { return Fault{Status: 529, Type: "overloaded_error", Message: "Overloaded"} }

// ServerError is a 500.
func ServerError() Fault {
	return Fault{Status: 500, Type: "api_error", Message: "Internal server error"}
}

// Unauthorized is a 401.
func Unauthorized() Fault {
	return Fault{Status: 401, Type: "authentication_error", Message: "invalid x-api-key"}
}

// CreditTooLow is the 400 of an account without credit.
func CreditTooLow() Fault {
	return Fault{Status: 400, Type: "invalid_request_error", Message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}
}

// PromptTooLong is the 400 for a conversation that exceeds the context window.
func PromptTooLong() Fault {
	return Fault{Status: 400, Type: "invalid_request_error", Message: fmt.Sprintf("prompt is too long: %d tokens > %d maximum", 214000, 200000)}
}

// UnknownModel is the 404 for a model that the account may not use.
func UnknownModel(name string) Fault {
	return Fault{Status: 404, Type: "not_found_error", Message: "model: " + name}
}

// Hang never responds.
func Hang() Fault { return Fault{Hang: true} }

// HangAfterHalf stops responding in the middle of the answer.
func HangAfterHalf() Fault { return Fault{Hang: true, AfterHalf: true} }

// Reset closes the connection before the answer.
func Reset() Fault { return Fault{Cut: true} }

// Cut closes the connection in the middle of the answer.
func Cut() Fault { return Fault{Cut: true, AfterHalf: true} }
