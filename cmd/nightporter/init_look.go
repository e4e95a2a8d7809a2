package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
	"github.com/nightporter/nightporter/loop/workspace"
)

// maxOthers limits the number of other sources that are listed.
const maxOthers = 10

// foundSource is one source of a repository.
type foundSource struct {
	task.Found
	modified time.Time
}

func (f foundSource) String() string { return f.Kind.Name + ":" + f.Path }

// seen says what a source is, why, and how much there is to do:
// "TODO.md: plan, boxes `- [ ]`, 12 tasks, 5 open".
func (f foundSource) seen() string {
	what := f.Path + ": " + f.Kind.Name
	if f.Why != "" {
		what += ", " + f.Why
	}
	switch {
	case f.Err != nil:
		return what + ", has mistakes"
	case f.Open == 0:
		return fmt.Sprintf("%s, %s, none open", what, countNoun(f.Tasks, "task"))
	}
	return fmt.Sprintf("%s, %s, %d open", what, countNoun(f.Tasks, "task"), f.Open)
}

// chooseSource finds the repository's sources. If there is none, it proposes to
// write one.
func (p *initWizard) chooseSource(ctx context.Context, out *propose.Project) error {
	kind := task.Proposed()
	found, err := findSources(ctx, out.Repo)
	if err != nil {
		return err
	}
	if len(found) == 0 && p.flags.sample && p.ask == nil {
		if err := writeSample(out.Repo, kind.Sample); err != nil {
			return err
		}
		if found, err = findSources(ctx, out.Repo); err != nil {
			return err
		}
	}
	if len(found) == 0 && p.chooseIssues(ctx, out) {
		return nil
	}
	if len(found) == 0 {
		out.Source, out.SourceWhy = kind.Name+":"+kind.Sample.Path, fmt.Sprintf("This %s is not there yet.", kind.Name)
		p.addLine(bot.SignLook, kind.Name, "none in %s yet; write %s:", kind.Folder, kind.Sample.Path)
		for _, line := range kind.Sample.Form {
			p.addDetail("%s", line)
		}
		if p.ask == nil {
			p.addDetail("or let one be written: nightporter init --sample-plan%s", p.repeatedFlags())
		}
		return nil
	}
	first := found[0]
	out.Source = first.String()
	switch name := first.Kind.Name; {
	case first.Err != nil:
		out.SourceWhy = "It has mistakes: nightporter tasks --lint shows them."
		p.addLine(bot.SignLook, name, "%s cannot be used as it is:", first.Path)
		p.addMistakes(first.Err)
	case first.Open == 0:
		out.SourceWhy = "All of its tasks are done."
		p.addLine(bot.SignLook, name, "%s", first.seen())
	default:
		out.SourceWhy = fmt.Sprintf("%s, %d open.", countNoun(first.Tasks, "task"), first.Open)
		if len(found) > 1 {
			out.SourceWhy = "The newest list with open tasks: " + out.SourceWhy
		}
		p.addLine(bot.SignDone, name, "%s", first.seen())
	}
	for i, other := range found[1:] {
		if i == maxOthers {
			p.addLine(bot.SignAway, "also", "%d more", len(found)-1-i)
			break
		}
		state := fmt.Sprintf(" (%s, %d open)", countNoun(other.Tasks, "task"), other.Open)
		if other.Err != nil {
			state = " (has mistakes)"
		}
		out.Others = append(out.Others, other.String()+state)
		p.addLine(bot.SignAway, other.Kind.Name, "also there: %s", other.seen())
	}
	return nil
}

// issueLabel is the label of the issues that init proposes as tasks.
const issueLabel = "nightporter"

