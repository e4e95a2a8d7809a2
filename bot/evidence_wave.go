package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// waveForm is how a wave is named: "wave 2", of the last run, or "r14 wave 2".
var waveForm = regexp.MustCompile(`(?i)^(?:(r\d+)\s+)?wave\s+(\d+)$`)

// FindWave returns the run and the number of the wave that is typed as "wave 2", of the
// project's last run, or "r14 wave 2". ok is false for anything else.
func FindWave(s loop.State, typed string) (run string, n int, ok bool) {
	m := waveForm.FindStringSubmatch(strings.TrimSpace(typed))
	if m == nil {
		return "", 0, false
	}
	if run = strings.ToLower(m[1]); run == "" && s.Project.Run != nil {
		run = s.Project.Run.ID
	}
	n, err := strconv.Atoi(m[2])
	return run, n, err == nil
}

// RunReader reads a run's ledger records; none of types means all.
type RunReader interface {
	RunRecords(ctx context.Context, project, run string, types ...string) ([]ledger.Record, error)
}

// WaveRecords returns the entries of a run's wave, which are about no single task, in
// ledger order. None means that there is no such wave.
func WaveRecords(ctx context.Context, from RunReader, project, run string, n int) ([]ledger.Record, error) {
	records, err := from.RunRecords(ctx, project, run,
		ledger.WaveBegun{}.EntryType(), ledger.WaveTriaged{}.EntryType(), ledger.WaveJudged{}.EntryType(), ledger.WaveEnded{}.EntryType())
	if err != nil {
		return nil, fmt.Errorf("wave %d of run %s: %w", n, run, err)
	}
	return slices.DeleteFunc(slices.Clone(records), func(r ledger.Record) bool {
		var of struct {
			Wave int `json:"wave"`
		}
		return json.Unmarshal(r.Body, &of) != nil || of.Wave != n
	}), nil
}

// lookAtWave shows the chain of a wave.
func (d dispatch) lookAtWave(ctx context.Context, run string, n int) (Message, error) {
	check := d.service.CheckChain(ctx, d.project)
	records, err := WaveRecords(ctx, d.service, d.project, run, n)
	if err != nil && check.Break == nil { // otherwise the break says why a record cannot be read
		return Message{}, err
	}
	if len(records) == 0 && check.Break == nil {
		m := refusal("cmd.nowave", SignFailed+" There is no wave "+strconv.Itoa(n)+" in "+orElse(run, "any run"))
		m.add("Nothing was changed.")
		m.button("Waves", "/waves")
		return m, nil
	}
	return Evidence(records, check, d.r.Time.Location()), nil
}
