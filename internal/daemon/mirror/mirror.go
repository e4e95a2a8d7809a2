// Package mirror copies the ledger of each project into its checkout while it is written,
// with what all projects share: JSON Lines below .ralph/events, from which an empty
// database can be built (docs/spec 8.2).
//
// The copy is a projection. Its last line says how far it goes, so that a crash, a loss
// of power and a removed file are made good by the next entry; nothing is read from it.
package mirror

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Files are the copy of a stream in a checkout. A file of a project's begins with the
// plan of a run.
type Files interface {
	// End returns the last whole line and the number of the run whose file has it.
	End(ctx context.Context) (run int, line []byte, err error)
	// Append writes whole lines to the end of a run's file.
	Append(ctx context.Context, run int, lines []byte) error
	// SetAside takes what is there out of the way.
	SetAside(ctx context.Context) error
}

// Ledger is what is copied; *store.Store implements it.
type Ledger interface {
	// Records yields the entries of a stream after a sequence number, in order.
	Records(ctx context.Context, stream string, after int64, yield func(ledger.Record) error) error
	// Head returns the last entry's sequence number and hash.
	Head(ctx context.Context, stream string) (seq int64, hash []byte, err error)
}

// Options are what Mirrors need.
type Options struct {
	Ledger Ledger
	Open   func(repo, project string) Files // "" = what all projects share
	Log    *slog.Logger
}

// Mirrors copies the ledgers of all projects.
type Mirrors struct {
	service.Base
	o Options

	mu   sync.Mutex
	due  map[string]string // the checkouts of projects with new entries
	said map[string]string // the last error of each project, which is logged once
	bell service.Broadcast
}

// New returns mirrors that copy once they are started.
func New(o Options) *Mirrors {
	return &Mirrors{o: o, due: map[string]string{}, said: map[string]string{}}
}

// Start begins to copy.
func (m *Mirrors) Start(context.Context) error {
	if err := m.Begin(); err != nil {
		return err
	}
	m.Go(m.run)
	return nil
}

// Add says that a project has new entries, or may have some. It never blocks, because
// the engine calls it. A project that never had a run has no copy.
func (m *Mirrors) Add(s loop.State) {
	r := s.Project.Run
	if r == nil || r.Settings.Repo == "" {
		return
	}
	m.mu.Lock()
	m.due[s.Project.Name] = r.Settings.Repo
	m.mu.Unlock()
	m.bell.Ring()
}

const (
	pause   = time.Second     // entries come in bursts
	endTime = 5 * time.Second // that the last copy may take at Stop
)

// run copies what is new until ctx ends, and then what came last.
func (m *Mirrors) run(ctx context.Context) {
	for ctx.Err() == nil {
		rung := m.bell.Next()
		m.copyDue(ctx)
		select {
		case <-rung:
			_ = sleep.For(ctx, pause)
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	m.copyDue(last)
}

// copyDue copies the ledgers with new entries. What fails is tried again with the next
// entry.
func (m *Mirrors) copyDue(ctx context.Context) {
	m.mu.Lock()
	due := m.due
	m.due = map[string]string{}
	m.mu.Unlock()
	for project, repo := range due {
		err := m.copyProject(ctx, project, repo)
		if err == nil || ctx.Err() != nil {
			continue
		}
		if text := err.Error(); m.said[project] != text {
			m.said[project] = text
			m.o.Log.Warn("the ledger is not copied to .ralph/events", "project", project, "error", err)
		}
	}
}

// maxLines is how much is written at once, in bytes.
const maxLines = 1 << 20

// copyProject appends what a checkout lacks. Entries of a project name heads of the
// shared stream, so that is copied first, and as far as the project's.
func (m *Mirrors) copyProject(ctx context.Context, project, repo string) error {
	stream := ledger.ProjectStream(project)
	end, _, err := m.o.Ledger.Head(ctx, stream)
	if err == nil {
		err = m.copy(ctx, ledger.SharedStream, math.MaxInt64, m.o.Open(repo, ""))
	}
	if err == nil {
		err = m.copy(ctx, stream, end, m.o.Open(repo, project))
	}
	return err
}

// copy appends what a copy lacks of a stream, up to the entry of a sequence number.
func (m *Mirrors) copy(ctx context.Context, stream string, end int64, to Files) error {
	run, line, err := to.End(ctx)
	if err != nil {
		return err
	}
	after, same, err := m.position(ctx, stream, line)
	if err != nil {
		return err
	}
	if !same {
		if err := to.SetAside(ctx); err != nil {
			return err
		}
		run, after = 0, 0
	}
	var lines []byte
	flush := func() error {
		if len(lines) == 0 {
			return nil
		}
		defer func() { lines = lines[:0] }()
		return to.Append(ctx, run, lines)
	}
	err = m.o.Ledger.Records(ctx, stream, after, func(r ledger.Record) error {
		if r.Seq > end {
			return errFound
		}
		if r.Type == (ledger.RunPlanned{}).EntryType() {
			if err := flush(); err != nil {
				return err
			}
			if n, err := strconv.Atoi(strings.TrimPrefix(r.Run, "r")); err == nil {
				run = n
			}
		}
		text, err := bot.RecordJSON(r)
		if err != nil {
			return err
		}
		if lines = append(append(lines, text...), '\n'); len(lines) < maxLines {
			return nil
		}
		return flush()
	})
	if err != nil && !errors.Is(err, errFound) {
		return err
	}
	return flush()
}

// errFound ends a look at records.
var errFound = errors.New("found")

// position returns the sequence number of a line of the copy. same reports whether the
// ledger has that entry: another one may have begun since.
func (m *Mirrors) position(ctx context.Context, stream string, line []byte) (seq int64, same bool, err error) {
	if len(line) == 0 {
		return 0, true, nil
	}
	var last struct {
		Stream string
		Seq    int64
		Hash   string
	}
	if json.Unmarshal(line, &last) != nil || last.Stream != stream || last.Seq < 1 {
		return 0, false, nil
	}
	err = m.o.Ledger.Records(ctx, stream, last.Seq-1, func(r ledger.Record) error {
		same = r.Seq == last.Seq && hex.EncodeToString(r.Hash) == last.Hash
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return last.Seq, same, err
}
