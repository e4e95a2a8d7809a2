//go:build e2e

package gitea

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/internal/leaktest"
)

// child makes this test binary start a server and wait, for TestEndsWithStarter.
const child = "GITEA_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		s, err := Start(os.Getenv(Variable))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(s.cmd.Process.Pid, strings.TrimPrefix(s.URL, "http://"), s.dir)
		select {}
	}
	leaktest.Main(m.Run)
}

// TestServerGit checks the server itself: its account, git over HTTP and SSH, and a
// commit's status.
func TestServerGit(t *testing.T) {
	s, err := Start(os.Getenv(Variable))
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	for _, pid := range processes(t, s.cmd.Process.Pid) {
		if st, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil && strings.Contains(string(st), "\nUid:\t0\t") {
			t.Errorf("process %d of the server is root's:\n%s", pid, st)
		}
	}
	a, err := s.Account("acme")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Repository(a, "shop"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	command(t, dir, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Key(a, string(public)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_SSH_COMMAND", "ssh -F none -i "+key+" -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null")
	command(t, dir, "git", "clone", "--quiet", s.HTTP(a, "acme", "shop"), "shop")
	shop := filepath.Join(dir, "shop")
	for _, remote := range []string{s.HTTP(a, "acme", "shop"), s.SSH("acme", "shop")} {
		command(t, shop, "git", "-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "--quiet", "--allow-empty", "-m", "one more")
		command(t, shop, "git", "push", "--quiet", remote, "HEAD:refs/heads/main")
		commit := command(t, shop, "git", "rev-parse", "HEAD")
		if tip := s.Tip("acme", "shop", "main"); tip != commit {
			t.Errorf("the branch is at %q, want %s", tip, commit)
		}
		if err := s.Status(a, "acme", "shop", commit, "test", sdk.StatusSuccess); err != nil {
			t.Error(err)
		}
	}
	stop()
	gone(t, s.cmd.Process.Pid, strings.TrimPrefix(s.URL, "http://"))
	if _, err := os.Stat(s.dir); err == nil {
		t.Errorf("%s is still there", s.dir)
	}
}

// TestEndsWithStarter checks that the server ends with a process that is killed.
func TestEndsWithStarter(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	fields := strings.Fields(line)
	if err != nil || len(fields) != 3 {
		t.Fatalf("%q, %v", line, err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(fields[2]); err != nil { // nobody was left to remove it
			t.Error(err)
		}
	})
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	gone(t, pid, fields[1])
}

// gone waits until nothing of a server is left.
func gone(t *testing.T, pid int, address string) {
	t.Helper()
	for end := time.Now().Add(stopTimeout); ; {
		left := processes(t, pid)
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		if len(left) == 0 && err != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("processes %v are left, connect: %v", left, err)
		}
		time.Sleep(50 * time.Millisecond) // between looks at processes that send no event
	}
}

// processes returns the processes of a process group that are no zombies.
func processes(t *testing.T, group int) (out []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if fields[0] != "Z" && fields[2] == strconv.Itoa(group) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			out = append(out, pid)
		}
	}
	return out
}

// command runs a command and returns what it prints.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}
