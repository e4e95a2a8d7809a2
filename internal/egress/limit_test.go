package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// scaled returns a size for go test -short, for make test, or for make soak.
func scaled(short, usual, soak int) int {
	switch {
	case testing.Short():
		return short
	case os.Getenv("NIGHTPORTER_SOAK") != "":
		return soak
	}
	return usual
}

// TestTooManyConnections has more connections than permitted: those in excess
// are told so at once, and a place that becomes free is taken.
func TestTooManyConnections(t *testing.T) {
	const limit = 20
	count := scaled(300, 2000, 10_000)
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if most := int(files.Cur) - 500; count > most {
		t.Logf("%d connections instead of %d: %d files may be open", most, count, files.Cur)
		count = most
	}
	o := newOutside(t)
	options := o.options("api.example.com")
	options.MaxConns = limit
	in := start(t, options)
	var held []net.Conn
	for range limit {
		c, r := in.say("CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
		if line, _ := r.ReadString('\n'); !strings.Contains(line, " 200 ") {
			t.Fatalf("%q", line)
		}
		held = append(held, c)
	}
	before := memory()
	var told, cut atomic.Int32
	var all sync.WaitGroup
	conns := make(chan net.Conn, count)
	for range 8 {
		all.Go(func() {
			for range count / 8 {
				c, err := net.Dial("tcp4", in.http.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				conns <- c
				_ = c.SetDeadline(time.Now().Add(30 * time.Second))
				_, _ = io.WriteString(c, "CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n")
				switch line, err := bufio.NewReader(c).ReadString('\n'); {
				case strings.HasPrefix(line, "HTTP/1.1 503 nightporter: more than 20 connections"):
					told.Add(1)
				case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
					cut.Add(1)
				default:
					t.Errorf("%q %v", line, err)
				}
			}
		})
	}
	all.Wait()
	if used := memory() - before; used > 64<<20 {
		t.Errorf("%d MB for refused connections", used>>20)
	}
	t.Logf("%d told, %d cut", told.Load(), cut.Load())
	if told.Load() < int32(count)/2 {
		t.Error("most were not told why")
	}
	close(conns)
	for c := range conns {
		c.Close()
	}
	for _, c := range held {
		c.Close()
	}
	c := in.client(o)
	for code := 0; code != 200; { // the places become free after the connections' ends are seen
		code, _ = get(t, c, "http://api.example.com/")
	}
}

// memory returns what the heap holds.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// zeros is a body without an end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestLargeBody streams a body both ways, by HTTP and in a tunnel, and looks at
// the memory meanwhile.
func TestLargeBody(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // as in the program
	size := int64(scaled(8<<20, 24<<20, 4<<30))
	var most atomic.Int64
	watch := func(stop chan struct{}) {
		for {
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), int64(m.HeapInuse)))
			}
		}
	}
	o := newOutside(t)
	back := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Length", fmt.Sprint(n))
		_, _ = io.Copy(w, io.LimitReader(zeros{}, n))
	})
	server := &http.Server{Handler: back}
	l := listen(t, "127.0.0.1:0")
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	o.serve(exampleAddr+":80", l)
	o.serve("10.0.0.5:8080", l)
	in := start(t, o.options("api.example.com", "files.intern:8080=10.0.0.5"))
	tunnelled := in.client(o)
	tr := tunnelled.Transport.(*http.Transport)
	tr.Proxy = nil
	tr.DialContext = func(context.Context, string, string) (net.Conn, error) {
		c := in.dialTo(in.socks)
		_ = c.SetDeadline(time.Time{})
		if reply := socksDial(t, c, "files.intern", 8080); reply != socksOK {
			return nil, fmt.Errorf("SOCKS reply %d", reply)
		}
		return c, nil
	}
	for name, c := range map[string]*http.Client{"http://api.example.com/": in.client(o), "http://files.intern:8080/": tunnelled} {
		before := memory()
		most.Store(0)
		stop := make(chan struct{})
		go watch(stop)
		r, err := http.NewRequest("POST", name, io.LimitReader(zeros{}, size))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		close(stop)
		if err != nil || n != size || answer.Header.Get("X-Length") != fmt.Sprint(size) {
			t.Errorf("%s: %d bytes came back of %s: %v", name, n, answer.Header.Get("X-Length"), err)
		}
		if used := most.Load() - before; used > 16<<20 {
			t.Errorf("%s: %d MB of memory for a body of %d MB", name, used>>20, size>>20)
		}
		tr.CloseIdleConnections()
		if u := o.use(); !u.Allow || u.Out < size || u.In < size {
			t.Errorf("seen as %v", u)
		}
	}
}

