// Package egress is the one way out of a session whose network is closed: an
// HTTP and SOCKS5 proxy, a DNS server and relays, which let a session reach the
// hosts that a policy names and no others.
//
//	policy.go name.go      Policy, Host, Service; which names are host names
//	judge.go leak.go       a target against the policy, and asking about unknown hosts
//	canary.go              secrets that no request may carry
//	proxy.go conn.go       Proxy: options, listeners, limits, Close
//	http.go                CONNECT, and HTTP spoken by the proxy itself
//	socks.go dns.go        SOCKS5; names to addresses of 127.64.0.0/10
//	direct.go              programs that ignore proxies, and local services
//	tunnel.go hello.go     what is carried, after the TLS handshake names the host
//	dial.go address.go     resolving, which addresses are public, dialling
//	refusal.go             why something was refused, and how a client is told
//
// The package knows listeners, a policy, somebody to ask and somebody to tell,
// and nothing of sessions or namespaces. Everything that a client sends is
// hostile. TLS is not opened.
//
// The tests hold that no byte of a client leaves for a host that the policy does
// not name, that the address which was judged is the one that is dialled, that a
// query of DNS causes no traffic, that memory and goroutines are bounded, and
// that Close ends all of them.
package egress
