package propose

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What init proposes for a digest and for quiet hours.
const (
	UsualDigest = "07:30"
	UsualQuiet  = "23:00-07:00"
)

// Project is the content of one section [[project]].
type Project struct {
	Name      string // [a-z0-9-]{1,32}
	Repo      string // absolute
	Source    string // KIND:PATH
	SourceWhy string
	Others    []string // other sources in the repository
	Agent     string   // "" = none was found
	Advised   string   // the agent to install, where none was found
	AgentWhy  string
	Protected []string
	Found     Found
	Network   Network
}

// Network is what the sessions of a project reach.
type Network struct {
	Mode    string   // "" = nothing is proposed, for Why
	Why     string   // the reason; "" = the usual one of a closed network
	Reached []string // hosts that are named by themselves, a line each: "for npm: registry.npmjs.org"
}

// Global is the part of the configuration outside of [[project]].
type Global struct {
	Timezone string // IANA name; "" = unknown
	ZoneWhy  string // the reason for the time zone
	Folder   string // folder of the configuration file, for the commands in comments
	Phone
}

// Phone is the part of the configuration about Telegram and what it sends. The zero
// value is written as comments.
type Phone struct {
	TokenFile string // relative to the configuration; "" = no token yet
	API       string // address of a Bot API server; "" = Telegram's own
	Digest    string // HH:MM; "" = no summary
	Quiet     string // HH:MM-HH:MM; "" = no quiet hours
}

// File returns a complete nightporter.toml, which package config accepts.
func File(g Global, p Project) string {
	var w writer
	w.comment("What nightporter works by. Proposed by: nightporter init")
	w.comment("Change what you like; every setting is explained in docs/operating.md.")
	w.comment("Afterwards: nightporter doctor, then nightporter run --check")
	w.line("")
	w.comment("The clock you live by: times in messages, \"until\", the digest, quiet hours.")
	if g.Timezone != "" {
		w.comment(g.ZoneWhy)
		w.line("timezone = " + quote(g.Timezone))
	} else {
		w.comment("This host does not say its own. Take the # away and name yours:")
		w.line(`# timezone = "Europe/Berlin"`)
	}
	w.line("")
	w.telegram(g)
	w.digest(g.Phone)
	w.comment("An agent that nightporter does not know: any command that reads the prompt")
	w.comment("from its standard input. Keys belong into env_file, mode 0600, not here.")
	w.line("# [agents.mine]")
	w.line(`# command = ["./my-agent", "--flag"]`)
	w.line("")
	w.project(p)
	return w.String()
}

// Block returns the section [[project]] alone, to be appended to an existing
// file.
func Block(p Project) string {
	var w writer
	w.comment("Proposed by: nightporter init")
	w.project(p)
	return w.String()
}

// Chat returns the sections for Telegram and the digest, to be appended to an existing
// file that has neither.
func Chat(p Phone) string {
	var w writer
	w.telegram(Global{Phone: p})
	if p.Digest+p.Quiet != "" {
		w.digest(p)
	}
	return strings.TrimSuffix(w.String(), "\n")
}

// writer builds TOML line by line.
type writer struct{ strings.Builder }

func (w *writer) line(s string) { w.WriteString(s + "\n") }

// comment writes a comment line. It escapes names of files so that they cannot
// end the comment.
func (w *writer) comment(s string) { w.line(strings.TrimRight("# "+Plain(s), " ")) }

func (w *writer) telegram(g Global) {
	if g.TokenFile == "" {
		w.comment("The phone. In Telegram, write /newbot to @BotFather: it gives you a token.")
		w.comment("On a terminal, nightporter init asks for it. By hand: put the token, and nothing")
		w.comment("else, into a file that only you can read:")
		w.comment("  install -m 600 /dev/null " + shellQuote(g.Folder+"/telegram.token"))
		w.comment("  and paste it there with an editor. Never into this file.")
		w.comment("Then take the # away from the two lines, and: nightporter up --pair")
		w.line("# [telegram]")
		w.line(`# token_file = "telegram.token"   # mode 0600; relative to this file`)
		w.comment("Slack: README says how; [slack] app_token_file and bot_token_file.")
		w.line("")
		return
	}
	w.comment("The phone. nightporter pair lets another person in.")
	w.line("[telegram]")
	w.line("token_file = " + quote(g.TokenFile) + "   # mode 0600; relative to this file")
	if g.API != "" {
		w.line("api = " + quote(g.API) + "   # a Bot API server of your own")
	}
	w.line("")
}

func (w *writer) digest(p Phone) {
	w.comment("One summary a morning, with a picture; and the hours in which nothing rings but a")
	w.comment("standstill of everything. By the clock of timezone.")
	off := map[bool]string{true: "# "}
	w.line(off[p.Digest+p.Quiet == ""] + "[digest]")
	w.line(off[p.Digest == ""] + "at = " + quote(cmp.Or(p.Digest, UsualDigest)))
	w.line(off[p.Quiet == ""] + "quiet = " + quote(cmp.Or(p.Quiet, UsualQuiet)))
	w.line("")
}

