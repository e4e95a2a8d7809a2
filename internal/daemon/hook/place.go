package hook

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/nightporter/nightporter/internal/fsutil"
)

// places are how far each hook has read each stream, by the hook's key. They are in a
// file of their own: no decision depends on them. A file that is lost or damaged
// makes the hooks begin at the ledger's end.
type places struct {
	mu      sync.Mutex
	file    string
	all     map[string]map[string]int64
	changed bool
}

func openPlaces(file string) *places {
	p := &places{file: file, all: map[string]map[string]int64{}}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &p.all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) || p.all == nil {
		p.all = map[string]map[string]int64{}
	}
	return p
}

// begun reports whether the hook has read the ledger before: a stream that it does
// not know is a new project's then, of which nothing was told.
func (p *places) begun(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, is := p.all[key]
	return is
}

func (p *places) begin(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beginLocked(key)
}

func (p *places) beginLocked(key string) {
	if p.all[key] == nil {
		p.all[key], p.changed = map[string]int64{}, true
	}
}

func (p *places) at(key, stream string) (seq int64, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seq, known = p.all[key][stream]
	return seq, known
}

func (p *places) set(key, stream string, seq int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beginLocked(key)
	if p.all[key][stream] != seq {
		p.all[key][stream], p.changed = seq, true
	}
}

// keep forgets all hooks but these.
func (p *places) keep(keys []string) {
	p.mu.Lock()
	before := len(p.all)
	maps.DeleteFunc(p.all, func(key string, _ map[string]int64) bool { return !slices.Contains(keys, key) })
	p.changed = p.changed || len(p.all) != before
	p.mu.Unlock()
	_ = p.save()
}

// save writes the file if anything has changed.
func (p *places) save() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.changed {
		return nil
	}
	data, err := json.Marshal(p.all)
	if err == nil {
		err = fsutil.Replace(p.file, data, 0o600)
	}
	p.changed = err != nil
	return err
}
