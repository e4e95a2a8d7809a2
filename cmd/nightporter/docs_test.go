package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/syntax"

	"github.com/nightporter/nightporter/bot"
)

// docCode is a piece of code on a page: a fenced block, or a span between
// backticks.
type docCode struct {
	at   string // FILE:LINE
	lang string // of a block: the word behind its fence
	text string
	span bool
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// docPages returns the pages that people read: README.md and all of docs/.
func docPages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	pages := map[string]string{}
	read := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	read(filepath.Join(root, "README.md"))
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			read(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// docCodes returns the code on all pages.
func docCodes(t *testing.T) []docCode {
	t.Helper()
	var all []docCode
	for name, text := range docPages(t) {
		all = append(all, codesOf(name, text)...)
	}
	return all
}

// codesOf returns the code on one page, in order.
func codesOf(name, text string) []docCode {
	var all []docCode
	var block *docCode
	for n, line := range strings.Split(text, "\n") {
		at := name + ":" + strconv.Itoa(n+1)
		mark, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && block == nil:
			block = &docCode{at: at, lang: mark}
		case fence:
			all = append(all, *block)
			block = nil
		case block != nil:
			block.text += line + "\n"
		default:
			for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
				all = append(all, docCode{at: at, text: strings.ReplaceAll(m[1], `\|`, "|"), span: true})
			}
		}
	}
	return all
}

// callsOf returns the calls of nightporter in a piece of code, each as its
// arguments. Optional words lose their brackets, and of alternatives, "a|b",
// each makes a call of its own.
func callsOf(c docCode) ([][]string, error) {
	text := c.text
	if c.span {
		if !strings.HasPrefix(text, "nightporter ") {
			return nil, nil
		}
	} else if c.lang != "" && c.lang != "sh" && c.lang != "yaml" {
		return nil, nil
	}
	var calls [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "- run: "))
		if !strings.Contains(line, "nightporter ") || !c.span && !programCall.MatchString(line) {
			continue
		}
		for _, line := range alternatives(strings.NewReplacer("[", "", "]", "").Replace(line)) {
			file, err := syntax.NewParser().Parse(strings.NewReader(line), c.at)
			if err != nil {
				return nil, err
			}
			syntax.Walk(file, func(n syntax.Node) bool {
				if call, ok := n.(*syntax.CallExpr); ok {
					if args, ok := argsOf(call); ok {
						calls = append(calls, args)
					}
				}
				return true
			})
		}
	}
	return calls, nil
}

// programCall recognizes a line that calls nightporter, among lines of output.
var programCall = regexp.MustCompile(`^(go run \./cmd/nightporter|(?:[\w./*"$]*/)?nightporter) [a-z-]+(?: [^·]|$)`)

// argsOf returns the arguments of a call if it is one of nightporter.
func argsOf(call *syntax.CallExpr) ([]string, bool) {
	var words []string
	for _, w := range call.Args {
		var b strings.Builder
		for _, part := range w.Parts {
			switch part := part.(type) {
			case *syntax.Lit:
				b.WriteString(part.Value)
			case *syntax.SglQuoted:
				b.WriteString(part.Value)
			default:
				b.WriteString("WORDS")
			}
		}
		words = append(words, b.String())
	}
	switch {
	case len(words) == 0:
		return nil, false
	case words[0] == "nightporter", strings.HasSuffix(words[0], "/nightporter"):
		return words[1:], true
	case len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/nightporter":
		return words[3:], true
	}
	return nil, false
}

var alternative = regexp.MustCompile(`[\w-]+(?:\|[\w-]+)+`)

// alternatives returns a line once for each word of its first "a|b".
func alternatives(line string) []string {
	place := alternative.FindStringIndex(line)
	if place == nil {
		return []string{line}
	}
	var all []string
	for word := range strings.SplitSeq(line[place[0]:place[1]], "|") {
		all = append(all, alternatives(line[:place[0]]+word+line[place[1]:])...)
	}
	return all
}

