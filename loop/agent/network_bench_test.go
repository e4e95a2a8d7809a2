package agent

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// BenchmarkClosedNetwork compares a session with a closed network with one whose
// network is open, in turns: its start and end, a connection, and the bytes a second
// of one connection, all to the same servers on this machine.
//
// Baseline: the open session. Where sandbox-runtime is (findSandboxRuntime), it is
// measured in the same turns.
func BenchmarkClosedNetwork(b *testing.B) {
	h := newFixture(b, 3)
	h.runner.ClosedNetwork() // tried once, as a daemon does
	zeros, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseInt(r.URL.Query().Get("bytes"), 10, 64)
		w.Header().Set("Content-Length", strconv.FormatInt(n, 10))
		_, _ = io.CopyN(w, zeroReader{}, n)
	})}
	go func() { _ = server.Serve(zeros) }()
	b.Cleanup(func() { _ = server.Close() })
	_, port, _ := net.SplitHostPort(zeros.Addr().String())
	closed := ledger.Network{Mode: ledger.NetworkNone, Hosts: []string{"models.example.org:" + port + "=127.0.0.1"}}
	var other *sandboxRuntime
	if os.Getenv("NIGHTPORTER_SANDBOX_RUNTIME") != "" {
		other = findSandboxRuntime(b)
	}
	took := map[string][]float64{}
	record := func(kind, said string) {
		for line := range strings.Lines(said) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
				v, _ := strconv.ParseFloat(value, 64)
				took[kind+"-"+name] = append(took[kind+"-"+name], v)
			}
		}
	}
	n := 0
	session := func(kind, script string, network ledger.Network) {
		n++
		id := fmt.Sprintf("r1-%d", n)
		h.script(script)
		l := h.launch(id)
		l.Network = network
		began := time.Now()
		h.start(l)
		x := h.wait(id)
		if x.Reason != ledger.ExitSelf || x.Code != 0 {
			b.Fatalf("%s: %s %d %s %s", kind, x.Reason, x.Code, x.Text, x.Tail)
		}
		if strings.HasSuffix(kind, "-start") {
			took[kind] = append(took[kind], float64(time.Since(began))/1e6)
			return
		}
		record(kind, x.Tail)
	}
	for b.Loop() {
		session("open-start", "true", ledger.Network{})
		session("closed-start", "true", closed)
		program := h.program()
		session("open", fmt.Sprintf("%s measure http://127.0.0.1:%s/", program, port), ledger.Network{})
		session("closed", fmt.Sprintf("%s measure http://models.example.org:%s/", program, port), closed)
		if other != nil {
			script := fmt.Sprintf("%s measure http://models.example.org:%s/", program, port)
			record("sandbox-runtime", other.run(b, script, "models.example.org", "127.0.0.1:"+port))
		}
	}
	median := func(name string) float64 {
		v := slices.Sorted(slices.Values(took[name]))
		if len(v) == 0 {
			b.Fatalf("nothing measured for %s", name)
		}
		return v[len(v)/2]
	}
	b.ReportMetric(median("closed-start")-median("open-start"), "start-more-ms")
	b.ReportMetric(median("closed-conn")-median("open-conn"), "connection-more-ms")
	b.ReportMetric(median("closed-direct")-median("open-conn"), "direct-connection-more-ms")
	b.ReportMetric(median("closed-rate")/median("open-rate"), "throughput/open")
	b.ReportMetric(median("open-rate"), "open-MB/s")
	if other != nil {
		b.ReportMetric(median("sandbox-runtime-conn")-median("open-conn"), "sandbox-runtime-connection-more-ms")
		b.ReportMetric(median("sandbox-runtime-rate")/median("open-rate"), "sandbox-runtime-throughput/open")
	}
	b.ReportMetric(0, "ns/op") // of a whole turn: says nothing
	_ = os.RemoveAll(filepath.Join(h.state, "sessions"))
}

// zeroReader reads zeros without an end.
type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// measureHelper prints the milliseconds of a connection and a small answer (by the
// environment's proxy, and without it), and the megabytes a second of a large one.
func measureHelper(url string) int {
	request := func(proxy bool, bytes int) (time.Duration, error) {
		t := &http.Transport{DisableKeepAlives: true}
		if proxy {
			t.Proxy = http.ProxyFromEnvironment
		}
		began := time.Now()
		resp, err := (&http.Client{Transport: t}).Get(url + "?bytes=" + strconv.Itoa(bytes))
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return time.Since(began), err
	}
	middle := func(proxy bool) float64 {
		var all []time.Duration
		for range 50 {
			d, err := request(proxy, 10)
			if err != nil {
				fmt.Println(err)
				return -1
			}
			all = append(all, d)
		}
		slices.Sort(all)
		return float64(all[len(all)/2]) / 1e6
	}
	const large = 256 << 20
	d, err := request(true, large)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Printf("conn=%.3f\ndirect=%.3f\nrate=%.1f\n", middle(true), middle(false), large/1e6/d.Seconds())
	return 0
}