// chooseIssues proposes the issues of a repository without a list, if its remote is
// a forge that has issues. It goes by the remote's address and asks no server.
func (p *initWizard) chooseIssues(ctx context.Context, out *propose.Project) bool {
	remote, err := readGit(ctx, out.Repo, "ls-remote", "--get-url", "origin")
	if err != nil {
		return false
	}
	at, err := forge.Parse(remote)
	if err != nil || at.Kind == "" || at.Kind == ledger.ForgePlain {
		return false
	}
	kind := forge.KindOf(at.Kind)
	out.Source = "forge:" + issueLabel
	out.SourceWhy = fmt.Sprintf("No list is here: open issues of %s with the label %s, by a token in %s.", at.Repository(), issueLabel, kind.File)
	p.addLine(bot.SignLook, "forge", "no list in the repository: open issues of %s on %s with the label %s are its tasks", at.Repository(), kind.Title, issueLabel)
	p.addDetail("%s: %s beside the configuration", kind.Remedy, kind.File)
	p.addDetail("or let a list be written: nightporter init --sample-plan%s", p.repeatedFlags())
	return true
}

// addMistakes reports the mistakes in a source, at most three.
func (p *initWizard) addMistakes(err error) {
	var in *ledger.InputError
	if !errors.As(err, &in) {
		p.addDetail("%v", err)
		return
	}
	for i, f := range in.Diagnostics {
		if i == 3 {
			p.addDetail("and %d more", len(in.Diagnostics)-3)
			return
		}
		p.addDetail("%s", f)
	}
}

// findSources reads the sources of a repository, of every kind. It sorts those
// with open tasks first, the newest before older ones, then finished ones, then
// those with mistakes.
func findSources(ctx context.Context, repo string) ([]foundSource, error) {
	all, err := task.FindAll(ctx, repo)
	if err != nil {
		return nil, err
	}
	var found []foundSource
	for _, f := range all {
		if propose.Plain(f.Path) != f.Path {
			continue // the configuration cannot express the name
		}
		source := foundSource{Found: f}
		if info, err := os.Lstat(filepath.Join(repo, filepath.FromSlash(f.Path))); err == nil {
			source.modified = info.ModTime()
		}
		found = append(found, source)
	}
	rank := func(f foundSource) int {
		switch {
		case f.Err != nil:
			return 2
		case f.Open == 0:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(found, func(a, b foundSource) int {
		return cmp.Or(rank(a)-rank(b), b.modified.Compare(a.modified))
	})
	return found, nil
}

// writeSample writes the first source of a repository and gives it to the
// repository's owner. It follows no link that leads out of the repository.
func writeSample(repo string, sample *task.Sample) (err error) {
	fail := func(err error) error { return fmt.Errorf("write a first plan: %w", err) }
	root, err := os.OpenRoot(repo)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = root.Close() }()
	var made []string
	for dir := path.Dir(sample.Path); dir != "."; dir = path.Dir(dir) {
		if _, err := root.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			made = append([]string{filepath.Join(repo, dir)}, made...)
		}
	}
	if err := root.MkdirAll(path.Dir(sample.Path), 0o755); err != nil {
		return fail(err)
	}
	f, err := root.OpenFile(sample.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fail(err)
	}
	_, err = f.WriteString(sample.Text)
	if err = errors.Join(err, f.Close(), chownLike(repo, append(made, filepath.Join(repo, sample.Path))...)); err != nil {
		return fail(err)
	}
	return nil
}

// countNoun returns a number with its noun.
func countNoun(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// topFolder returns the top folder of the checkout that contains dir, or the
// current folder.
func topFolder(ctx context.Context, dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	// Pick reports a missing folder and one that is no repository in the same
	// words as a run.
	if _, err := config.Empty().Pick(config.Overrides{Repo: abs}, abs); err != nil {
		return "", err
	}
	if found := workspace.Obstacles(ctx, abs); len(found) > 0 {
		return "", &ledger.InputError{Diagnostics: found}
	}
	top, err := readGit(ctx, abs, "rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return "", &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text: abs + " has no checkout: " + strings.TrimPrefix(fmt.Sprint(err), "fatal: "), Remedy: "Give the top folder of one: --repo DIR",
		}}}
	}
	return top, nil
}

// readGit runs a git command that reads, so that no program from the
// repository's configuration is executed. It returns the output without its
// line end.
func readGit(ctx context.Context, dir string, args ...string) (string, error) {
	// The repository may belong to another user, for example if root runs init.
	// Reading names is safe there.
	args = append([]string{"-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-C", dir}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, "GIT_CONFIG_") // GIT_DIR and similar variables select another repository
	}), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		if text, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n"); text != "" {
			err = errors.New(text)
		}
		return "", err
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// branchName matches the names that the configuration accepts for a branch.
var branchName = regexp.MustCompile(`^[^-\s~^:?\\\x00-\x1f\x7f][^\s~^:?\\\x00-\x1f\x7f]*$`)

