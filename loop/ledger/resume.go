package ledger

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// ResumeCommand returns the exact shell command that resumes a run.
func (s Settings) ResumeCommand() string {
	if s.Stays { // a run of the daemon is resumed in a chat: /run PROJECT
		cmd := "nightporter start " + s.Project
		if s.Operator != "" {
			cmd += " " + s.Operator
		}
		return cmd
	}
	cmd := fmt.Sprintf("nightporter run --repo %s --source %s", shellWord(s.Repo), shellWord(s.Source.String()))
	if s.Profile != "" && s.Profile != "review" {
		cmd += " --profile " + s.Profile
	}
	if s.Flags != "" {
		cmd += " " + s.Flags
	}
	return cmd
}

// fromFlag is --from with its value, as the shell reads it.
var fromFlag = regexp.MustCompile(`(^| )--from ('[^']*'|\\'|[^ '])+`)

// WithoutFrom returns the settings of a run that begins with the first open task.
func (s Settings) WithoutFrom() Settings {
	if at := fromFlag.FindStringSubmatchIndex(s.Flags); s.From != "" && at != nil {
		s.Flags = strings.TrimSpace(s.Flags[:at[0]] + s.Flags[at[1]:])
	}
	s.From = ""
	return s
}

func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:@+,", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
