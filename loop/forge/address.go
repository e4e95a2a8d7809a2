package forge

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Address is a repository on a server.
type Address struct {
	Kind   ledger.ForgeKind // a guess by the host's name; ForgePlain where that says nothing
	Host   string           // lower case, with the port of an HTTP address; "" = a folder of this machine
	Prefix string           // folder of the server's addresses, "/git"; "" = none
	Owner  string
	Name   string
	HTTP   bool // the remote is reached without TLS
}

// maxAddress limits the length of a remote's address.
const maxAddress = 2048

// Parse reads the address of a git remote. An address without a server or without
// a repository of an owner is ForgePlain. An error is a *ledger.ForgeError and
// never quotes the address, which may have a password.
func Parse(remote string) (Address, error) {
	switch {
	case remote == "" || len(remote) > maxAddress || strings.ContainsFunc(remote, unicode.IsControl):
		return Address{}, errAddress("is empty, too long or has control characters")
	case strings.HasPrefix(remote, "-"):
		return Address{}, errAddress("begins with a dash, which git takes for an option")
	case hasHelper(remote):
		return Address{}, errAddress("names a program of git (WORD::…)")
	}
	if strings.Contains(remote, "://") {
		return parseURL(remote)
	}
	if host, path, ok := cutSCP(remote); ok {
		return address(Address{Host: host}, path)
	}
	return Address{Kind: ledger.ForgePlain}, nil
}

// Repository returns "owner/name".
func (a Address) Repository() string { return a.Owner + "/" + a.Name }

// scheme returns the beginning of the server's web addresses.
func (a Address) scheme() string {
	if a.HTTP {
		return "http://"
	}
	return "https://"
}

// hasHelper reports whether git would run a helper program for an address:
// "ext::sh -c …".
func hasHelper(remote string) bool {
	word, _, ok := strings.Cut(remote, "::")
	return ok && word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !isNameRune(r) })
}

// parseURL reads an address with a scheme.
func parseURL(remote string) (Address, error) {
	u, err := url.Parse(remote)
	if err != nil {
		return Address{}, errAddress("cannot be read as one")
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	var a Address
	switch strings.ToLower(u.Scheme) {
	case "https":
		a.Host = withPort(host, port, "443")
	case "http":
		a.Host, a.HTTP = withPort(host, port, "80"), true
	case "ssh", "git+ssh", "ssh+git":
		a.Host = withPort(host, "", "") // its port is that of ssh
	case "file", "git":
		return Address{Kind: ledger.ForgePlain}, nil
	default:
		return Address{}, errAddress("has a scheme that git does not know")
	}
	return address(a, u.Path)
}

// withPort returns a host with its port, unless that is the usual one.
func withPort(host, port, usual string) string {
	if port != "" && port != usual {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// cutSCP splits "user@host:path". As for git, a slash before the colon makes a
// folder of it, and so does a single letter, which is a drive.
func cutSCP(remote string) (host, path string, ok bool) {
	_, rest, found := strings.Cut(remote, "@")
	if !found || strings.ContainsAny(remote[:len(remote)-len(rest)], "/:") {
		rest = remote
	}
	if inner, ok := strings.CutPrefix(rest, "["); ok {
		if host, path, ok = strings.Cut(inner, "]:"); !ok || net.ParseIP(host) == nil {
			return "", "", false
		}
		return "[" + strings.ToLower(host) + "]", path, true
	}
	host, path, ok = strings.Cut(rest, ":")
	if !ok || strings.Contains(host, "/") || len(host) < 2 && rest == remote {
		return "", "", false
	}
	return strings.ToLower(host), path, true
}

// address completes an address by the path of its repository.
func address(a Address, path string) (Address, error) {
	if !isHost(a.Host) {
		return Address{}, errAddress("has no host that could be one")
	}
	if a.Host == "ssh.github.com" { // for networks that let only port 443 out
		a.Host = "github.com"
	}
	a.Kind = guess(a.Host)
	parts := strings.Split(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	n := len(parts)
	if n < 2 || slices.ContainsFunc(parts, func(s string) bool { return !isName(s) }) {
		a.Kind = ledger.ForgePlain
		return a, nil
	}
	a.Owner, a.Name = parts[n-2], parts[n-1]
	if n > 2 {
		a.Prefix = "/" + strings.Join(parts[:n-2], "/")
	}
	return a, nil
}

// guess returns the kind of a host's server by its name.
func guess(host string) ledger.ForgeKind {
	name, _, _ := strings.Cut(host, ":")
	for _, k := range Kinds {
		if slices.Contains(k.Hosts, name) {
			return k.Kind
		}
	}
	for label := range strings.SplitSeq(name, ".") {
		for _, k := range Kinds {
			if slices.ContainsFunc(k.Labels, func(s string) bool { return strings.HasPrefix(label, s) }) {
				return k.Kind
			}
		}
	}
	return ledger.ForgePlain
}

// isBelow reports whether a host is one of a domain.
func isBelow(host, domain string) bool { return strings.HasSuffix(host, "."+domain) }

// isHost reports whether a text can be a host, with or without a port.
func isHost(s string) bool {
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	return isName(s) || net.ParseIP(strings.Trim(s, "[]")) != nil
}

// isName reports whether a text can be the name of an owner, a repository or a
// host: what GitHub and Gitea permit, and nothing that means something in a path
// or on a command line.
func isName(s string) bool {
	return s != "" && len(s) <= 255 && s != "." && s != ".." && s[0] != '-' &&
		!strings.ContainsFunc(s, func(r rune) bool { return !isNameRune(r) })
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

func errAddress(why string) error {
	return &ledger.ForgeError{
		Failure: ledger.ForgeRefused,
		Text:    fmt.Sprintf("the remote's address %s", why),
		Remedy:  "git remote -v shows it, git remote set-url NAME ADDRESS changes it",
	}
}
