package importtest

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/nightporter/nightporter"

// publicSuffixes is a table, of the names below which everybody can register others.
const publicSuffixes = "golang.org/x/net/publicsuffix"

// everything lets a package import all others.
const everything = "*"

// common are packages of this module that all others may import: they stand in
// for one of the standard library.
var common = []string{"internal/regexp"}

// arrows says which packages of this module each one may import. A package
// that is missing here fails the test: where it belongs is decided before it
// is used, not found out afterwards.
//
// The order is from the inside out: guidance ← loop ← engine and
// adapters ← cmd. No adapter imports another one.
var arrows = map[string][]string{
	// The pure core.
	"guidance":     {},
	"loop/ledger":  {"guidance"},
	"loop/payload": {"guidance", "loop/ledger"},
	"loop/people":  {"loop/ledger"},
	"loop/request": {"guidance", "internal/text", "loop/ledger"}, // comments become guidance
	"loop/proof":   {},
	"loop/cause":   {},
	"loop/glob":    {},
	"loop":         {"guidance", "internal/text", "loop/cause", "loop/glob", "loop/history", "loop/ledger", "loop/outlook", "loop/payload", "loop/people", "loop/request", "loop/testreport", "loop/triage"},
	"loop/prompt":  {"guidance", "loop", "loop/ledger", "loop/payload"},

	"loop/history":    {"loop/ledger"},
	"loop/outlook":    {"loop/history", "loop/ledger"},
	"loop/stats":      {"loop/history", "loop/ledger", "loop/payload"},
	"loop/testreport": {"loop/ledger"},
	"loop/triage":     {"loop/ledger"},

	// The shell around it.
	"loop/engine": {"loop", "loop/ledger", "loop/prompt", "loop/request", "loop/triage", "guidance", "internal/crash", "internal/fault", "internal/regexp", "internal/sched", "internal/screenshot"},

	// Adapters: package ledger for its types, never each other.
	"store":                   {"loop/ledger", "guidance", "internal/fsutil"},
	"loop/agent":              {"loop/ledger", "guidance", "loop/agent/adapter", "loop/testreport", "internal/api", "internal/statelock", "internal/copytree", "internal/crash", "internal/egress", "internal/egress", "internal/fault", "internal/fsutil", "internal/guard", "internal/text", "internal/toolchain"},
	"loop/task":               {"loop/ledger", "guidance", "internal/crash", "internal/exchange", "internal/fault", "internal/fsutil", "internal/nearest", "internal/settle", "internal/sleep", "internal/text", "loop/task/backlog", "loop/task/backlogmd", "loop/task/form", "loop/task/jsonform", "loop/task/markdown"},
	"loop/task/backlog":       {"loop/ledger", "loop/task/form"},
	"loop/task/backlogmd":     {"loop/ledger", "loop/task/form"},
	"loop/task/form":          {"loop/ledger"},
	"loop/task/form/formtest": {}, // for tests
	"loop/task/jsonform":      {"loop/ledger", "loop/task/form", "internal/nearest"},
	"loop/task/markdown":      {"loop/ledger", "loop/task/form", "internal/nearest", "internal/text"},
	"loop/workspace":          {"loop/ledger", "guidance", "loop/glob", "loop/proof", "loop/workspace/secret", "internal/copytree", "internal/crash", "internal/fault", "internal/fsutil", "internal/settle", "internal/sleep", "internal/text"},
	"bot/patch":               {"loop/ledger", "loop/proof", "internal/width"},
	"bot/words":               {"internal/nearest"},
	"bot":                     {"loop", "loop/cause", "loop/history", "loop/ledger", "loop/outlook", "loop/payload", "loop/people", "loop/proof", "loop/request", "loop/stats", "guidance", "bot/patch", "bot/words", "internal/fault", "internal/nearest", "internal/width"},
	"loop/cloud":              {"loop/ledger", "internal/crash", "internal/exchange", "internal/fsutil", "internal/nearest", "internal/settle", "internal/sleep", "internal/text"},
	"loop/forge":              {"loop/ledger"},
	"loop/ledger/ledgertest":  {"guidance", "loop/ledger"}, // for tests
	"store/storetest":         {"store"},                   // for tests
	// Below an adapter lies what belongs to it.
	"loop/agent/adapter":       {"loop/ledger", "internal/guard"},
	"loop/workspace/secret":    {},                                                                                 // rules of another project, which know nothing of ours
	"loop/cloud/copilot":       {"loop/cloud", "loop/forge", "loop/forge/github", "loop/ledger", "internal/crash"}, // an agent of GitHub's works through that forge
	"loop/forge/memory":        {"loop/ledger"},                                                                    // for tests
	"loop/forge/forgetest":     {"loop/forge", "loop/ledger"},                                                      // for tests
	"loop/forge/transport":     {"loop/ledger"},
	"loop/forge/github":        {"loop/forge", "loop/forge/transport", "loop/ledger"},
	"loop/forge/gitea":         {"loop/forge", "loop/forge/transport", "loop/ledger"},
	"loop/agent/demo":          {"loop/ledger", "guidance", "loop/agent/adapter", "internal/api", "internal/text"},
	"bot/termlog":              {"loop", "loop/ledger", "loop/request", "guidance", "bot"},
	"bot/tui":                  {"loop", "loop/ledger", "guidance", "bot", "internal/width"},
	"bot/page":                 {"loop/ledger", "bot"},
	"bot/report":               {"loop", "loop/ledger", "loop/request", "loop/stats", "guidance", "bot"},
	"bot/transport":            {},
	"bot/telegram":             {"loop/ledger", "bot", "bot/transport"},
	"bot/slack":                {"loop/ledger", "bot", "bot/transport", "bot/words"},
	"bot/chattest":             {"loop/ledger", "bot", "bot/transport"},
	"bot/delivery":             {"loop/ledger", "bot", "guidance", "internal/sched"},
	"bot/notify":               {"loop", "loop/ledger", "guidance", "bot"},
	"bot/inbound":              {"loop", "loop/ledger", "loop/people", "guidance", "bot", "bot/words", "internal/fault"},
	"internal/scenario":        {"loop", "loop/engine", "loop/ledger", "loop/people", "loop/testreport", "guidance", "bot", "bot/patch"}, // for tests
	"bot/internal/messagelint": {"bot", "bot/telegram", "bot/slack", "internal/fake/telegram"},                                           // for tests: one check over both platforms

	"config":         {"loop/ledger", "guidance", "internal/nearest", "loop/agent/adapter", "loop/forge", "loop/task", "loop/triage"}, // names of agents and kinds of sources are those of their tables
	"config/propose": {},

	// Small things that know nothing of the rest.
	"internal/api":         {},
	"internal/attachment":  {"internal/fsutil"},
	"internal/backup":      {},
	"internal/corpus":      {}, // for tests
	"internal/crash":       {},
	"internal/egress":      {}, // all that it knows of a session is listeners and a policy
	"internal/exchange":    {}, // a system call that internal/fsutil cannot have
	"internal/fault":       {"loop/ledger"},
	"internal/copytree":    {},
	"internal/diskuse":     {"internal/fsutil"},
	"internal/fsutil":      {},
	"internal/nearest":     {},
	"internal/regexp":      {},
	"internal/settle":      {"internal/sleep"},
	"internal/sched":       {},
	"internal/screenshot":  {},
	"internal/sleep":       {},
	"internal/text":        {},
	"internal/toolchain":   {"internal/regexp", "loop/ledger"},
	"internal/sqlitefault": {}, // for tests
	"internal/statelock":   {},
	"internal/width":       {},
	"internal/service":     {},
	"internal/socket":      {"internal/api", "internal/fsutil"},
	"internal/guard":       {},
	"internal/verb":        {"internal/api"},
	"internal/hatcli":      {"internal/api", "internal/verb"},
	"internal/hatmcp":      {"internal/api", "internal/verb"},
	"internal/importtest":  {},
	"internal/bench":       {},
	"internal/leaktest":    {},                       // for tests
	"internal/golden":      {},                       // for tests
	"internal/gotest":      {},                       // what make test runs
	"internal/programtest": {"internal/fake/github"}, // for tests

	// A session that attacks the daemon, for tests.
	"internal/siege": {"internal/api"},

	// What runs: rooms that know no root, and the root that puts them together.
	"internal/multicall":         {"internal/guard", "internal/hatcli", "loop/agent", "loop/agent/demo"},
	"internal/daemon/logging":    {"internal/service", "loop", "loop/ledger"},
	"internal/daemon/systemd":    {"internal/service"},
	"internal/daemon/cloudagent": {"config", "internal/daemon/project", "internal/nearest", "internal/service", "loop/cloud", "loop/cloud/copilot", "loop/forge", "loop/forge/github", "loop/ledger", "loop/task"},
	"internal/daemon/metrics":    {"internal/api", "loop", "loop/engine", "loop/ledger", "store"},
	"internal/daemon/platform":   {"bot", "bot/delivery", "bot/inbound", "bot/slack", "bot/telegram", "bot/transport", "config", "loop/ledger"},
	"internal/daemon/project":    {"config", "config/propose", "internal/daemon/logging", "internal/sleep", "internal/toolchain", "loop", "loop/engine", "loop/forge", "loop/forge/gitea", "loop/forge/github", "loop/ledger", "loop/task", "loop/triage", "loop/workspace", "loop/workspace/secret"},
	"internal/daemon/session":    {"config", "internal/api", "internal/socket", "loop", "loop/agent", "loop/agent/adapter", "loop/engine", "loop/ledger", "loop/prompt", "loop/workspace/secret"},
	"internal/daemon/autostart":  {"config", "internal/daemon/project", "internal/service", "loop", "loop/ledger", "loop/task"},
	"internal/daemon/digest":     {"bot", "bot/report", "config", "internal/daemon/project", "internal/service", "loop", "loop/ledger", "loop/people", "store"},
	"internal/daemon/operator":   {"internal/attachment", "bot", "bot/page", "bot/patch", "bot/report", "bot/tui", "config", "internal/api", "internal/daemon/digest", "internal/daemon/logging", "internal/daemon/project", "internal/service", "internal/socket", "loop", "loop/history", "loop/agent", "loop/engine", "loop/ledger", "loop/people", "loop/prompt", "loop/stats", "loop/workspace", "loop/workspace/secret", "store"},
	"internal/daemon/chat":       {"internal/attachment", "internal/screenshot", "bot", "bot/delivery", "bot/inbound", "bot/notify", "bot/transport", "config", "internal/daemon/digest", "internal/daemon/platform", "internal/daemon/project", "internal/service", "internal/sleep", "loop", "loop/engine", "loop/ledger", "store"},
	"internal/daemon/hook":       {"bot/transport", "config", "internal/daemon/project", "internal/fsutil", "loop/ledger"},
	"internal/daemon/mirror":     {"bot", "internal/service", "internal/sleep", "loop", "loop/ledger"},
	"internal/daemon/intake":     {"config", "loop", "loop/forge", "loop/ledger", "loop/task/jsonform"},
	"internal/daemon":            {everything},
	"internal/daemon/daemontest": {"bot", "config", "internal/daemon", "internal/fake/telegram", "internal/multicall", "internal/socket", "loop", "loop/ledger", "loop/people"}, // for tests

	// The far end of networks, for tests.
	"internal/fake/telegram":     {"internal/fake/wrap"},
	"internal/fake/slack":        {"internal/fake/wrap"},
	"internal/fake/github":       {},
	"internal/e2e/gitea":         {"internal/programtest"},
	"internal/e2e/agents":        {"internal/fake/models", "loop/agent/adapter"}, // for tests
	"internal/fake/wrap":         {},
	"internal/fake/models":       {},
	"internal/fake/netfs":        {},
	"internal/fake/netfs/netfsd": {"internal/fake/netfs"},

	// Programs.
	"internal/sim":         {everything}, // one seed, one night
	"cmd/hat":              {"internal/hatcli", "internal/api", "internal/guard"},
	"cmd/nightporter-shim": {"loop/agent"},
	"cmd/nightporter":      {everything},
}