// protectedBranches proposes the branches that sessions must never write: the
// remote's default branch, the checked-out one, and main and master if they
// exist.
func protectedBranches(ctx context.Context, repo string) []string {
	var names []string
	add := func(name string) {
		if name != "" && branchName.MatchString(name) && !strings.HasPrefix(name, "nightporter/") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	remote, err := readGit(ctx, repo, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
	if err == nil {
		add(strings.TrimPrefix(remote, "origin/"))
	}
	for _, name := range []string{"main", "master"} {
		if _, err := readGit(ctx, repo, "show-ref", "--verify", "--quiet", "refs/heads/"+name); err == nil {
			add(name)
		}
	}
	if len(names) == 0 {
		current, err := readGit(ctx, repo, "symbolic-ref", "--quiet", "--short", "HEAD")
		if err == nil {
			add(current)
		}
	}
	if len(names) == 0 {
		return []string{"main", "master"}
	}
	return names
}

// chooseAgent chooses the project's agent: the first agent of the table
// that is on PATH, else one from the file. Without one it leaves the agent unset,
// and preflight names the fix: the scripted agent would only pretend.
func (p *initWizard) chooseAgent(cfg *config.Config, out *propose.Project) {
	for _, a := range adapter.All() {
		if a.Origin != adapter.FromPath {
			continue
		}
		path, err := exec.LookPath(a.Program)
		switch {
		case err != nil:
		case out.Agent == "":
			out.Agent, out.AgentWhy = a.Name, "Found as "+path+"."
			p.addLine(bot.SignDone, "agent", "%s (%s)", a.Name, path)
		}
	}
	for _, name := range cfg.AgentNames() {
		if _, own := cfg.Agents[name]; out.Agent == "" && own && len(cfg.Agents[name].Command) > 0 {
			out.Agent, out.AgentWhy = name, "The command of [agents."+name+"]."
			p.addLine(bot.SignDone, "agent", "%s, as the file has it", name)
		}
	}
	if models := cfg.TiersText(out.Agent); models != "" {
		p.addLine(bot.SignDone, "models", "%s", models)
		p.addDetail("nightporter hats shows which hat asks for which")
	}
	if out.Agent == "" {
		standard := adapter.Find(adapter.Default)
		out.Advised = standard.Name
		out.AgentWhy = fmt.Sprintf("No agent was found on PATH. Install one, for example: %s; then: nightporter login %s", standard.Install, standard.Name)
		p.addLine(bot.SignLook, "agent", "none found on PATH; no run starts without one:")
		p.addDetail("%s", standard.Install)
		p.addDetail("nightporter login %s", standard.Name)
	}
}

func onPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// hostZone returns the host's time zone by its IANA name, and the file that
// names it; "" if the host names none.
func hostZone() (zone, why string) {
	known := func(name string) bool {
		if name == "" || name == "Local" || filepath.IsAbs(name) {
			return false
		}
		_, err := time.LoadLocation(name)
		return err == nil
	}
	if name := strings.TrimPrefix(os.Getenv("TZ"), ":"); known(name) {
		return name, "The one in the variable TZ." + zoneRemark(name)
	}
	if link, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(link, "/zoneinfo/"); ok && known(name) {
			return name, "This host's, by /etc/localtime." + zoneRemark(name)
		}
	}
	if data, err := os.ReadFile("/etc/timezone"); err == nil {
		if name := strings.TrimSpace(string(data)); known(name) {
			return name, "This host's, by /etc/timezone." + zoneRemark(name)
		}
	}
	return "", ""
}

// zoneRemark returns a remark about zones that servers have and people rarely
// live in, or "".
func zoneRemark(zone string) string {
	if zone == "UTC" || strings.HasPrefix(zone, "Etc/") {
		return " Servers often have it; put yours here if you live by another."
	}
	return ""
}
