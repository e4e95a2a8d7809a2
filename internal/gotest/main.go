// Command gotest runs go test as make test does: it prints what go test prints
// without -v, and at the end one line with the time that was taken and the
// tests that were skipped, each with the reason that it gave.
//
//	gotest [-began SECONDS] ARG… -- GROUP… [-- GROUP…]…
//
// The arguments before the first "--" are those of every group. A group is a
// go test of its own, with the rest of its arguments; the groups run one after
// another, all of them even if one fails. -began is when the work began, in
// seconds since 1970, where something was done before.
//
// The exit code is 0 where every test passed, else 1.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"time"
)

func main() {
	began, common, groups, err := parse(os.Args[1:], time.Now())
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(2)
	}
	// Ctrl-C reaches go test, too; what it says of it is still printed.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	s := newSummary(os.Stdout)
	for _, group := range groups {
		if err := goTest(s, slices.Concat([]string{"test", "-json"}, common, group)); err != nil {
			s.failed = true
			fmt.Fprintln(os.Stderr, "gotest:", err)
		}
	}
	fmt.Println(s.line(time.Since(began)))
	if s.failed {
		os.Exit(1)
	}
}

func parse(args []string, now time.Time) (began time.Time, common []string, groups [][]string, err error) {
	began = now
	if len(args) > 1 && args[0] == "-began" {
		seconds, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil {
			return began, nil, nil, fmt.Errorf("-began %s: want seconds since 1970", args[1])
		}
		began, args = time.Unix(seconds, 0), args[2:]
	}
	for _, a := range args {
		switch {
		case a == "--":
			groups = append(groups, nil)
		case groups == nil:
			common = append(common, a)
		default:
			groups[len(groups)-1] = append(groups[len(groups)-1], a)
		}
	}
	if groups == nil {
		groups = [][]string{nil} // a single go test
	}
	return began, common, groups, nil
}

// goTest adds one go test to s. A failed test is no error: s knows of it.
func goTest(s *summary, args []string) error {
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := s.read(out)
	_, _ = io.Copy(io.Discard, out) // go test must not wait for a reader
	if err := cmd.Wait(); err != nil {
		s.failed = true
		if _, is := err.(*exec.ExitError); !is {
			return err
		}
	}
	return readErr
}
