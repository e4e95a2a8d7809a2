package intake

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// Probe reports whether what answers at an address refuses a call without the token as a
// Server does. answer is the status of the answer, for people. An error means that
// nothing answers.
func Probe(ctx context.Context, address string) (takes bool, answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+Path, nil)
	if err != nil {
		return false, "", err
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	got, err := client.Do(r)
	if err != nil {
		return false, "", err
	}
	_ = got.Body.Close() // the status says all
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusTooManyRequests}, got.StatusCode), got.Status, nil
}
