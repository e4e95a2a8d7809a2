package triage

import (
	"hash/fnv"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of the search for duplicates. Reports meet in buckets of the smallest hashes of
// their words, so that their number costs no comparison of each with each; within a
// bucket only mostInBucket are compared.
const (
	bands        = 16
	rowsOfBand   = 2
	mostInBucket = 32
	samePage     = 0.5  // least share of common words, if both were seen on one page
	anyPage      = 0.75 // if the page of one is unknown
	fewestWords  = 4    // with fewer, words are no signature
)

// survivors are reports that others may duplicate.
type survivors struct {
	links  map[string]string      // union of what sources and triagers link, by folded id
	byLink map[string]string      // root of links → survivor
	errors map[string][]survivor  // by page and message
	bands  map[uint64][]*survivor // by a part of the signature
}

type survivor struct {
	id, page, frame string
	words           []uint64
}

func newSurvivors() *survivors {
	return &survivors{links: map[string]string{}, byLink: map[string]string{}, errors: map[string][]survivor{}, bands: map[uint64][]*survivor{}}
}

// root returns the smallest id of all that are linked with id.
func (s *survivors) root(id string) string {
	for s.links[id] != "" && s.links[id] != id {
		id = s.links[id]
	}
	return id
}

// link records that two reports were called the same.
func (s *survivors) link(a, b string) {
	a, b = s.root(ledger.FoldID(a)), s.root(ledger.FoldID(b))
	if a != b {
		s.links[max(a, b)] = min(a, b)
	}
}

// add makes a report one that others may duplicate.
func (s *survivors) add(r *reading) {
	id := r.task.ID
	if root := s.root(ledger.FoldID(id)); s.byLink[root] == "" {
		s.byLink[root] = id
	}
	for _, e := range r.errors {
		message, frame, _ := strings.Cut(e, "\x00")
		key := r.page() + "\x00" + message
		s.errors[key] = append(s.errors[key], survivor{id: id, frame: frame})
	}
	one := &survivor{id: id, page: r.page(), words: r.signature()}
	for _, b := range bandsOf(one.words) {
		s.bands[b] = append(s.bands[b], one)
	}
}

// find returns the report that r duplicates and why, or "".
func (s *survivors) find(r *reading) (of, why string) {
	if of = s.byLink[s.root(ledger.FoldID(r.task.ID))]; of != "" {
		return of, "It was called the same report as " + of + "."
	}
	for _, e := range r.errors {
		message, frame, _ := strings.Cut(e, "\x00")
		for _, o := range s.errors[r.page()+"\x00"+message] {
			if frame == "" || o.frame == "" || frame == o.frame {
				return o.id, "It has the same error on the same page as " + o.id + "."
			}
		}
	}
	words := r.signature()
	best := 0.0
	for _, b := range bandsOf(words) {
		list := s.bands[b]
		for _, o := range list[:min(len(list), mostInBucket)] {
			least := samePage
			switch {
			case o.page != "" && r.page() != "" && o.page != r.page():
				continue
			case o.page != r.page():
				least = anyPage
			}
			if share := common64(words, o.words); share >= least && (share > best || share == best && o.id < of) {
				best, of = share, o.id
			}
		}
	}
	if of == "" {
		return "", ""
	}
	return of, "It says the same as " + of + "."
}

func (r *reading) page() string {
	if len(r.paths) == 0 {
		return ""
	}
	return r.paths[0]
}

// signature returns hashes of the words of a body that carry meaning, sorted. Numbers
// are ids or amounts and are left out, endings too.
func (r *reading) signature() []uint64 {
	var out []uint64
	for _, w := range r.body {
		if isID(w) || strings.Trim(w, "0123456789") == "" || len(w) < 3 || lexicon().classes([]string{w})&(common|filler) != 0 {
			continue
		}
		if len(w) > 5 {
			w = w[:5] // endings change with grammar
		}
		h := fnv.New64a()
		h.Write([]byte(w))
		out = append(out, h.Sum64())
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) < fewestWords {
		return nil
	}
	return out
}

// bandsOf returns keys of which two lists of words share one if they have much in common.
func bandsOf(words []uint64) []uint64 {
	if len(words) == 0 {
		return nil
	}
	out := make([]uint64, bands)
	for b := range out {
		key := uint64(b)
		for row := range rowsOfBand {
			seed := mix(uint64(b*rowsOfBand + row + 1))
			least := ^uint64(0)
			for _, w := range words {
				least = min(least, mix(w^seed))
			}
			key = mix(key ^ least)
		}
		out[b] = key
	}
	return out
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// common64 returns the share of all words that both sorted lists have.
func common64(a, b []uint64) float64 {
	both, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(max(len(a)+len(b)-both, 1))
}
