package config

import (
	"cmp"
	_ "embed"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // time zones for hosts and containers that have no zone files

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// zones lists the names of time zones, to suggest one for a misspelt name. They
// come from the IANA time zone database (zone1970.tab), which is in the public
// domain.
//
//go:embed zones.txt
var zones string

// AgentNames returns the names of all agents, sorted: those that nightporter
// knows and those of the file.
func (c *Config) AgentNames() []string {
	names := append(adapter.Names(), slices.Collect(maps.Keys(c.Agents))...)
	slices.Sort(names)
	return slices.Compact(names)
}

// knowsAgent reports whether the agent exists, and the nearest name if not. An
// empty name is accepted: the agent is then chosen elsewhere.
func (c *Config) knowsAgent(name string) (near string, ok bool) {
	names := c.AgentNames()
	if name == "" || slices.Contains(names, name) {
		return "", true
	}
	return nearest.Of(name, names), false
}

func unknownAgent(p ledger.Diagnostic, name, near string) ledger.Diagnostic {
	p.Text, p.Meant = fmt.Sprintf("no agent %q", name), near
	if near == "" {
		p.Remedy = fmt.Sprintf("Define it: [agents.%s] command = [\"…\"]", name)
	}
	return p
}

// checker checks a Config that was read from a document against the rules that
// the types cannot express.
type checker struct {
	doc      *document
	cfg      *Config
	problems []ledger.Diagnostic
}

func (c *checker) bad(p ledger.Diagnostic) { c.problems = append(c.problems, p) }

// value adds a problem with the value of a key.
func (c *checker) value(text string, path ...string) *ledger.Diagnostic {
	return c.add(c.doc.atValue(path, text))
}

// key adds a problem with a key, or with the section that lacks it.
func (c *checker) key(text string, path ...string) *ledger.Diagnostic {
	return c.add(c.doc.atKey(path, text))
}

func (c *checker) add(p ledger.Diagnostic) *ledger.Diagnostic {
	c.bad(p)
	return &c.problems[len(c.problems)-1]
}

// shared checks what projects share.
func (c *checker) shared() {
	if z := c.cfg.Timezone; z != "" {
		if _, err := time.LoadLocation(z); err != nil {
			c.value(fmt.Sprintf("no time zone %q", z), "timezone").Meant = nearestZone(z)
		}
	} else if c.doc.has("timezone") && isText(c.doc, []string{"timezone"}) {
		c.value("timezone is empty: leave it out for the host's own", "timezone")
	}
	if n := c.cfg.MaxSessions; n != nil && *n == 0 && isNumber(c.doc.values["max_sessions"]) {
		c.value("max_sessions cannot be 0: nothing would ever be done", "max_sessions")
	}
	c.least("processes", c.cfg.Limits.Processes, leastProcesses)
	c.least("files", c.cfg.Limits.Files, leastFiles)
	c.sessionUser(string(c.cfg.SessionUser))
	c.chats()
	c.retention()
	c.hooks()
	c.bugs()
	c.transcribe()
}

// least checks that a limit of sessions is none, or leaves a session room to
// begin.
func (c *checker) least(key string, value *int, least int) {
	if value != nil && *value > 0 && *value < least && c.isNumberAt([]string{"limits", key}) {
		c.value(fmt.Sprintf("%s = %d is too few for a session: write at least %d, or 0 for no limit", key, *value, least), "limits", key)
	}
}

// nearestZone suggests a time zone. It also matches the city alone, because
// people type "berlin".
func nearestZone(name string) string {
	names := strings.Fields(zones)
	if near := nearest.Of(name, names); near != "" {
		return near
	}
	cities := map[string]string{}
	for _, z := range names {
		cities[strings.ToLower(filepath.Base(z))] = z
	}
	city := strings.ReplaceAll(filepath.Base(name), " ", "_")
	return cities[nearest.Of(city, slices.Collect(maps.Keys(cities)))]
}

func (c *checker) sessionUser(name string) {
	if name == "" {
		return
	}
	uid := name
	if _, err := strconv.ParseUint(name, 10, 32); err != nil { // a number needs no account
		u, err := user.Lookup(name)
		if err != nil {
			c.value(fmt.Sprintf("no user %q on this host", name), "session_user").Remedy =
				"Name one that exists, or a uid: sessions need no account"
			return
		}
		uid = u.Uid
	}
	if uid == "0" {
		c.value("sessions cannot run as root", "session_user").Remedy = "Leave it out: sessions run as uid 65534 then"
	}
}

// secretFile checks a token's file by its type and mode. It never reads the
// token.
func (c *checker) secretFile(file, howTo string, path ...string) {
	if IsCredential(file) {
		return
	}
	name := filepath.Base(file)
	st, err := os.Stat(file)
	switch {
	case err != nil:
		c.value(name+": "+systemText(err), path...).Remedy = fmt.Sprintf(howTo, file)
	case !st.Mode().IsRegular():
		c.value(name+": not a regular file", path...)
	case st.Size() == 0:
		c.value(name+": file is empty", path...).Remedy = fmt.Sprintf(howTo, file)
	case st.Mode().Perm()&fs.FileMode(0o077) != 0:
		c.value(fmt.Sprintf("%s: others can read it (%#o)", name, st.Mode().Perm()), path...).Remedy = "chmod 600 " + file
	}
}

func (c *checker) url(s string, path ...string) {
	if s == "" {
		return
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil {
		c.value(path[len(path)-1]+` is not an address: write it like "https://api.telegram.org"`, path...)
	}
}

// agents checks the sections [agents.X].
func (c *checker) agents() {
	for _, name := range slices.Sorted(maps.Keys(c.cfg.Agents)) {
		a := c.cfg.Agents[name]
		at := func(keys ...string) []string { return append([]string{"agents", name}, keys...) }
		known := slices.Contains(adapter.Names(), name)
		if !nameForm.MatchString(name) {
			c.key(fmt.Sprintf("%q is no name for an agent: a–z, 0–9 and -, at most 32", name), at()...)
		}
		c.output(a.Output, at("output"))
		switch {
		case !known && c.isTable(at()) && !c.doc.has(at("command")...):
			p := c.key(fmt.Sprintf("agent %q has no command", name), at()...)
			p.Meant = nearest.Of(name, adapter.Names())
			p.Remedy = `command = ["./my-agent", "--flag"]`
		case len(a.Command) == 0 && c.isList(at("command")):
			c.value("command is empty", at("command")...).Remedy = `command = ["./my-agent", "--flag"]`
		case len(a.Command) > 0 && strings.TrimSpace(a.Command[0]) == "" && isText(c.doc, at("command", "0")):
			c.value("command is empty: its first element is the program", at("command", "0")...)
		}
		if a.EnvFile != "" {
			c.secretFile(a.EnvFile, "Put NAME=VALUE lines in %s, mode 0600", at("env_file")...)
		}
		c.checkForms(a.PassEnv, variableForm, `"HTTPS_PROXY"`, at("pass_env")...)
		c.hosts(a.Hosts, at("hosts")...)
		c.fallbacks(a.Fallback, at("fallback"))
		if a.MaxSessions != nil && *a.MaxSessions == 0 && c.isNumberAt(at("max_sessions")) {
			c.value("max_sessions cannot be 0: the agent would never begin", at("max_sessions")...)
		}
		if a.CoAuthor != nil && *a.CoAuthor != "" && !authorForm.MatchString(*a.CoAuthor) {
			c.value(`co_author is written "Name <mail@host>"`, at("co_author")...)
		}
		if cycle := c.cfg.fallbackCycle(name); cycle != nil && slices.Min(cycle) == name {
			c.value("fallback goes in a circle: "+strings.Join(cycle, " → "), at("fallback")...)
		}
	}
}

// output checks the output format that [agents.X] names.
func (c *checker) output(form string, path []string) {
	if forms := adapter.Outputs(); isText(c.doc, path) && !slices.Contains(forms, form) {
		c.value(notOneOf("output", form, forms), path...).Meant = nearest.Of(form, forms)
	}
}

// fallbacks checks a list of fallbacks at path.
func (c *checker) fallbacks(list []string, path []string) {
	for n, name := range list {
		if near, ok := c.cfg.knowsAgent(name); !ok {
			at := path
			if c.isList(path) {
				at = append(slices.Clone(path), strconv.Itoa(n))
			}
			c.bad(unknownAgent(c.doc.atValue(at, ""), name, near))
		}
	}
}

// fallbackCycle returns the cycle of fallbacks that leads from the agent back to
// it, with the agent at both ends, or nil.
func (c *Config) fallbackCycle(name string) []string {
	seen := map[string]bool{}
	var follow func(path []string) []string
	follow = func(path []string) []string {
		for _, next := range c.Agents[path[len(path)-1]].Fallback {
			if next == name {
				return append(slices.Clone(path), next)
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			if cycle := follow(append(slices.Clone(path), next)); cycle != nil {
				return cycle
			}
		}
		return nil
	}
	return follow([]string{name})
}

// project checks one [[project]] section.
func (c *checker) project(i int) {
	p := &c.cfg.Projects[i]
	at := func(keys ...string) []string { return append([]string{"project", strconv.Itoa(i)}, keys...) }
	checkName(c.doc, at("name"), "a project", p.Name, c.bad)
	for j := range i {
		if p.Name != "" && c.cfg.Projects[j].Name == p.Name {
			first := c.doc.find([]string{"project", strconv.Itoa(j), "name"})
			c.value(fmt.Sprintf("there is a project %q already, in line %d", p.Name, c.doc.problem(first.key, "").Line), at("name")...)
			break
		}
	}
	switch {
	case p.Repo == "" && !c.doc.has(at("repo")...):
		c.key("a project needs a repo", at("repo")...).Remedy = `repo = "/path/to/repository"`
	case p.Repo == "" && isText(c.doc, at("repo")):
		c.value("repo is empty", at("repo")...)
	}
	if near, ok := c.cfg.knowsAgent(p.Agent); !ok {
		c.bad(unknownAgent(c.doc.atValue(at("agent"), ""), p.Agent, near))
	}
	c.threads(i, at)
	c.commands(p, at)
	c.screenshot(p, at)
	c.names(p, at)
	c.checkForms(p.PassEnv, variableForm, `"HTTPS_PROXY"`, at("pass_env")...)
	c.checkForms(p.Domains, domainForm, `"shop.example.com"`, at("domains")...)
	c.roomFiles(p, at)
	c.cloud(p, at)
	c.claims(p, at)
	c.remote(p, at)
	c.folders(p, at, "")
	if p.Batch != nil && *p.Batch == 0 && c.isNumberAt(at("batch")) {
		c.value("batch cannot be 0: nothing would ever be fixed or committed", at("batch")...)
	}
	if p.Parallel != nil && *p.Parallel == 0 && c.isNumberAt(at("parallel")) {
		c.value("parallel cannot be 0: nothing would ever be done", at("parallel")...).Remedy = "write 1 for one task at a time"
	}
	if p.Queue == string(ledger.QueueBatch) && p.CommitStatus {
		c.value(`queue = "batch" does not go with commit_status = true: a commit has exactly the files that were verified together, and marks would be added to them`, at("queue")...).Remedy = "take one of the two out"
	}
	if p.ReplanAfter > ledger.MaxAttempts {
		c.value(fmt.Sprintf("replan_after = %d never comes: a task is blocked after %d failed attempts", p.ReplanAfter, ledger.MaxAttempts), at("replan_after")...).Remedy = fmt.Sprintf("write at most %d; 0 is never", ledger.MaxAttempts)
	}
	if kind := p.Source.Kind; p.BdWrite && kind != "" && kind != task.KindBeads && kind != task.KindAuto {
		c.value(fmt.Sprintf("bd_write closes issues of beads, and the source of this project is of the kind %s", kind), at("bd_write")...).Remedy = fmt.Sprintf(`take it out, or write source = "%s:.beads/issues.jsonl"`, task.KindBeads)
	}
	if !p.TrustRepo { // else its hats lie outside, too
		c.hats(p, at)
	}
}

// cloud checks the project's cloud agent, but for its token, which surroundings
// does.
func (c *checker) cloud(p *Project, at func(...string) []string) {
	if p.Cloud == nil {
		return
	}
	if p.Cloud.Every != 0 && p.Cloud.Every < leastEvery {
		c.value(fmt.Sprintf("every = %q is too often for a forge: write at least %q", p.Cloud.Every, leastEvery), at("cloud", "every")...)
	}
	c.url(p.Cloud.API, at("cloud", "api")...)
}

// claims checks how long claims of others are respected.
func (c *checker) claims(p *Project, at func(...string) []string) {
	if p.StaleClaim < 0 || p.StaleClaim > 0 && p.StaleClaim < ledger.Duration(time.Minute) {
		c.value(fmt.Sprintf("stale_claim = %q leaves nobody time for a fix: write at least \"1m\", for example \"24h\"", p.StaleClaim), at("stale_claim")...)
	}
}

// commands checks the project's setup and verify commands.
func (c *checker) commands(p *Project, at func(...string) []string) {
	for i, s := range p.Setup {
		if strings.TrimSpace(s) == "" && isText(c.doc, at("setup", strconv.Itoa(i))) {
			c.value("setup holds an empty command", at("setup", strconv.Itoa(i))...)
		}
	}
	for i, v := range p.Verify {
		where := at("verify", strconv.Itoa(i))
		if strings.TrimSpace(v.Run) != "" {
			continue
		}
		if isText(c.doc, where) || isText(c.doc, append(where, "run")) {
			c.value("verify holds an empty command", where...)
		} else if !c.doc.has(append(where, "run")...) && c.isTable(where) {
			c.value("this verify entry lacks run", where...).Remedy = `verify = [{run = "npm test", when = "code"}]`
		}
	}
}

// roomFiles checks the form of room_files.
func (c *checker) roomFiles(p *Project, at func(...string) []string) {
	for i, name := range p.RoomFiles {
		where := at("room_files", strconv.Itoa(i))
		if text := checkRoomFile(name); text != "" && isText(c.doc, where) {
			c.value(text, where...).Remedy = `Write it like ".env", or "config/*.local"`
		}
	}
}

// checkRoomFile returns what is wrong with an entry of room_files.
func checkRoomFile(name string) string {
	_, err := path.Match(name, "")
	first, _, _ := strings.Cut(name, "/")
	switch {
	case name == "":
		return "room_files holds an empty path"
	case !filepath.IsLocal(name) || path.Clean(name) != name || name == ".":
		return fmt.Sprintf("room_files: %q is not a path inside the repository", name)
	case strings.EqualFold(first, ".git"):
		return fmt.Sprintf("room_files: %q is git's own", name)
	case err != nil || strings.Contains(name, "**"):
		return fmt.Sprintf("room_files: %q is no glob: * and ? stand for parts of one name", name)
	}
	return ""
}

// Allowed forms of names that are passed unchanged to git, to sessions and to
// the network.
var (
	variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	branchForm   = regexp.MustCompile(`^[^-\s~^:?\\\x00-\x1f\x7f][^\s~^:?\\\x00-\x1f\x7f]*$`) // a leading - would be read as an option
	domainForm   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$`)
	authorForm   = regexp.MustCompile(`^[^<>\n]+ <[^<>\s]+>$`)
)

// names checks the project's lists of names, paths and globs.
func (c *checker) names(p *Project, at func(...string) []string) {
	c.checkForms(p.Protected, branchForm, `"main"`, at("protected")...)
	c.hosts(p.Hosts, at("hosts")...)
	c.hosts(p.ReadOnlyHosts, at("read_only_hosts")...)
	c.services(p.Services, at("services")...)
	c.ports(p, at)
	if p.Base != "" && !branchForm.MatchString(p.Base) {
		c.value(fmt.Sprintf("%q is not a branch", p.Base), at("base")...)
	}
	for _, l := range []struct {
		key   string
		paths []string
	}{{"read", p.Read}, {"cache", p.Cache}, {"shared", p.Shared}} {
		for i, s := range l.paths {
			if s == "" && isText(c.doc, at(l.key, strconv.Itoa(i))) {
				c.value(l.key+" holds an empty path", at(l.key, strconv.Itoa(i))...)
			}
		}
	}
	p.Layout.Write = checkGlobs(c.doc, at("layout", "write"), p.Layout.Write, c.bad)
	var tests []string // without the "!" of those that are none
	for _, g := range p.Tests {
		tests = append(tests, strings.TrimPrefix(g, "!"))
	}
	checkGlobs(c.doc, at("tests"), tests, c.bad)
}

// checkForms checks each text of a list against a regular expression.
func (c *checker) checkForms(words []string, form *regexp.Regexp, example string, path ...string) {
	for i, w := range words {
		where := child(path, strconv.Itoa(i))
		if !form.MatchString(w) && isText(c.doc, where) {
			c.value(fmt.Sprintf("%s: %q is not right: write it like %s", path[len(path)-1], w, example), where...)
		}
	}
}

// hats checks the hats and the pattern that the project uses, and its overrides
// of hats.
func (c *checker) hats(p *Project, at func(...string) []string) {
	cat := c.catalogue(p)
	for _, name := range slices.Sorted(maps.Keys(p.Hat)) {
		if _, ok := cat.hats[name]; !ok {
			c.key(fmt.Sprintf("no hat %q", name), at("hat", name)...).Meant = nearest.Of(name, slices.Collect(maps.Keys(cat.hats)))
		}
		if near, ok := c.cfg.knowsAgent(p.Hat[name].Agent); !ok {
			c.bad(unknownAgent(c.doc.atValue(at("hat", name, "agent"), ""), p.Hat[name].Agent, near))
		}
		c.fallbacks(p.Hat[name].Fallback, at("hat", name, "fallback"))
	}
	if f, ok := cat.patterns[cmp.Or(p.Pattern, usualPattern(p.Source.Kind))]; ok {
		wrong := f.check(cat)
		if f.doc.shipped { // the others were checked by catalogue
			c.problems = append(c.problems, wrong...)
		}
		if len(wrong) == 0 && !f.hasReported(cat) {
			for key, problems := range p.checkPlans(f.pattern, cat.hats) {
				for _, problem := range problems {
					c.value(problem.Text, at(key)...).Remedy = problem.Remedy
				}
			}
		}
	}
	if _, ok := cat.patterns[p.Pattern]; p.Pattern != "" && !ok {
		c.value(fmt.Sprintf("no pattern %q", p.Pattern), at("pattern")...).Meant = nearest.Of(p.Pattern, slices.Collect(maps.Keys(cat.patterns)))
	}
}

// catalogue checks the hats and patterns that somebody wrote. A built-in pattern
// counts only where it is used: a hat of the user's own may have made it useless,
// and that is no mistake.
func (c *checker) catalogue(p *Project) catalogue {
	cat, problems := c.cfg.catalogue(p)
	c.problems = append(c.problems, problems...)
	for _, name := range slices.Sorted(maps.Keys(cat.patterns)) {
		if f := cat.patterns[name]; !f.doc.shipped {
			c.problems = append(c.problems, f.check(cat)...)
		}
	}
	return cat
}

func (c *checker) at(path []string) any {
	var x any = c.doc.values
	for _, k := range path {
		switch v := x.(type) {
		case map[string]any:
			x = v[k]
		case []any:
			i, err := strconv.Atoi(k)
			if err != nil || i >= len(v) {
				return nil
			}
			x = v[i]
		default:
			return nil
		}
	}
	return x
}

func (c *checker) isList(path []string) bool     { _, ok := c.at(path).([]any); return ok }
func (c *checker) isTable(path []string) bool    { _, ok := c.at(path).(map[string]any); return ok }
func (c *checker) isNumberAt(path []string) bool { return isNumber(c.at(path)) }

// isNumber reports whether bind accepts x as a number.
func isNumber(x any) bool { n, ok := x.(int64); return ok && n >= 0 }
