package service_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/nightporter/nightporter/internal/service"
)

// noted is a service that writes down what happens to it.
type noted struct {
	name string
	log  *[]string
	err  error
}

func (n noted) Start(context.Context) error {
	*n.log = append(*n.log, "start "+n.name)
	return n.err
}

func (n noted) Stop() { *n.log = append(*n.log, "stop "+n.name) }

func TestGroupOrder(t *testing.T) {
	var log []string
	var g service.Group
	broken := errors.New("broken")
	for _, s := range []noted{{"a", &log, nil}, {"b", &log, nil}, {"c", &log, broken}} {
		if err := g.Start(t.Context(), s); !errors.Is(err, s.err) {
			t.Errorf("start %s: %v", s.name, err)
		}
	}
	g.Stop()
	g.Stop()
	if want := []string{"start a", "start b", "start c", "stop b", "stop a"}; !slices.Equal(log, want) {
		t.Errorf("%q, want %q", log, want)
	}
	if err := g.Start(t.Context(), noted{"d", &log, nil}); !errors.Is(err, service.ErrStopped) {
		t.Errorf("start after stop: %v", err)
	}
}

func TestLoop(t *testing.T) {
	var ended atomic.Bool
	begun := make(chan struct{})
	s := service.Loop(func(ctx context.Context) {
		close(begun)
		<-ctx.Done()
		ended.Store(true)
	})
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	cancel() // it bounds the start alone
	<-begun
	if err := s.Start(t.Context()); !errors.Is(err, service.ErrStarted) {
		t.Errorf("started twice: %v", err)
	}
	if ended.Load() {
		t.Error("the context of Start ended the service")
	}
	s.Stop()
	if !ended.Load() {
		t.Error("Stop returned before the loop")
	}
	s.Stop()
}

func TestStopBeforeStart(t *testing.T) {
	s := service.Loop(func(context.Context) { t.Error("it ran") })
	s.Stop()
	if err := s.Start(t.Context()); !errors.Is(err, service.ErrStopped) {
		t.Errorf("start after stop: %v", err)
	}
	var b service.Base
	b.Stop()
	b.Go(func(context.Context) { t.Error("it ran") })
	if b.Context().Err() == nil {
		t.Error("the context of a stopped service goes on")
	}
}

func TestBroadcast(t *testing.T) {
	var b service.Broadcast
	b.Ring() // nobody waits
	one, two := b.Next(), b.Next()
	select {
	case <-one:
		t.Error("woken by an earlier ring")
	default:
	}
	b.Ring()
	<-one
	<-two
}
