package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/session"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxToken limits the size of a token's file, in bytes.
const maxToken = 64 << 10

// loginFlags are the flags of `nightporter login AGENT`.
type loginFlags struct {
	from, tokenFile, config, state string
	remove                         bool
}

func loginCommand() *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use:   "login AGENT",
		Short: "Give an agent's sessions the login that you have",
		Long: `Give an agent's sessions the login that you have, by a copy in the state folder
that no session sees. Only the login is copied: no history, no settings.

` + adapter.LoginHelp() + `
A login of your own is renewed by the sessions, one at a time: with
max_sessions over 1 they wait for one another. A token or a key has no such
limit. A key that env_file names comes before all of them.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := f.login(cmd, args[0])
			if err != nil {
				printProblems(cmd.ErrOrStderr(), err)
				return exitCode(exitUsage)
			}
			fmt.Fprint(cmd.OutOrStdout(), text)
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.from, "from", "", "home folder to take the login from (default: yours)")
	fl.StringVar(&f.tokenFile, "token-file", "", "file with a token or an API key; - for standard input")
	fl.BoolVar(&f.remove, "remove", false, "forget the login")
	fl.StringVar(&f.config, "config", "", "configuration file")
	fl.StringVar(&f.state, "state", "", "state folder")
	cmd.MarkFlagsMutuallyExclusive("from", "token-file", "remove")
	return cmd
}

// login executes the flags and returns the text to print.
func (f *loginFlags) login(cmd *cobra.Command, name string) (string, error) {
	cfg, err := loadConfig(f.config)
	if err != nil {
		return "", err
	}
	d, known := session.Definitions(cfg)[name]
	row := adapter.FindOutput(d.Output)
	if !known || row == nil || !row.Login.Needed() {
		return "", &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text:   fmt.Sprintf("%q is no agent that nightporter can log in", name),
			Remedy: "nightporter login " + strings.Join(adapter.LoginNames(), "|") + "; other agents get their keys from env_file in [agents.NAME]",
		}}}
	}
	state, err := config.StateDir(f.state)
	if err != nil {
		return "", err
	}
	if f.remove {
		was, err := agent.RemoveLogin(state, name)
		if err != nil || !was {
			return fmt.Sprintf("○ there was no login for %s\n", name), err
		}
		return fmt.Sprintf("✓ the login of %s is forgotten; your own one is as it was\n", name), nil
	}
	files, note, hint, err := f.read(row.Login, cmd.InOrStdin())
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	if err := agent.SaveLogin(state, name, files); err != nil {
		return "", err
	}
	return fmt.Sprintf("✓ %s's sessions log in with %s\n  kept in %s/logins/%s, which no session sees; nothing else was copied\n%s", name, note, state, name, hint), nil
}

// read obtains the login that the flags select. hint is advice to print with
// it.
func (f *loginFlags) read(login *adapter.Login, stdin io.Reader) (files map[string][]byte, note, hint string, err error) {
	if f.tokenFile != "" {
		data, err := readToken(f.tokenFile, stdin)
		if err != nil {
			return nil, "", "", err
		}
		files, note, err = login.FromToken(data)
		return files, note, "", err
	}
	home := f.from
	if home == "" {
		if home, err = os.UserHomeDir(); err != nil {
			return nil, "", "", fmt.Errorf("your home folder: %w; name it with --from", err)
		}
	}
	files, note, err = login.FromHome(home, time.Now())
	return files, note, login.Hint, err
}

func readToken(path string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("token: %w", err)
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, maxToken))
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	return data, nil
}
