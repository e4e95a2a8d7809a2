package daemon

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Figures returns the metrics as text.
func (d *Daemon) Figures(ctx context.Context) ([]byte, error) { return d.figures(ctx) }

// Counted counts an entry.
func (d *Daemon) Counted(before loop.State, e ledger.Entry) { d.metrics.Entry(before, e) }

// Prune removes what is too old at a time.
func (d *Daemon) Prune(ctx context.Context, now time.Time) { d.prune(ctx, now) }
