package egress

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// BenchmarkConnect has the time of a connection with its TLS handshake and one
// request, directly and by each way, in one run: ratios mean something on any
// machine.
func BenchmarkConnect(b *testing.B) {
	o := newOutside(b)
	in := start(b, o.options("api.example.com"))
	roots := o.tls.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	one := func(b *testing.B, open func() net.Conn) {
		c := open()
		defer c.Close()
		t := tls.Client(c, &tls.Config{ServerName: "api.example.com", RootCAs: roots})
		if _, err := io.WriteString(t, "GET / HTTP/1.0\r\nHost: api.example.com\r\n\r\n"); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadAll(t); err != nil {
			b.Fatal(err)
		}
		for len(o.seen) > 0 {
			<-o.seen
		}
	}
	direct := func() net.Conn {
		c, err := net.Dial("tcp4", o.tls.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	compare(b, func(b *testing.B) { one(b, direct) }, func(b *testing.B, way int) {
		one(b, func() net.Conn { return ways[way].open(b, in, "api.example.com", 443) })
	})
}

// BenchmarkThroughput has the time of 64 MB from a host.
func BenchmarkThroughput(b *testing.B) {
	const size = 64 << 20
	o := newOutside(b)
	l := listen(b, "127.0.0.1:0")
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, io.LimitReader(zeros{}, size))
			}()
		}
	}()
	o.serve("10.0.0.5:9", l)
	in := start(b, o.options("files.intern:9=10.0.0.5"))
	take := func(b *testing.B, c net.Conn) {
		defer c.Close()
		_ = closeWrite(c)
		if n, err := io.Copy(io.Discard, c); n != size || err != nil {
			b.Fatal(n, err)
		}
	}
	compare(b, func(b *testing.B) {
		c, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		take(b, c)
	}, func(b *testing.B, way int) { take(b, ways[way].open(b, in, "files.intern", 9)) })
}

// compare reports what each way takes as a multiple of the direct one, which is
// measured in turn with it.
func compare(b *testing.B, direct func(*testing.B), by func(*testing.B, int)) {
	for way := range ways {
		b.Run(ways[way].name, func(b *testing.B) {
			var plain, proxied time.Duration
			for b.Loop() {
				began := time.Now()
				direct(b)
				plain += time.Since(began)
				began = time.Now()
				by(b, way)
				proxied += time.Since(began)
			}
			b.ReportMetric(float64(proxied)/float64(plain), "times-direct")
			b.ReportMetric(float64(proxied.Microseconds()-plain.Microseconds())/float64(b.N), "µs-more")
			b.ReportMetric(0, "ns/op")
		})
	}
}