// TestHalfClose keeps the one direction when the other has ended.
func TestHalfClose(t *testing.T) {
	for _, way := range ways {
		o := newOutside(t)
		l := listen(t, "127.0.0.1:0")
		o.serve("10.0.0.5:9", l)
		in := start(t, o.options("files.intern:9=10.0.0.5"))
		c := way.open(t, in, "files.intern", 9)
		up, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = closeWrite(up) // the host ends first
		if b, err := io.ReadAll(c); len(b) > 0 || err != nil {
			t.Errorf("%s: %q %v", way.name, b, err)
		}
		_, _ = io.WriteString(c, "still here")
		_ = closeWrite(c)
		if b, err := io.ReadAll(up); string(b) != "still here" || err != nil {
			t.Errorf("%s: %q %v", way.name, b, err)
		}
		if u := o.use(); !u.Allow || u.Out < 10 {
			t.Errorf("%s: seen as %v", way.name, u)
		}
		up.Close()
		l.Close()
	}
}

// TestKilledPeer ends the one side when the other is gone.
func TestKilledPeer(t *testing.T) {
	for _, who := range []string{"client", "host"} {
		o := newOutside(t)
		l := listen(t, "127.0.0.1:0")
		o.serve("10.0.0.5:9", l)
		in := start(t, o.options("files.intern:9=10.0.0.5"))
		c := in.dialTo(in.socks)
		if reply := socksDial(t, c, "files.intern", 9); reply != socksOK {
			t.Fatal(reply)
		}
		_, _ = io.WriteString(c, "hello")
		nc, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		up := nc.(*net.TCPConn)
		if _, err := io.ReadFull(up, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		dead, alive := c, up
		if who == "host" {
			dead, alive = up, c
		}
		_ = dead.SetLinger(0) // a reset, as when a program is killed with unread bytes
		dead.Close()
		_ = alive.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := alive.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s killed: %v", who, err)
		}
		o.use()
		alive.Close()
		l.Close()
	}
}

// TestIdle ends connections on which nothing moves, and no others.
func TestIdle(t *testing.T) {
	const idle = 200 * time.Millisecond
	o := newOutside(t)
	l := listen(t, "127.0.0.1:0")
	defer l.Close()
	o.serve("10.0.0.5:9", l)
	in := start(t, o.options("files.intern:9=10.0.0.5"), func(p *Proxy) { p.idle = idle })
	open := func() (net.Conn, net.Conn) {
		c := in.dialTo(in.socks)
		if reply := socksDial(t, c, "files.intern", 9); reply != socksOK {
			t.Fatal(reply)
		}
		up, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return c, up
	}
	busy, busyUp := open()
	silent, silentUp := open()
	defer busyUp.Close()
	defer silentUp.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := silent.Read(make([]byte, 1))
		ended <- err
	}()
	for i := 0; ; i++ { // bytes go one way only
		if _, err := busyUp.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		if _, err := busy.Read(make([]byte, 1)); err != nil {
			t.Fatalf("the busy connection ended after %d bytes: %v", i, err)
		}
		select {
		case err := <-ended:
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the silent connection did not end")
			}
			if _, err := silentUp.Read(make([]byte, 1)); err == nil {
				t.Error("the host's side is open")
			}
			return
		case <-time.After(idle / 10):
		}
	}
}

// TestSlowHeader ends a client that sends its header byte by byte.
func TestSlowHeader(t *testing.T) {
	o := newOutside(t)
	in := start(t, o.options("api.example.com"), func(p *Proxy) { p.server.ReadHeaderTimeout = 100 * time.Millisecond })
	c := in.dialTo(in.http)
	go func() {
		pace := time.NewTicker(5 * time.Millisecond)
		defer pace.Stop()
		for _, b := range []byte("GET http://api.example.com/ HTTP/1.1\r\nX: " + strings.Repeat("x", 10_000)) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			<-pace.C
		}
	}()
	if b, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(string(b), " 200 ") {
		t.Errorf("%q %v", b, err)
	}
	if len(o.dials()) > 0 {
		t.Errorf("dialled %q", o.dials())
	}
}