// checkCall reports what is wrong with the arguments of a call, by the commands
// and flags that nightporter itself reads them with.
func checkCall(args []string) error {
	cmd, rest, err := root().Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if len(cmd.Flags().Args()) > 0 && cmd.HasSubCommands() && cmd.ValidateArgs(cmd.Flags().Args()) != nil {
		return unknownCommand(cmd, cmd.Flags().Arg(0))
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// TestDocsCommands: each command on the pages has a subcommand, flags and a number
// of arguments that nightporter accepts.
func TestDocsCommands(t *testing.T) {
	seen := 0
	for _, c := range docCodes(t) {
		calls, err := callsOf(c)
		if err != nil {
			t.Error(err)
		}
		for _, args := range calls {
			seen++
			if isMention(args) {
				args = args[:1]
				if cmd, _, err := root().Find(args); err != nil || cmd.Name() != args[0] {
					t.Errorf("%s: nightporter %s: there is no such command", c.at, args[0])
				}
				continue
			}
			if err := checkCall(args); err != nil {
				t.Errorf("%s: nightporter %s: %v", c.at, strings.Join(args, " "), err)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d commands were found: are they written otherwise now?", seen)
	}
	for _, bad := range []string{"runn", "run --chekc", "hats shw builder", "verify --head", "pair anna bob"} {
		if checkCall(strings.Fields(bad)) == nil {
			t.Errorf("a planted mistake is not found: nightporter %s", bad)
		}
	}
}

// isMention reports whether a command is only named, without what it needs:
// `nightporter backup`.
func isMention(args []string) bool { return len(args) == 1 && !strings.HasPrefix(args[0], "-") }

// otherFlags are flags on the pages that belong to programs of others.
var otherFlags = []string{"--allow-all", "--auto", "--disallowedTools", "--dry-run", "--effort", "--format", "--help", "--ignore-submodules", "--oss", "--pinentry-mode", "--reasoning-effort", "--setting-sources", "--shared", "--thinking", "--title", "--variant", "--yolo"}

var flagSpan = regexp.MustCompile(`^--[a-z]`)

// TestDocsFlags: each flag on the pages that stands for itself belongs to some
// command of nightporter.
func TestDocsFlags(t *testing.T) {
	known := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root())
	seen := 0
	for _, c := range docCodes(t) {
		if !c.span || !flagSpan.MatchString(c.text) {
			continue
		}
		for word := range strings.FieldsSeq(c.text) {
			name, _, _ := strings.Cut(word, "=")
			if !strings.HasPrefix(name, "--") || slices.Contains(otherFlags, name) {
				continue
			}
			seen++
			if !known[name] {
				t.Errorf("%s: no command of nightporter has the flag %s", c.at, name)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d flags were found: are they written otherwise now?", seen)
	}
}

// otherSlashes are words on the pages that begin with a slash and are no commands of a
// chat: folders, commands of the platforms themselves, and placeholders.
var otherSlashes = regexp.MustCompile(`^/(?:|cmd.*|dev|invite .*|newbot|porter|proc|revoke|tmp|v1|var)$`)

// TestDocsChatCommands: the bot reads each command of a chat on the pages.
func TestDocsChatCommands(t *testing.T) {
	seen := 0
	for _, c := range docCodes(t) {
		if !c.span || !strings.HasPrefix(c.text, "/") || strings.Contains(strings.Fields(c.text)[0][1:], "/") || otherSlashes.MatchString(c.text) {
			continue
		}
		for _, line := range chatLines(c.text) {
			seen++
			if _, err := bot.Parse(line); err != nil {
				t.Errorf("%s: %s: %v", c.at, line, err)
			}
		}
	}
	if seen < 150 {
		t.Errorf("only %d commands were found: are they written otherwise now?", seen)
	}
	var unknown *bot.UnknownError
	if _, err := bot.Parse("/statsu"); !errors.As(err, &unknown) {
		t.Errorf("a planted mistake is not found: %v", err)
	}
}

// chatLines returns the lines that a span stands for: several commands may stand in
// one, and Slack has `/porter` in front.
func chatLines(text string) []string {
	if rest, ok := strings.CutPrefix(text, "/porter "); ok {
		return []string{"/" + rest}
	}
	if words := strings.Fields(text); len(words) > 1 && strings.HasPrefix(words[1], "/") {
		return words
	}
	return []string{strings.NewReplacer("[", "", "]", "").Replace(text)}
}