// stdOnly are packages that import nothing from outside this module but the
// standard library.
var stdOnly = []string{"guidance", "loop", "loop/cause", "loop/history", "loop/ledger", "loop/outlook", "loop/payload", "loop/people", "loop/prompt", "loop/request", "loop/stats", "loop/testreport", "internal/api", "internal/verb", "internal/hatcli", "internal/guard", "internal/fsutil", "internal/sched", "internal/sleep", "internal/text", "cmd/hat"}

// reserved are imports that one place in the module keeps to itself, each with
// the packages that may have it.
var reserved = map[string][]string{
	"database/sql":                 {"store"}, // nobody else writes the ledger (docs/spec 8.1)
	"database/sql/driver":          {"store"},
	"github.com/mattn/go-sqlite3":  {"store"},
	"github.com/pressly/goose/v3":  {"store"},
	"net/http":                     {"internal/socket", "internal/egress", "bot/transport", "bot/telegram", "bot/slack", "internal/daemon/hook", "internal/daemon/intake", "loop/forge/transport", "loop/forge/github", "loop/forge/gitea", "loop/forge/forgetest", "loop/cloud/copilot", "internal/fake/github", "internal/e2e/gitea", "internal/fake/telegram", "internal/fake/slack", "internal/fake/models", "internal/programtest"}, // the client's side speaks HTTP without it
	"regexp":                       {"internal/regexp"},                                                                                                                                                                                                                                                                                                                                                                                  // compiled at the first use, not at each start of a process
	"github.com/spf13/cobra":       {"cmd/nightporter"},                                                                                                                                                                                                                                                                                                                                                                                  // flags are wiring
	"testing":                      {"loop/ledger/ledgertest", "bot/chattest", "bot/internal/messagelint", "internal/daemon/daemontest", "internal/fake/netfs", "internal/golden", "loop/forge/forgetest", "internal/programtest", "internal/scenario", "store/storetest"},                                                                                                                                                               // tests only
	"pgregory.net/rapid":           {},
	"github.com/google/go-cmp/cmp": {"internal/golden"}, // tests only

	// One platform, one package.
	"github.com/go-telegram-bot-api/telegram-bot-api/v5": {"bot/telegram"},
	"charm.land/bubbletea/v2":                            {"bot/tui"},
	"github.com/charmbracelet/x/ansi":                    {"internal/width"}, // one measure of text
	"charm.land/bubbles/v2/key":                          {"bot/tui"},
	"charm.land/bubbles/v2/textinput":                    {"bot/tui"},
	"charm.land/bubbles/v2/viewport":                     {"bot/tui"},
	"git.sr.ht/~sbinet/gg":                               {"bot/report"},
	"github.com/agnivade/levenshtein":                    {"internal/nearest"}, // one "did you mean" for all
	"github.com/mdp/qrterminal/v3":                       {"cmd/nightporter"},
	"mvdan.cc/sh/v3/syntax":                              {"loop/agent/adapter", "loop/proof"},
	"github.com/creack/pty":                              {},
	"github.com/google/jsonschema-go/jsonschema":         {"internal/hatmcp"},
	"github.com/modelcontextprotocol/go-sdk/mcp":         {"internal/hatmcp"},
	"github.com/slack-go/slack":                          {"bot/slack"},
	"github.com/google/go-github/v92/github":             {"loop/forge/github", "loop/cloud/copilot"},
	"code.gitea.io/sdk/gitea":                            {"loop/forge/gitea", "internal/e2e/gitea"},
	"github.com/slack-go/slack/socketmode":               {"bot/slack"},
	"github.com/slack-go/slack/slacktest":                {"internal/fake/slack"},
}

