package programtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nightporter/nightporter/internal/fake/github"
)

// scriptTest is a script as the test that a forge belongs to.
type scriptTest struct {
	ts    *testscript.TestScript
	scene *scene
}

func (t scriptTest) Helper()           {}
func (t scriptTest) Cleanup(f func())  { t.scene.cleanups = append(t.scene.cleanups, f) }
func (t scriptTest) Fatal(args ...any) { t.ts.Fatalf("%s", fmt.Sprint(args...)) }

// Error implements testOf. Requests come from goroutines that cannot end a script: it
// fails by what follows.
func (t scriptTest) Error(args ...any) { fmt.Fprintln(os.Stderr, args...) }

// cmdForge starts a GitHub with the branch main of a repository, and appends its address
// to the configuration.
func cmdForge(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "forge DIR [AGE]")
	s := sceneOf(ts)
	if s.forge != nil {
		ts.Fatalf("there is a forge already")
	}
	s.forge = StartForge(scriptTest{ts, s}, s.Path("forge"), ts.MkAbs(args[0]))
	age := time.Duration(0)
	if len(args) > 1 {
		var err error
		age, err = time.ParseDuration(args[1])
		ts.Check(err)
	}
	s.forge.Advance(time.Until(s.forge.Now()) * -1)
	s.forge.Advance(-age)
	s.forge.Permit("mira", "admin")
	file := s.Path("config", "nightporter", "nightporter.toml")
	text, err := os.ReadFile(file)
	ts.Check(err)
	ts.Check(os.WriteFile(file, append(text, "\n[github]\napi = \""+s.forge.URL+"\"\n"...), 0o600))
	ts.Check(os.WriteFile(s.Path("config", "nightporter", "github.token"), []byte(s.forge.Token+"\n"), 0o600))
}

// cmdIssue does to an issue what people do, or shows it.
func cmdIssue(ts *testscript.TestScript, neg bool, args []string) {
	const use = "issue open LOGIN LABEL,… TITLE BODY | close N | assign N [LOGIN…] | label N LABEL | age DURATION | show N"
	need(ts, neg, args, 2, use)
	forge := sceneOf(ts).forge
	if forge == nil {
		ts.Fatalf("there is no forge")
	}
	number := func() int {
		n, err := strconv.Atoi(args[1])
		ts.Check(err)
		return n
	}
	switch args[0] {
	case "open":
		need(ts, neg, args, 5, use)
		forge.OpenIssue(args[1], args[3], args[4], strings.Split(args[2], ",")...)
	case "close":
		forge.CloseIssue(number(), "completed")
	case "assign":
		forge.Assign(number(), args[2:]...)
	case "label":
		need(ts, neg, args, 3, use)
		forge.Label(number(), args[2], true)
	case "age":
		d, err := time.ParseDuration(args[1])
		ts.Check(err)
		forge.Advance(d)
	case "show":
		fmt.Fprint(ts.Stdout(), issueText(forge.IssueNumbered(number())))
	default:
		ts.Fatalf("usage: %s", use)
	}
}

// issueText returns what people see of an issue.
func issueText(i github.Issue) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s: %s\nlabels: %s\nassigned to: %s\n", i.Number, i.State, i.Title, strings.Join(i.Labels, ", "), strings.Join(i.Assignees, ", "))
	for _, c := range i.Comments {
		fmt.Fprintf(&b, "comment: %s\n", strings.ReplaceAll(strings.TrimSpace(c), "\n", "\n  "))
	}
	return b.String()
}
