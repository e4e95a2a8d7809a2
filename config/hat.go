package config

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Defaults of a hat (docs/spec 4.1).
const (
	defaultMaxTokens = 40000
	defaultTimeout   = ledger.Duration(60 * time.Minute)
	defaultStall     = ledger.Duration(15 * time.Minute)
)

// Floor returns the commands that are denied to every hat, whatever its file
// says (docs/spec 12.1).
func Floor() []string {
	return []string{"git push --force", "rm -rf", "DROP TABLE", "DROP DATABASE", "mkfs", "dd of=/dev", "curl | sh", "wget | sh"}
}

// Hats returns every hat that a project can use, by name: the built-in ones,
// those beside the config file, and those of its repository where it is
// trusted. With p nil the repository's are left out. What is wrong in any file
// is an *Error.
func Hats(cfg *Config, p *Project) (map[string]ledger.Hat, error) {
	cat, problems := cfg.catalogue(p)
	if err := newError(problems); err != nil {
		return nil, err
	}
	return cat.hats, nil
}

// hatFile is the content of a hat's file (docs/spec 4.1).
type hatFile struct {
	Hat struct {
		Name    string `toml:"name"`
		Role    string `toml:"role"`   // one line, for people
		Prompt  string `toml:"prompt"` // for the agent; without it, the agent gets the role
		Context struct {
			Load         []string `toml:"load"`
			WriteAllowed []string `toml:"write_allowed"`
			WriteDenied  []string `toml:"write_denied"`
			OwnScope     bool     `toml:"own_scope"` // adds write_allowed to the scope that a task names
		} `toml:"context"`
		Exit struct {
			EmitEvent Words    `toml:"emit_event"`
			Payload   []string `toml:"payload"`
			MaxTokens *int     `toml:"max_tokens"`
			MayAdd    bool     `toml:"may_add"` // its sessions may add tasks
		} `toml:"exit"`
	} `toml:"hat"`
	Tools struct {
		Denied  []string `toml:"denied"`
		Network string   `toml:"network" oneof:"open ports none"` // what its sessions reach, where it is narrower
	} `toml:"tools"`
	Verify struct {
		Expect string `toml:"expect" oneof:"pass repro none"`
	} `toml:"verify"`
	Agent struct {
		Name         string           `toml:"name"`
		Model        string           `toml:"model"`
		Effort       string           `toml:"effort"`
		Escalate     bool             `toml:"escalate"` // the next stronger tier after a failed attempt
		Fallback     Words            `toml:"fallback"` // in place of its agent's
		Timeout      *ledger.Duration `toml:"timeout"`
		StallTimeout *ledger.Duration `toml:"stall_timeout"`
		MaxCostUSD   float64          `toml:"max_cost_usd"`
	} `toml:"agent"`
}

// nameForm matches the names of hats, patterns, projects and the user's own
// agents.
var nameForm = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// Allowed names of events and of the fields of their payloads.
var (
	eventForm = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)
	fieldForm = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// readHat turns a document into a hat. It returns the name even when the hat
// has other mistakes, so that a second hat of that name is noticed.
func readHat(doc *document) (string, parsedHat, []ledger.Diagnostic) {
	var f hatFile
	problems := bind(doc, &f)
	bad := func(p ledger.Diagnostic) { problems = append(problems, p) }
	in := &f.Hat

	checkName(doc, []string{"hat", "name"}, "a hat", in.Name, bad)
	if ledger.EndsAttempt(in.Name) {
		bad(doc.atValue([]string{"hat", "name"}, fmt.Sprintf("%q is where routes end: no hat can have this name", in.Name)))
	}
	if strings.TrimSpace(in.Prompt) == "" && strings.TrimSpace(in.Role) == "" {
		p := doc.atKey([]string{"hat", "prompt"}, "a hat needs a prompt")
		p.Remedy = `[hat] prompt = """What its session is to do"""`
		bad(p)
	}
	if strings.ContainsAny(in.Role, "\r\n") {
		bad(doc.atValue([]string{"hat", "role"}, "role is one line for people; what the agent has to read is the prompt"))
	}
	for i, s := range in.Context.Load {
		at := []string{"hat", "context", "load", strconv.Itoa(i)}
		if text := insidePath(s); text != "" {
			bad(doc.atValue(at, fmt.Sprintf("load: %q %s", s, text)))
		}
	}
	allowed := checkGlobs(doc, []string{"hat", "context", "write_allowed"}, in.Context.WriteAllowed, bad)
	denied := checkGlobs(doc, []string{"hat", "context", "write_denied"}, in.Context.WriteDenied, bad)
	checkExit(doc, &f, bad)
	for i, s := range f.Tools.Denied {
		if strings.TrimSpace(s) == "" {
			bad(doc.atValue([]string{"tools", "denied", strconv.Itoa(i)}, "denied holds an empty text"))
		}
	}

	h := ledger.Hat{
		Name: in.Name, Role: in.Role, Prompt: strings.TrimSpace(in.Prompt),
		Load: in.Context.Load, WriteAllowed: allowed, WriteDenied: denied, OwnScope: in.Context.OwnScope,
		Emits: in.Exit.EmitEvent, Payload: in.Exit.Payload, MaxTokens: deref(in.Exit.MaxTokens, defaultMaxTokens), MayAdd: in.Exit.MayAdd,
		Denied: union(f.Tools.Denied, Floor()),
		Expect: ledger.Expect(f.Verify.Expect),
		Agent:  f.Agent.Name, Model: f.Agent.Model, Effort: f.Agent.Effort,
		Escalate: f.Agent.Escalate, Fallbacks: f.Agent.Fallback,
		Timeout: deref(f.Agent.Timeout, defaultTimeout), StallTimeout: deref(f.Agent.StallTimeout, defaultStall),
		MaxCostUSD: f.Agent.MaxCostUSD, Network: networkMode(f.Tools.Network),
	}
	if h.Prompt == "" {
		h.Prompt = h.Role
	}
	if h.OwnScope && len(in.Context.WriteAllowed) == 0 {
		p := doc.atValue([]string{"hat", "context", "own_scope"}, "own_scope = true, but write_allowed is empty: a hat that only reads has no scope")
		p.Remedy = `Either write_allowed = ["docs/**"], or leave own_scope out`
		bad(p)
	}
	switch {
	case h.Expect == "" && h.Writes():
		h.Expect = ledger.ExpectPass
	case h.Expect == "":
		h.Expect = ledger.ExpectNone
	case h.Expect != ledger.ExpectNone && !h.Writes():
		p := doc.atValue([]string{"verify", "expect"}, fmt.Sprintf("expect = %q, but the hat may write nothing: there is no tree of its own to check", h.Expect))
		p.Remedy = `Either write_allowed = ["**"], or expect = "none"`
		bad(p)
	}
	return in.Name, parsedHat{hat: h, doc: doc, broken: len(problems) > 0}, problems
}