func (w *writer) project(p Project) {
	w.line("[[project]]")
	w.line("name = " + quote(p.Name) + "   # in messages and branches; never changed later")
	w.line("repo = " + quote(p.Repo))
	w.line("")
	w.comment("Where the tasks are. " + p.SourceWhy)
	for _, other := range p.Others {
		w.comment("Also there: " + other)
	}
	w.line("source = " + quote(p.Source))
	w.line("")
	w.comment("\"overnight\": no cap on tasks, goes on past a blocked one.")
	w.comment("\"review\": stops after 5 tasks, or when one is blocked.")
	w.line(`profile = "overnight"`)
	w.line("")
	w.comment("planner, builder, reviewer and fixer, a fresh session each. \"single\": builder only.")
	w.line(`pattern = "plan-build-review"`)
	w.line("")
	w.comment(p.AgentWhy)
	if p.Agent == "" {
		w.line("# agent = " + quote(p.Advised))
	} else {
		w.line("agent = " + quote(p.Agent))
	}
	w.line("")
	w.comment("Run once in each new work folder, and when a lockfile changes.")
	w.commands("setup", p.Found.Setup, `"npm ci"`)
	w.line("")
	w.comment("What proves that work is right. nightporter runs these itself after each session")
	w.comment("that writes; all have to end with exit code 0, on the untouched start, too.")
	if len(p.Found.Agents) > 0 {
		w.comment(strings.Join(p.Found.Agents, " and ") + " may name others.")
	}
	if left := p.Found.LeftOut(); left != "" {
		w.comment(strings.ToUpper(left[:1]) + left[1:] + ".")
	}
	w.commands("verify", p.Found.Verify, `"make test"`)
	if len(p.Found.Tests) > 0 {
		w.line("")
		w.comment("Tests besides those with the usual names. A task that changes one has to pass")
		w.comment("with the old ones, too, or its result is called \"changed checks\".")
		globs := make([]string, 0, len(p.Found.Tests))
		for _, g := range p.Found.Tests {
			globs = append(globs, quote(g))
		}
		w.line("tests = [" + strings.Join(globs, ", ") + "]")
	}
	w.line("")
	w.network(p.Network)
	w.comment("Branches that are never written to, whatever happens. Work goes to nightporter/" + p.Name + "/rN.")
	list := make([]string, 0, len(p.Protected))
	for _, b := range p.Protected {
		list = append(list, quote(b))
	}
	w.line("protected = [" + strings.Join(list, ", ") + "]")
	w.line("")
	w.comment("Nothing leaves this machine: the branch waits in the repository.")
	w.line(`push = "never"`)
}

// network writes what sessions reach. The hosts of agents and package managers are
// comments: they are named by themselves, and a list in the file would grow old.
func (w *writer) network(n Network) {
	switch {
	case n.Mode == "" && n.Why == "":
		return
	case n.Mode == "":
		w.comment("Sessions reach all that this machine reaches, also with what strangers may have")
		w.comment("told them. " + n.Why)
		w.line(`# network = "none"`)
	case n.Why != "":
		w.comment("What sessions reach. " + n.Why)
		w.line("network = " + quote(n.Mode))
	default:
		w.comment("Sessions reach named hosts alone. Any other is asked about, and stays closed without")
		w.comment("an answer; nightporter net lists them. To undo it: network = \"open\"")
		for _, r := range n.Reached {
			w.comment("Named by itself, " + r)
		}
		w.line(`# hosts = ["api.example.com"]   # others; for what listens here: services = ["127.0.0.1:5432"]`)
		w.line("network = " + quote(n.Mode))
	}
	w.line("")
}

// commands writes a list of commands, each with its reason. A command that is
// off becomes a comment within the list.
func (w *writer) commands(key string, list []Command, example string) {
	if len(list) == 0 {
		w.comment("Nothing was found.")
		w.line("# " + key + " = [" + example + "]")
		return
	}
	type row struct{ value, why string }
	var rows []row
	width := 0
	for _, c := range list {
		v := quote(c.Run) + ","
		if c.When != "" && key == "verify" {
			v = fmt.Sprintf("{ run = %s, when = %s },", quote(c.Run), quote(c.When))
		}
		why := c.Why
		if c.When == "code" && c.Off == "" {
			why += "; not where only prose changed"
		}
		if c.Off != "" {
			v, why = "# "+v, why+": left out, "+c.Off
		}
		rows = append(rows, row{v, why})
		width = max(width, min(utf8.RuneCountInString(v), 56))
	}
	w.line(key + " = [")
	for _, r := range rows {
		w.line(fmt.Sprintf("  %-*s  # %s", width, r.value, Plain(r.why)))
	}
	w.line("]")
}

// quote returns a TOML basic string on one line. strconv.Quote would use
// escapes that TOML does not have.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f || !unicode.IsPrint(r) && r != ' ':
			if r > 0xffff {
				fmt.Fprintf(&b, `\U%08X`, r)
			} else {
				fmt.Fprintf(&b, `\u%04X`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Plain returns s as one printable line. A file's name may contain line ends,
// or marks that change the direction of writing.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// shellQuote quotes a word for a shell.
func shellQuote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-+@:", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
