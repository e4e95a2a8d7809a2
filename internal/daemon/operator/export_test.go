package operator

import (
	"context"
	"encoding/json"

	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/store"
)

// Timelines exports timelines.
type Timelines struct{ timelines }

// RequestsOf exports requestsOf, as JSON.
func RequestsOf(p loop.Project) (string, error) {
	data, err := json.Marshal(requestsOf(p))
	return string(data), err
}

// CostOf exports costOf, as JSON.
func CostOf(s loop.State) (string, error) {
	data, err := json.Marshal(costOf(s))
	return string(data), err
}

// Read returns the sessions of a project's run.
func (t *Timelines) Read(ctx context.Context, ledgerStore *store.Store, s loop.State) ([]report.Session, error) {
	return t.read(ctx, ledgerStore, s)
}
