package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Screenshot says how a picture of the project's result is taken (docs/spec 8.5):
// by headless Chromium of what Run serves at URL, or by a command of the project.
type Screenshot struct {
	Run     string          `toml:"run"`     // serves URL until it is ended
	URL     string          `toml:"url"`     // on this machine's loopback
	Command string          `toml:"command"` // writes a PNG to the file $NIGHTPORTER_SCREENSHOT
	Wait    ledger.Duration `toml:"wait"`    // for the page, or for the command; 0 = 1m
}

// maxWait bounds Screenshot.Wait: each task waits for two pictures.
const maxWait = ledger.Duration(10 * time.Minute)

// settings returns the part of a run's settings, nil for none.
func (s *Screenshot) settings() *ledger.Screenshot {
	if s == nil {
		return nil
	}
	shot := ledger.Screenshot(*s)
	return &shot
}

// screenshot checks how a picture is taken.
func (c *checker) screenshot(p *Project, at func(...string) []string) {
	s := p.Screenshot
	if s == nil || !c.isTable(at("screenshot")) {
		return
	}
	has := func(key string) bool { return c.doc.has(at("screenshot", key)...) }
	switch {
	case has("command") && (has("run") || has("url")):
		c.value("screenshot has a command, and what Chromium is to look at", at("screenshot")...).Remedy = "Take out command, or run and url"
	case has("command"):
		if isText(c.doc, at("screenshot", "command")) && strings.TrimSpace(s.Command) == "" {
			c.value("command is empty", at("screenshot", "command")...)
		}
	case !has("run") || !has("url"):
		c.value("screenshot needs run and url, or a command", at("screenshot")...).Remedy = `screenshot = {run = "npm start", url = "http://127.0.0.1:3000/"}`
	default:
		if isText(c.doc, at("screenshot", "run")) && strings.TrimSpace(s.Run) == "" {
			c.value("run is empty", at("screenshot", "run")...)
		}
		if isText(c.doc, at("screenshot", "url")) && !isLocalURL(s.URL) {
			c.value(fmt.Sprintf("url: %q is no address of a page on this machine", s.URL), at("screenshot", "url")...).Remedy = `Write what run serves, like "http://127.0.0.1:3000/"`
		}
	}
	if s.Wait > maxWait {
		c.value(fmt.Sprintf("wait is too long: each task waits for two pictures, at most %s each", maxWait), at("screenshot", "wait")...)
	}
}

// isLocalURL reports whether s is the address of a page that this machine serves.
func isLocalURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && a.IsLoopback()
}
