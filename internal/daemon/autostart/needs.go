package autostart

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/config"
)

// lookAtNeeds looks at what a start of the project needs, and makes the project be
// considered if that changed. It runs beside run: a file system that hangs would keep
// all other projects from starting.
func (s *Autostarter) lookAtNeeds(pr config.Project) {
	needs := s.needs(pr)
	s.mu.Lock()
	x := s.projectState(pr.Name)
	changed := x.needs != "" && needs != x.needs
	if changed {
		x.dirty, x.changed = true, time.Now()
	}
	x.needs, x.looking = needs, false
	s.mu.Unlock()
	if changed {
		s.nudge()
	}
}

// needs describes the files without which a run of the project does not start: the
// programs of agents, and the repository's HEAD and its log. A person who changes one
// of them may have mended what kept a run from starting.
func (s *Autostarter) needs(pr config.Project) string {
	cfg := s.o.Projects.Config()
	git := filepath.Join(pr.Repo, ".git")
	paths := []string{pr.Repo, git, filepath.Join(git, "HEAD"), filepath.Join(git, "logs", "HEAD"), filepath.Join(git, "refs"), filepath.Join(git, "objects")}
	programs := []string{pr.Agent}
	for name, a := range cfg.Agents {
		programs = append(programs, name)
		if len(a.Command) > 0 {
			programs = append(programs, a.Command[0])
		}
	}
	for _, program := range programs {
		if !filepath.IsAbs(program) {
			program, _ = exec.LookPath(program)
		}
		if program != "" {
			paths = append(paths, program)
		}
	}
	slices.Sort(paths)
	var seen strings.Builder
	for _, path := range slices.Compact(paths) {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			fmt.Fprintf(&seen, "%s -\n", path)
		case info.IsDir(): // its files come and go
			fmt.Fprintf(&seen, "%s %s\n", path, info.Mode())
		default:
			fmt.Fprintf(&seen, "%s %s %d %d\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return seen.String()
}
