package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/fsutil"
)

// write writes all that was decided: the first plan, the token and the configuration,
// each whole or not at all. Without the configuration no token is left behind.
func (p *initWizard) write(d initDraft) (err error) {
	if d.sample {
		if err := writeSample(d.project.Repo, sampleOf()); err != nil {
			return err
		}
	}
	if err := makeFolder(d.file, p.flags.config == ""); err != nil {
		return err
	}
	if d.token != "" {
		file := filepath.Join(filepath.Dir(d.file), d.global.TokenFile)
		if err := writeToken(file, d.token); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				_ = os.Remove(file)
			}
		}()
	}
	added := ""
	if d.global.TokenFile != "" && d.exists {
		added = propose.Chat(d.global.Phone)
	}
	switch {
	case d.known:
		return appendFile(d.file, added)
	case d.exists:
		if added != "" {
			added += "\n"
		}
		return appendFile(d.file, added+propose.Block(d.project))
	}
	backup := ""
	if d.replaces {
		if backup, err = renameAside(d.file); err != nil {
			return err
		}
		fmt.Fprintf(p.out, "%s The old file is %s\n", bot.SignDone, backup)
	}
	if err = createFile(d.file, propose.File(d.global, d.project)); err != nil && backup != "" {
		err = errors.Join(err, os.Rename(backup, d.file)) // a failed attempt must not lose the old file
	}
	return err
}

// writeToken writes a file that only its owner may read. It never replaces one.
func writeToken(file, token string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the token: %w", err)
	}
	_, err = f.WriteString(token + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the token: %w", errors.Join(err, os.Remove(file)))
	}
	return nil
}

// makeFolder makes the folder of the configuration. private is for the one that the
// XDG base directory specification wants for its owner alone.
func makeFolder(file string, private bool) error {
	mode := fs.FileMode(0o755)
	if private {
		mode = 0o700
	}
	if err := os.MkdirAll(filepath.Dir(file), mode); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// writeChecked loads text as the configuration before write makes it the file,
// so that init never writes a file that nightporter refuses.
func writeChecked(file, text string, write func(tmp string) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".nightporter-*.toml")
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone if it became the file
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if _, err := config.Load(tmp.Name()); err != nil {
		return fmt.Errorf("the proposal does not hold, and nothing was written; please write %s by hand:\n%w", file, err)
	}
	return write(tmp.Name())
}

// createFile writes a new configuration. It never replaces a file, even if one
// appears during the call.
func createFile(file, text string) error {
	return writeChecked(file, text, func(tmp string) error {
		if err := fsutil.Publish(tmp, file); err != nil {
			return fmt.Errorf("write the configuration: %w", err)
		}
		return nil
	})
}

// appendFile adds text to the end of a file. It keeps the file's bytes, links,
// owner and mode.
func appendFile(file, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("append to the configuration: %w", err)
	}
	eol := "\n"
	if strings.Contains(string(old), "\r\n") {
		eol = "\r\n"
		text = strings.ReplaceAll(text, "\n", eol)
	}
	if len(old) > 0 {
		text = eol + text
		if old[len(old)-1] != '\n' {
			text = eol + text
		}
	}
	return writeChecked(file, string(old)+text, func(string) error {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return fmt.Errorf("append to the configuration: %w", err)
		}
		n, err := f.WriteString(text)
		if err != nil && n > 0 { // removes an incomplete section, with which nightporter would not start
			err = errors.Join(err, f.Truncate(int64(len(old))))
		}
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("append to the configuration: %w", err)
		}
		return nil
	})
}

// renameAside renames a file to the first unused name of FILE.1, FILE.2, ….
func renameAside(file string) (string, error) {
	for n := 1; ; n++ {
		backup := fmt.Sprintf("%s.%d", file, n)
		err := fsutil.Publish(file, backup)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("put the old configuration aside: %w", err)
		}
		return backup, nil
	}
}