// TestPolicyChangesUnderLoad has clients of all kinds while the policy changes:
// each of them is let out or refused, and nothing else happens to it.
func TestPolicyChangesUnderLoad(t *testing.T) {
	o := newOutside(t)
	options := o.options("api.example.com")
	options.Ask = func(context.Context, Target) Verdict { return Verdict{Allow: true} }
	in := start(t, options)
	rounds := scaled(20, 60, 1000)
	stop := make(chan struct{})
	var clients, changes sync.WaitGroup
	changes.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			in.SetPolicy(Policy{Hosts: parseHosts(t, "api.example.com")[:i%2]})
			in.Allow(Host{Name: "www.example.com"})
			in.Address(fmt.Sprintf("h%d.example.com", i%100))
			runtime.Gosched()
		}
	})
	for _, address := range []string{"http://api.example.com/", "https://api.example.com/", "http://www.example.com/", "https://other.example.com/"} {
		clients.Go(func() {
			for range rounds {
				c := in.client(o)
				if code, body := get(t, c, address); code != 200 {
					t.Errorf("%s: %d %s", address, code, body)
				}
				c.CloseIdleConnections()
			}
		})
	}
	clients.Go(func() {
		for range rounds {
			c := in.dialTo(in.socks)
			if reply := socksDial(t, c, "api.example.com", 443); reply != socksOK {
				t.Errorf("SOCKS reply %d", reply)
			}
			c.Close()
		}
	})
	clients.Wait()
	close(stop)
	changes.Wait()
}

// TestClose has connections of all kinds and in all states, and leaves no
// goroutine of any.
func TestClose(t *testing.T) {
	o := newOutside(t)
	l := listen(t, "127.0.0.1:0")
	defer l.Close()
	o.serve("10.0.0.5:9", l)
	before := runtime.NumGoroutine()
	a := newAsker()
	options := o.options("api.example.com", "files.intern:9=10.0.0.5")
	var asking atomic.Bool
	options.Ask = func(ctx context.Context, t Target) Verdict {
		asking.Store(true)
		defer asking.Store(false)
		v := a.ask(ctx, t)
		for range 10_000 { // an asker that is slow to leave
			runtime.Gosched()
		}
		return v
	}
	func() {
		in := &inside{Proxy: New(options), t: t, http: listen(t, "127.0.0.1:0"), socks: listen(t, "127.0.0.1:0"), direct: listen(t, "127.0.0.1:0"), dnsTCP: listen(t, "127.0.0.1:0")}
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var served sync.WaitGroup
		for _, serve := range []func() error{
			func() error { return in.ServeProxy(in.http) }, func() error { return in.ServeSOCKS(in.socks) },
			func() error { return in.ServeDirect(in.direct) }, func() error { return in.ServeDNS(udp, in.dnsTCP) },
		} {
			served.Go(func() {
				if err := serve(); err != nil {
					t.Error(err)
				}
			})
		}
		var ends []net.Conn
		add := func(c net.Conn) { ends = append(ends, c) }
		add(in.dialTo(in.http))
		add(in.dialTo(in.socks))
		add(in.dialTo(in.dnsTCP))
		c, _ := in.say("GET http://api.example.com/ HTTP/1.1\r\nHo") // half a header
		add(c)
		c, r := in.say("POST http://api.example.com/ HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 10\r\n\r\nhalf")
		add(c)
		c, _ = in.say("POST http://www.example.com/ HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 10\r\n\r\nhalf") // is asked about
		add(c)
		<-a.arrived
		c, r = in.say("CONNECT api.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n") // no hello
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		add(c)
		c, r = in.say("CONNECT api.example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n") // no request
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		add(c)
		c = in.dialTo(in.socks)
		if reply := socksDial(t, c, "files.intern", 9); reply != socksOK {
			t.Fatal(reply)
		}
		add(c)
		up, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		add(up)
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if asking.Load() {
			t.Error("a question is open after Close")
		}
		served.Wait()
		for i, c := range ends {
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("connection %d is open after Close", i)
			}
			c.Close()
		}
		if err := in.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
		late := listen(t, "127.0.0.1:0")
		if err := in.ServeSOCKS(late); err != nil {
			t.Errorf("served after Close: %v", err)
		}
		if _, err := late.Accept(); err == nil {
			t.Error("a listener that came after Close is open")
		}
	}()
	o.tls.CloseClientConnections()
	for deadline := time.Now().Add(3 * time.Minute); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			all := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, before %d\n%s", runtime.NumGoroutine(), before, all[:runtime.Stack(all, true)])
		}
		runtime.Gosched()
	}
}
