package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Hook is a section [[hook]]: an address to which events are posted as JSON, or a
// program that gets them (docs/spec 6.9).
type Hook struct {
	On      []string `toml:"on" oneof:"run.started run.waiting run.ended task.done task.blocked question.asked alive"`
	Post    string   `toml:"post"`    // http or https; often a secret. "" with Run
	Run     []string `toml:"run"`     // a program and its arguments, which gets the event as JSON; nil with Post
	Project string   `toml:"project"` // of this project alone; "" = of all
}

// Takes reports whether the hook is told of a project's events.
func (h Hook) Takes(project string) bool { return h.Project == "" || h.Project == project }

// Key identifies the hook over changes of the configuration: another address,
// command or project makes another hook, other events do not.
func (h Hook) Key() string {
	to := h.Post
	if to == "" {
		to = strings.Join(append([]string{"run"}, h.Run...), "\x00")
	}
	sum := sha256.Sum256([]byte(to + "\x00" + h.Project))
	return hex.EncodeToString(sum[:8])
}

// Name is the hook's name for logs: an address may hold secrets, its host does not,
// and so may the arguments of a program.
func (h Hook) Name() string {
	if h.Post == "" && len(h.Run) > 0 {
		return filepath.Base(h.Run[0])
	}
	u, err := url.Parse(h.Post)
	if err != nil {
		return "hook " + h.Key()
	}
	return u.Host
}

// Missing reports whether the hook runs a program of a path at which there is nothing now.
func (h Hook) Missing() bool {
	if len(h.Run) == 0 || !strings.Contains(h.Run[0], "/") {
		return false
	}
	_, err := os.Stat(h.Run[0])
	return errors.Is(err, fs.ErrNotExist)
}

// hooks checks the sections [[hook]].
func (c *checker) hooks() {
	seen := map[string]bool{}
	for n, h := range c.cfg.Hooks {
		at := func(key string) []string { return []string{"hook", strconv.Itoa(n), key} }
		if len(h.On) == 0 {
			c.key("on is missing: write the events, like on = [\"run.ended\", \"task.blocked\"]", at("on")...)
		}
		u, err := url.Parse(h.Post)
		switch {
		case h.Post != "" && h.Run != nil:
			c.key("post and run: write a hook of its own for each", at("run")...)
		case h.Run != nil && (len(h.Run) == 0 || h.Run[0] == ""):
			c.value("run names no program: write it like run = [\"/home/me/bin/ring\", \"quietly\"]", at("run")...)
		case seen[h.Key()] && h.Run != nil:
			c.value("a second hook of this command: write all events into the first", at("run")...)
		case h.Run != nil:
			// One that is missing may lie on a disk that is mounted later: it keeps nothing from starting.
			if st, err := os.Stat(h.Run[0]); strings.Contains(h.Run[0], "/") && err == nil && (st.IsDir() || st.Mode()&0o111 == 0) {
				c.value(h.Run[0]+" is no program: name a file that can be executed", at("run")...)
			}
		case h.Post == "":
			c.key("post is missing: write the address, like post = \"https://example.com/hook\", or a command of yours as run = [\"PROGRAM\"]", at("post")...)
		case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
			c.value("post is no address: write it like \"https://example.com/hook\"", at("post")...)
		case seen[h.Key()]:
			c.value("a second hook of this address: write all events into the first", at("post")...)
		}
		seen[h.Key()] = true
		if h.Project != "" && !slices.ContainsFunc(c.cfg.Projects, func(p Project) bool { return p.Name == h.Project }) {
			c.value(fmt.Sprintf("no project %q", strings.TrimSpace(h.Project)), at("project")...)
		}
	}
}

// transcribe checks the program that turns recordings into words.
func (c *checker) transcribe() {
	switch t := c.cfg.Transcribe; {
	case t == nil:
	case len(t) == 0 || t[0] == "":
		c.value("transcribe names no program: write it like transcribe = [\"/home/me/bin/words\"]", "transcribe")
	case strings.Contains(t[0], "/"):
		if st, err := os.Stat(t[0]); err == nil && (st.IsDir() || st.Mode()&0o111 == 0) {
			c.value(t[0]+" is no program: name a file that can be executed", "transcribe")
		}
	}
}