// checkExit checks the events with which the hat's sessions may end.
func checkExit(doc *document, f *hatFile, bad func(ledger.Diagnostic)) {
	exit := &f.Hat.Exit
	at := []string{"hat", "exit", "emit_event"}
	if len(exit.EmitEvent) == 0 {
		p := doc.atValue(at, "emit_event is empty: a session ends with exactly one event, so its hat has to name one")
		p.Remedy = `[hat.exit] emit_event = "build.complete"`
		bad(p)
	}
	seen := map[string]bool{}
	for i, e := range exit.EmitEvent {
		at := child(at, strconv.Itoa(i))
		switch {
		case !eventForm.MatchString(e) || len(e) > 64:
			bad(doc.atValue(at, fmt.Sprintf(`%q is not an event: write it like "build.complete"`, e)))
		case e == ledger.EventQuestion || e == ledger.EventBlocked:
			bad(doc.atValue(at, fmt.Sprintf("every hat may end with %s: leave it out", e)))
		case seen[e]:
			bad(doc.atValue(at, fmt.Sprintf("%s is listed twice", e)))
		}
		seen[e] = true
	}
	for i, s := range exit.Payload {
		if !fieldForm.MatchString(s) || len(s) > 64 {
			bad(doc.atValue([]string{"hat", "exit", "payload", strconv.Itoa(i)}, fmt.Sprintf(`%q is not a field: write it like "files_modified"`, s)))
		}
	}
	if exit.MaxTokens != nil && *exit.MaxTokens < 1000 && doc.has("hat", "exit", "max_tokens") {
		bad(doc.atValue([]string{"hat", "exit", "max_tokens"}, "max_tokens is the size of the prompt that nightporter builds: at least 1000"))
	}
	for _, d := range []struct {
		key string
		v   *ledger.Duration
	}{{"timeout", f.Agent.Timeout}, {"stall_timeout", f.Agent.StallTimeout}} {
		if d.v != nil && *d.v == 0 {
			bad(doc.atValue([]string{"agent", d.key}, d.key+` cannot be 0: a session has to end some time; write it like "60m"`))
		}
	}
}

// checkName refuses an invalid name.
func checkName(doc *document, at []string, what, name string, bad func(ledger.Diagnostic)) {
	switch {
	case name == "" && !doc.has(at...):
		p := doc.atKey(at, what+" needs a name")
		p.Remedy = `name = "…", of a–z, 0–9 and -, at most 32`
		bad(p)
	case !nameForm.MatchString(name) && isText(doc, at):
		p := doc.atValue(at, fmt.Sprintf("%q is no name: a–z, 0–9 and -, at most 32", name))
		if s := sanitise(name); s != name {
			p.Meant = s
		}
		bad(p)
	}
}

// isText reports whether the key holds a text. A key of another type needs no
// second problem: bind has reported it.
func isText(doc *document, at []string) bool {
	var x any = doc.values
	for _, k := range at {
		switch c := x.(type) {
		case map[string]any:
			x = c[k]
		case []any:
			i, err := strconv.Atoi(k)
			if err != nil || i >= len(c) {
				return false
			}
			x = c[i]
		}
	}
	_, ok := x.(string)
	return ok
}

// checkGlobs returns the globs in the form in which they are matched: a
// trailing slash becomes "/**".
func checkGlobs(doc *document, at []string, globs []string, bad func(ledger.Diagnostic)) []string {
	var out []string
	for i, g := range globs {
		text := insidePath(g)
		if text == "" && !doublestar.ValidatePattern(g) {
			text = "is not a glob: [, { and \\ have to be in pairs"
		}
		if text != "" {
			bad(doc.atValue(child(at, strconv.Itoa(i)), fmt.Sprintf("%s: %q %s", at[len(at)-1], g, text)))
			continue
		}
		if strings.HasSuffix(g, "/") {
			g += "**"
		}
		out = append(out, strings.TrimPrefix(g, "./"))
	}
	return out
}

// insidePath returns the reason why a path or glob does not stay within the
// repository, or "".
func insidePath(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty"
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "~"):
		return "is absolute: paths are relative to the repository"
	case slices.Contains(strings.Split(s, "/"), ".."):
		return "leaves the repository"
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }):
		return "holds a control character"
	case path.Clean(s) == ".git" || strings.HasPrefix(path.Clean(s), ".git/"):
		return "is git's own: it is never in scope"
	}
	return ""
}

// deref returns the value that p points to, or otherwise when p is nil.
func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// union returns a followed by the elements of b that a lacks.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
