package github

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/forge"
)

// Limits of fetching a job's log. It lies with another server, at an address that
// is good for a minute and needs no token.
const (
	logTimeout = 30 * time.Second
	maxLogRead = 64 << 20 // bytes; of a longer one the end is not reached
)

// log returns the end of the log of a failed check: of its job where it is one of
// GitHub's actions, else the text that the check gave. A log that cannot be had,
// as one that has expired, is left out: the check has failed all the same.
func (f *Forge) log(ctx context.Context, owner, name string, c check) (string, error) {
	if c.job == 0 {
		return forge.Tail(c.Log, forge.MaxLog), nil
	}
	at, _, err := f.api.Actions.GetWorkflowJobLogs(ctx, owner, name, c.job, 0)
	if err != nil {
		if a, ok := answer(err); ok && f.line.Failure(a).Passes() {
			return "", err
		}
		return forge.Tail(c.Log, forge.MaxLog), nil
	}
	if text := f.fetchLog(ctx, at); text != "" {
		return text, nil
	}
	return forge.Tail(c.Log, forge.MaxLog), nil
}

// fetchLog returns the end of what is at an address, "" if that cannot be had. It
// sends no token.
func (f *Forge) fetchLog(ctx context.Context, at *url.URL) string {
	if at == nil || at.Scheme != f.line.Base.Scheme {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return ""
	}
	// Storage that knows ranges sends the end alone; other storage sends all.
	req.Header.Set("Range", "bytes=-65536")
	resp, err := logClient.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent {
		return ""
	}
	var end tail
	if _, err := io.Copy(&end, io.LimitReader(resp.Body, maxLogRead)); err != nil {
		return ""
	}
	return forge.Tail(stripTimes(string(end)), forge.MaxLog)
}

// logClient fetches logs. It follows no redirect: storage has none.
var logClient = &http.Client{Timeout: logTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// tail keeps the end of what is written to it.
type tail []byte

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	const keep = 4 * forge.MaxLog
	*t = append(*t, p...)
	if len(*t) > 2*keep {
		*t = append((*t)[:0], (*t)[len(*t)-keep:]...)
	}
	return len(p), nil
}

// stripTimes removes the time that begins each line of a job's log.
func stripTimes(text string) string {
	const form = "2006-01-02T15:04:05.0000000Z"
	var out strings.Builder
	for line := range strings.Lines(text) {
		if len(line) > len(form) {
			if _, err := time.Parse(form, line[:len(form)]); err == nil {
				line = line[len(form)+1:]
			}
		}
		out.WriteString(line)
	}
	return out.String()
}
