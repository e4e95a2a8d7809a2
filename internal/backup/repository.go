package backup

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// allowedSettings are the keys that the configuration of our repositories may
// have, with their possible values; nil permits any. Other keys could make git
// run a program or read elsewhere.
var allowedSettings = map[string][]string{
	"core.repositoryformatversion": {"0", "1"},
	"core.filemode":                {"true", "false"},
	"core.bare":                    {"true"},
	"core.ignorecase":              {"true", "false"},
	"core.precomposeunicode":       {"true", "false"},
	"core.symlinks":                {"true", "false"},
	"core.logallrefupdates":        {"true", "false", "always"},
	"core.fsync":                   {"all"},
	"core.hookspath":               {"/dev/null"},
	"extensions.objectformat":      {"sha1", "sha256"},
	"gc.auto":                      {"0"},
	"maintenance.auto":             {"false"},
}

// CheckConfig returns an error for a bare repository whose configuration has
// any key or value outside of settings.
func CheckConfig(ctx context.Context, dir string) error {
	file := filepath.Join(dir, "config")
	out, err := git(ctx, "config", "--file", file, "--no-includes", "--null", "--list")
	if err != nil {
		return fmt.Errorf("check %s: %w", file, err)
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if values, ok := allowedSettings[key]; !ok || !slices.Contains(values, value) {
			return fmt.Errorf("check %s: nightporter sets no %q to %q", file, key, value)
		}
	}
	return nil
}

// CheckObjects checks that a bare repository has every object that its refs
// reach. The caller has called CheckConfig before.
func CheckObjects(ctx context.Context, dir string) error {
	if _, err := git(ctx, "--git-dir="+dir, "fsck", "--connectivity-only", "--no-dangling", "--no-progress"); err != nil {
		return fmt.Errorf("check %s: %w", dir, err)
	}
	return nil
}

// git runs git without the configuration of user and machine.
func git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null", "GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*"}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(errs.Bytes()[:min(errs.Len(), 500)]))
	}
	return out, nil
}
