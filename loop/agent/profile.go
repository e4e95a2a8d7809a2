package agent

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// profiles are the files in HOME that login shells read after the system's own:
// sh, dash, ksh and bash read .profile, zsh reads .zprofile. bash reads one of
// the optional ones in place of .profile, if it is there.
var (
	profiles         = []string{".profile", ".zprofile"}
	optionalProfiles = []string{".bash_profile", ".bash_login"}
)

// keepPath writes to the profiles in HOME that the session's PATH comes first.
// The system's profile sets PATH anew, so that a session whose agent runs its
// commands by "bash -lc" would have neither hat, nor the wrappers of denied
// programs, nor the toolchains that the daemon was started with. What the
// system's profile adds stays behind it. It keeps what setup_home has put there.
func (r *Runner) keepPath(home string, env []string) error {
	path := variable(env, "PATH")
	quoted := "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	// The test keeps PATH from growing with each shell in a shell, where the
	// system's profile leaves it alone.
	block := "case \":$PATH:\" in :" + quoted + ":*) ;; *) PATH=" + quoted + "\"${PATH:+:$PATH}\" ;; esac\nexport PATH\n"
	for _, name := range slices.Concat(optionalProfiles, profiles) {
		file := filepath.Join(home, name)
		data, err := os.ReadFile(file)
		if isGone(err) {
			if !slices.Contains(profiles, name) {
				continue
			}
			err = nil
		}
		if err != nil {
			return err
		}
		if strings.HasSuffix(string(data), block) {
			continue
		}
		if len(data) > 0 && data[len(data)-1] != '\n' {
			data = append(data, '\n')
		}
		if err := errors.Join(os.WriteFile(file, append(data, block...), 0o600), r.user.chown(file)); err != nil {
			return err
		}
	}
	return nil
}

// variable returns the value of a variable of an environment, "" without it.
func variable(env []string, name string) string {
	for _, v := range env {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value
		}
	}
	return ""
}
