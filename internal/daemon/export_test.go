package daemon

import (
	"context"

	"github.com/nightporter/nightporter/loop"
)

// Figures are the metrics as text.
func (d *Daemon) Figures(ctx context.Context) ([]byte, error) { return d.figures(ctx) }

// Counted counts an entry.
func (d *Daemon) Counted(before loop.State, e loop.Entry) { d.metrics.Entry(before, e) }
