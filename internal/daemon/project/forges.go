package project

import (
	"context"
	"sync"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/ledger"
)

// openedForge keeps a project's adapter as long as nothing that it was opened with
// changes: it knows what earlier looks showed, and asks only for what is new.
type openedForge struct {
	mu    sync.Mutex
	with  forgeSettings
	forge engine.Forge
}

// forgeSettings is what an adapter is opened with.
type forgeSettings struct {
	kind    ledger.ForgeKind
	at      forge.Address
	section config.Forge
	token   forge.Token
}

// get returns the adapter for the settings, which open makes if they are new.
func (o *openedForge) get(s forgeSettings, open func() (forge.Forge, error)) (engine.Forge, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.forge != nil && o.with == s {
		return o.forge, nil
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	o.with, o.forge = s, forgeOf{f, s.kind}
	if w, ok := f.(forge.Watcher); ok {
		o.forge = watchedForge{forgeOf{f, s.kind}, w}
	}
	return o.forge, nil
}

// watchedForge is an adapter that tells which of many requests changed.
type watchedForge struct {
	forgeOf
	watcher forge.Watcher
}

// Changed implements forge.Watcher.
func (f watchedForge) Changed(ctx context.Context, looks map[int]string) ([]int, error) {
	return f.watcher.Changed(ctx, looks)
}