// files are the imports of each file outside tests, by package folder and
// file name.
type files map[string]map[string][]string

func TestArrows(t *testing.T) {
	tree, err := read(os.DirFS(root(t)))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree) < 10 {
		t.Fatalf("only %d packages were found: is this the repository's root? %v", len(tree), root(t))
	}
	for _, v := range violations(tree) {
		t.Error(v)
	}
	for folder := range arrows {
		if _, ok := tree[folder]; !ok && folder != "internal/bench" {
			t.Errorf("%s has a row in the table of arrows and no files: remove the row", folder)
		}
	}
}

// root is the repository's top folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// read collects the imports of all packages below root, for every operating
// system: build constraints are not looked at.
func read(root fs.FS) (files, error) {
	tree := files{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // somebody's temporary file
			}
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		imports, err := importsOf(root, name)
		if err != nil {
			return err
		}
		folder := path.Dir(name)
		if tree[folder] == nil {
			tree[folder] = map[string][]string{}
		}
		tree[folder][path.Base(name)] = imports
		return nil
	})
	return tree, err
}

func importsOf(root fs.FS, name string) ([]string, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		imports = append(imports, p)
	}
	return imports, nil
}

// violations are the imports that the tables above do not allow, sorted.
func violations(tree files) []string {
	var out []string
	for folder, byName := range tree {
		allowed, known := arrows[folder]
		if !known {
			out = append(out, fmt.Sprintf("%s has no row in the table of arrows (internal/importtest): say there what it may import", folder))
			continue
		}
		for name, imports := range byName {
			for _, p := range imports {
				if why := objection(folder, allowed, p); why != "" {
					out = append(out, fmt.Sprintf("%s/%s imports %s: %s", folder, name, p, why))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// objection is why a package may not import p; "" when it may.
func objection(folder string, allowed []string, p string) string {
	if only, is := reserved[p]; is && !slices.Contains(only, folder) {
		if len(only) == 0 {
			return "this is for tests"
		}
		return "only " + strings.Join(only, ", ") + " may"
	}
	own, inside := strings.CutPrefix(p, module+"/")
	switch {
	case inside && strings.HasPrefix(own, "cmd/"):
		return "nothing imports a command"
	case own == "internal/daemon" && folder != "cmd/nightporter" && folder != "internal/daemon/daemontest":
		return "only the command starts a daemon"
	case inside && !slices.Contains(allowed, everything) && !slices.Contains(append(common, allowed...), own):
		return "it may import of this module: " + listed(allowed)
	case !inside && !standard(p) && slices.Contains(stdOnly, folder) && !(folder == "loop/ledger" && p == publicSuffixes):
		return "it is built from the standard library alone"
	}
	return ""
}

func listed(allowed []string) string {
	if len(allowed) == 0 {
		return "nothing"
	}
	return strings.Join(allowed, ", ")
}

// standard reports whether a path is of the standard library: its first
// element has no dot.
func standard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

// TestArrowsFindViolations plants what must not be and looks whether it is
// found.
func TestArrowsFindViolations(t *testing.T) {
	for _, c := range []struct {
		name, folder, imports, want string
	}{
		{"core imports shell", "loop", module + "/loop/engine", "it may import of this module: guidance"},
		{"core imports adapter", "loop", module + "/store", "it may import of this module: guidance"},
		{"adapter imports core", "store", module + "/loop", "it may import of this module: loop/ledger"},
		{"core imports prompts", "loop", module + "/loop/prompt", "it may import of this module: guidance"},
		{"prompts import shell", "loop/prompt", module + "/loop/engine", "it may import of this module: guidance, loop"},
		{"core imports a library", "loop", "golang.org/x/sys/unix", "standard library alone"},
		{"guidance imports core", "guidance", module + "/loop", "it may import of this module: nothing"},
		{"shell imports adapter", "loop/engine", module + "/store", "it may import of this module: loop"},
		{"adapter imports shell", "store", module + "/loop/engine", "it may import of this module: loop"},
		{"adapter imports adapter", "loop/agent", module + "/loop/workspace", "it may import of this module: loop"},
		{"chat imports adapter", "bot", module + "/store", "it may import of this module: loop"},
		{"config imports shell", "config", module + "/loop/engine", "it may import of this module: loop"},
		{"contract imports core", "internal/api", module + "/loop", "it may import of this module: nothing"},
		{"contract imports HTTP", "internal/api", "net/http", "only internal/socket"},
		{"client imports HTTP", "internal/hatcli", "net/http", "only internal/socket"},
		{"client imports core", "cmd/hat", module + "/loop", "it may import of this module: internal/hatcli"},
		{"client imports a library", "cmd/hat", "github.com/some/thing", "standard library alone"},
		{"expressions compiled at the start", "bot", "regexp", "only internal/regexp may"},
		{"SQL outside the store", "cmd/nightporter", "database/sql", "only store may"},
		{"SQL driver outside the store", "loop/task", "github.com/mattn/go-sqlite3", "only store may"},
		{"a command imported", "cmd/nightporter", module + "/cmd/hat", "nothing imports a command"},
		{"test library in the product", "loop/task", "pgregory.net/rapid", "for tests"},
		{"new package", "telemetry", "fmt", "no row in the table"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := violations(files{c.folder: {"planted.go": {c.imports}}})
			if len(found) != 1 || !strings.Contains(found[0], c.want) {
				t.Errorf("planted %s → %s: got %q, want one that says %q", c.folder, c.imports, found, c.want)
			}
		})
	}
	allowed := files{
		"loop":            {"a.go": {"fmt", module + "/guidance"}},
		"loop/engine":     {"a.go": {"time", module + "/loop", module + "/internal/crash"}},
		"store":           {"a.go": {"database/sql", "github.com/mattn/go-sqlite3", module + "/loop/ledger"}},
		"bot/termlog":     {"a.go": {module + "/bot"}},
		"cmd/nightporter": {"a.go": {module + "/store", "github.com/spf13/cobra"}},
	}
	if found := violations(allowed); len(found) > 0 {
		t.Errorf("what is allowed is objected to: %q", found)
	}
}

// TestReadSkips makes sure that tests and data are not read as product code.
func TestReadSkips(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go":             "package a\nimport \"fmt\"\nvar _ = fmt.Sprint",
		"a/a_windows.go":     "package a\nimport (\n\"os\"\nx \"net\"\n)",
		"a/a_test.go":        "package a\nimport \"testing\"",
		"a/testdata/bad.go":  "package bad\nimport \"database/sql\"",
		".git/hooks/hook.go": "package hook\nimport \"os\"",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := read(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if want := "map[a:map[a.go:[fmt] a_windows.go:[os net]]]"; fmt.Sprint(got) != want {
		t.Errorf("read = %v, want %s", got, want)
	}
}
