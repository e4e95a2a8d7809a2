package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/store"
)

// askFlags are the flags of every command that is answered by the daemon or,
// without one, by this process.
type askFlags struct {
	state, config, project string
	first                  firstUse
}

// firstUse says what a command does where nothing was ever started.
type firstUse int

const (
	firstRefuses firstUse = iota // a mistyped --state is told
	firstBegins                  // begins the state folder: the command changes something
	firstLooks                   // answers from the configuration, and leaves no state folder
)

func (f *askFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.state, "state", "", "state folder")
	cmd.Flags().StringVar(&f.config, "config", "", "configuration file")
	cmd.Flags().StringVar(&f.project, "project", "", "project, where there is more than one")
}

// ask calls do with the daemon, or with this process if there is no daemon.
func (f *askFlags) ask(ctx context.Context, do func(asker) error) error {
	state, err := config.StateDir(f.state)
	if err != nil {
		return err
	}
	cfg, err := loadConfig(f.config)
	if err != nil {
		if !daemon.Listens(state) {
			return err
		}
		// The daemon has settings in force. A mistake in the file must not keep
		// the operator from querying or stopping it.
		cfg = config.Empty()
	}
	if _, err := os.Stat(state); errors.Is(err, fs.ErrNotExist) && len(cfg.Projects) > 0 && f.first != firstRefuses {
		if f.first == firstLooks {
			if state, err = os.MkdirTemp("", "nightporter-"); err != nil {
				return err
			}
			defer func() { _ = os.RemoveAll(state) }() // it has nothing but an empty ledger
		} else if err := os.MkdirAll(state, 0o700); err != nil {
			return fmt.Errorf("state folder: %w", err)
		}
	}
	err = withAsker(ctx, state, cfg, do)
	if _, told := errors.AsType[*daemon.DamagedError](err); errors.Is(err, store.ErrBroken) && !told {
		err = &daemon.DamagedError{State: state, Err: err} // found in this process after its start
	}
	if damaged, ok := errors.AsType[*daemon.DamagedError](err); ok {
		printProblems(os.Stderr, damaged)
		return exitCode(1)
	}
	if lost, ok := errors.AsType[*daemon.LostLedgerError](err); ok {
		printProblems(os.Stderr, lost)
		return exitCode(1)
	}
	return err
}

// restoreAdvice says on lines of its own how to go back to the last backup, "" if
// the state folder is not known.
func (f *askFlags) restoreAdvice() string {
	state, err := config.StateDir(f.state)
	if err != nil {
		return ""
	}
	return "\n" + daemon.RestoreAdvice(state)
}

// asker answers commands and views: the daemon or this process.
type asker = daemon.Asker

// withAsker calls f with the daemon of the state folder or, without one, with
// this process.
func withAsker(ctx context.Context, state string, cfg *config.Config, f func(asker) error) error {
	return daemon.Ask(ctx, daemon.Options{Version: Version, State: state, Config: cfg, Person: personName()}, f)
}

// loadConfig loads the configuration; without a file it returns an empty one.
func loadConfig(explicit string) (*config.Config, error) {
	path, err := config.Find(explicit)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return config.Empty(), nil
	}
	return config.Load(path)
}

// configuredZone returns the time zone of the configuration, whose clock is the person's,
// and the host's where there is no configuration or none that can be read.
func configuredZone(explicit string) *time.Location {
	if cfg, err := loadConfig(explicit); err == nil {
		if zone, err := cfg.Zone(); err == nil {
			return zone
		}
	}
	return time.Local
}

// personName returns the operator's name as other people see it.
func personName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "console"
}

func viewCommand(name, short string, args cobra.PositionalArgs) *cobra.Command {
	return argsViewCommand(name, short, args, nil)
}

// argsViewCommand is viewCommand with arguments of the view, which are read when it
// is asked for.
func argsViewCommand(name, short string, args cobra.PositionalArgs, of map[string]string) *cobra.Command {
	f := askFlags{first: firstRefuses}
	if name == "tasks" || name == "status" {
		f.first = firstLooks
	}
	var asJSON bool
	cmd := &cobra.Command{
		Use: name, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.ask(cmd.Context(), func(a asker) error {
				r, err := a.View(cmd.Context(), api.View{Name: name, Project: f.project, Args: of})
				return printReply(cmd, r, err, asJSON)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// lineCommand returns the shell form of a chat command.
func lineCommand(name, command, args, short string) *cobra.Command {
	f := askFlags{first: firstRefuses}
	if command == "/add" || command == "/bug" {
		f.first = firstBegins
	}
	var now bool
	var file string
	cmd := &cobra.Command{
		Use: strings.TrimSpace(name + " " + args), Short: short,
		RunE: func(cmd *cobra.Command, words []string) error {
			if file != "" {
				text, err := readWords(file, cmd.InOrStdin())
				if err != nil {
					return err
				}
				words = append(words, text)
			}
			key := "cli:" + nonce()
			return f.ask(cmd.Context(), func(a asker) error {
				line := strings.TrimSpace(command + " " + strings.Join(words, " "))
				if now && !slices.Equal(words, []string{"now"}) {
					line += " now"
				}
				r, err := a.Command(cmd.Context(), api.Command{Key: key, Project: f.project, Text: line, Actor: "console"})
				return printReply(cmd, r, err, false)
			})
		},
	}
	f.add(cmd)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fmt.Errorf("%w. Words that begin with - stand after --: nightporter %s -- \"- …\"", err, name)
	})
	if strings.Contains(args, "[now]") {
		cmd.Flags().BoolVar(&now, "now", false, "cut the session in hand off")
	}
	if strings.Contains(args, "--file") {
		cmd.Flags().StringVar(&file, "file", "", "take the text from this `path`; - is standard input")
	}
	return cmd
}

// maxWords limits the text that a command takes from a file, in bytes. The command
// itself may take less, and says so.
const maxWords = 256 << 10

// readWords returns the text of a file that is given to a command. "-" is stdin.
func readWords(path string, stdin io.Reader) (string, error) {
	in := stdin
	if path != "-" {
		// O_NONBLOCK: a pipe that nobody writes into must not hold the command.
		file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return "", fmt.Errorf("--file: %w", err)
		}
		if is, err := file.Stat(); err != nil || !is.Mode().IsRegular() {
			_ = file.Close() // nothing was read
			return "", fmt.Errorf("--file %s: it is no file of text. Name one, or send the text to --file -", path)
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, maxWords+1))
	text := strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))
	switch {
	case err != nil:
		return "", fmt.Errorf("--file %s: %w", path, err)
	case len(data) > maxWords:
		return "", fmt.Errorf("--file %s: it has more than %d bytes. Name the file in a sentence instead, if it is in the repository", path, maxWords)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", fmt.Errorf("--file %s: it is not UTF-8 text", path)
	case text == "":
		return "", fmt.Errorf("--file %s: there is no text in it", path)
	}
	return text, nil
}

func nonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// printReply prints an answer. A refusal ends with exit code 1.
func printReply(cmd *cobra.Command, r api.Reply, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	var lines []json.RawMessage
	switch {
	case asJSON && json.Unmarshal(r.Data, &lines) == nil: // a list: JSON Lines
		for _, line := range lines {
			fmt.Fprintln(cmd.OutOrStdout(), string(line))
		}
	case asJSON && len(r.Data) > 0:
		fmt.Fprintln(cmd.OutOrStdout(), string(r.Data))
	case asJSON:
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), string(line))
	case r.OK:
		fmt.Fprintln(cmd.OutOrStdout(), r.Text)
	default:
		fmt.Fprintln(cmd.ErrOrStderr(), r.Text)
	}
	if !r.OK {
		return exitCode(1)
	}
	return nil
}

func evidenceCommand() *cobra.Command {
	var f askFlags
	var asJSON, asHTML bool
	var file string
	cmd := &cobra.Command{
		Use: "evidence TASK|wave N", Short: "What proves that a task was done", Args: cobra.MinimumNArgs(1),
		Long: `What proves that a task was done, step by step; 7.1 is the first attempt at task 7,
"wave 2" the second wave of the last run on bug reports, "r14 wave 2" that of r14.
The hash chain of these entries is recomputed, up to the newest head that a commit
names.
Exit code 0: whole. 1: the ledger was altered; do not trust what is shown.

--json prints each entry as a line, and {"chain": …} as the last one. --html prints a
page that opens offline, with what people sent; --output writes it to a file.`,
		RunE: func(cmd *cobra.Command, words []string) error {
			view := api.View{Name: "evidence", Project: f.project, Args: map[string]string{"task": strings.Join(words, " ")}}
			if asHTML = asHTML || file != ""; asHTML {
				view.Args["html"] = "yes"
			}
			return f.ask(cmd.Context(), func(a asker) error {
				r, err := a.View(cmd.Context(), view)
				if err != nil || !asHTML || len(r.Data) == 0 { // without data there is no such task
					return printReply(cmd, r, err, asJSON)
				}
				return writePage(cmd, r, file)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asHTML, "html", false, "print a page that opens offline")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write the page to this `file`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	cmd.MarkFlagsMutuallyExclusive("json", "html")
	cmd.MarkFlagsMutuallyExclusive("json", "output")
	return cmd
}

// writePage prints a page or writes it to a file. It says the reply's exit code.
func writePage(cmd *cobra.Command, r api.Reply, file string) error {
	switch {
	case file == "":
		fmt.Fprint(cmd.OutOrStdout(), r.Text)
	default:
		if err := os.WriteFile(file, []byte(r.Text), 0o600); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s, opens in any browser\n", bot.SignDone, file)
	}
	if !r.OK {
		return exitCode(1)
	}
	return nil
}

func verifyCommand() *cobra.Command {
	var f askFlags
	var heads []string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "verify [--head N:HASH]…", Short: "Check that the ledger is whole", Args: cobra.NoArgs,
		Long: `Check that no entry of the ledger was altered, removed or cut off: recompute
every hash, compare the chain with the heads in the commits of tasks (in
nightporter's repository and in yours), look for the commits that the ledger
names, fold everything anew and compare that with what is stored and shown.

--head 41:9f86d081884c compares entry 41 with a head that you kept: from a
digest, or the whole footer of a commit. It is looked for in --project, or in
all projects; shop@41:9f86d081884c names one.

Exit code 0: whole. 1: altered, with the places. 3: could not be asked.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, h := range heads {
				if _, err := store.ParseHead(h); err != nil {
					return fmt.Errorf("--head: %w", err)
				}
			}
			return f.ask(cmd.Context(), func(a asker) error {
				view := api.View{Name: "verify", Project: f.project}
				if len(heads) > 0 {
					view.Args = map[string]string{"head": strings.Join(heads, "\n")}
				}
				r, err := a.View(cmd.Context(), view)
				var found struct {
					Damaged bool `json:"damaged"`
				}
				if err == nil && !asJSON && json.Unmarshal(r.Data, &found) == nil && found.Damaged {
					r.Text += f.restoreAdvice()
				}
				return printReply(cmd, r, err, asJSON)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&heads, "head", nil, "a head of the ledger that you kept: 41:9f86d081884c; may be repeated")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
