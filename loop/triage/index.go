package triage

import (
	"net/netip"
	"strings"
)

// index is a vocabulary for look-ups.
type index struct {
	domains    map[string]bool
	siblings   *phrases
	names      []string // of siblings, by phrase id
	routes     map[string][][]string
	components map[string]bool
	terms      *phrases
	hosts      map[string]bool // of siblings
}

func newIndex(v Vocabulary) *index {
	x := &index{domains: map[string]bool{}, siblings: newPhrases(nil), routes: map[string][][]string{}, components: map[string]bool{},
		terms: newPhrases(nil), hosts: map[string]bool{}}
	for _, d := range v.Domains {
		x.domains[strings.TrimPrefix(strings.ToLower(d), "www.")] = true
	}
	for i, s := range v.Siblings {
		x.names = append(x.names, s)
		x.siblings.add(s, common, i)
		x.hosts[strings.ToLower(s)] = true
	}
	for _, r := range v.Routes {
		if parts := strings.Split(strings.Trim(normalPath(r), "/"), "/"); parts[0] != "" {
			x.routes[parts[0]] = append(x.routes[parts[0]], parts)
			x.terms.add(strings.ReplaceAll(parts[0], "-", " "), common, 0)
		}
	}
	for _, c := range v.Components {
		x.components[c] = true
	}
	for _, t := range v.Terms {
		x.terms.add(t, common, 0)
	}
	return x
}

func (x *index) ownHost(h string) bool {
	for h != "" {
		if x.domains[h] {
			return true
		}
		_, h, _ = strings.Cut(h, ".")
	}
	return false
}

func (x *index) siblingHost(h string) bool {
	for h != "" {
		switch {
		case x.hosts[h]:
			return true
		case x.domains[h]:
			return false
		}
		_, h, _ = strings.Cut(h, ".")
	}
	return false
}

// isLocal reports whether a host is a developer's own, or an address that names nobody.
func isLocal(h string) bool {
	_, err := netip.ParseAddr(h)
	return err == nil || h == "localhost" || !strings.Contains(h, ".") || strings.HasSuffix(h, ".local") || strings.HasSuffix(h, ".localhost") ||
		strings.HasSuffix(h, ".vercel.app") || strings.HasSuffix(h, ".netlify.app") || strings.HasSuffix(h, ".pages.dev")
}

func (x *index) siblingNamed(words []string) (name string) {
	for i := range words {
		x.siblings.each(words[i:], func(f phrase) {
			if name == "" {
				name = x.names[f.id]
			}
		})
	}
	return name
}

// hasRoute reports whether a normalised path, or a path above it, is a route.
func (x *index) hasRoute(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for _, route := range x.routes[parts[0]] {
		if len(route) <= len(parts) && startsWith(parts, route) {
			return true
		}
	}
	return false
}

func startsWith(parts, route []string) bool {
	for i, r := range route {
		if r != parts[i] && r != ":id" {
			return false
		}
	}
	return true
}

func (x *index) hasComponent(text string) bool {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_')
	}) {
		if x.components[w] {
			return true
		}
	}
	return false
}

func (x *index) hasTerm(words []string) bool { return x.terms.classes(words) != 0 }
