package main

import (
	"context"
	"errors"
	"testing"

	"github.com/nightporter/nightporter/bot/tui"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
)

// TestWatchNoProject: without any project the screen explains how to start one.
func TestWatchNoProject(t *testing.T) {
	p, client := daemontest.Open(t, config.Empty())
	s, err := watchClient{client}.Look(t.Context(), "", "", false)
	if err != nil || s.Project != "" || s.Word != "no project yet" || len(s.Remarks) == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	p.Stop()
	if _, err := (watchClient{client}).Look(t.Context(), "", s.Version, false); !errors.Is(err, tui.ErrOffline) {
		t.Errorf("%v, want ErrOffline", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (watchClient{client}).Look(ctx, "", s.Version, true); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want its own end", err)
	}
}
