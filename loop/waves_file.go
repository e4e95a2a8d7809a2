package loop

import (
	"encoding/json"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// wavesFile is autopilot-state.json (docs/spec 7.5).
type wavesFile struct {
	Version     int        `json:"version"` // 1
	CurrentWave int        `json:"currentWave"`
	MaxWaves    int        `json:"maxWaves"` // 0 = no limit
	BatchSize   int        `json:"batchSize"`
	Completed   []waveDone `json:"completedWaves"`
	Empty       int        `json:"consecutiveEmptyWaves"`
	Started     time.Time  `json:"startedAt"`
	Updated     time.Time  `json:"lastUpdatedAt"`
}

// waveDone is a wave that is over; the lists have ids of reports as written.
type waveDone struct {
	Wave       int      `json:"wave"`
	Passed     []string `json:"passed"`
	Failed     []string `json:"failed"`
	Skipped    []string `json:"skipped"`
	DurationMs int64    `json:"durationMs"`
}

// WavesFile returns the text of the file that shows other programs the state of a run's
// waves. It depends on the run alone: a lost file is written equal. It has as many of
// the last waves as the run's state.
func WavesFile(r *Run) ([]byte, error) {
	f := wavesFile{
		Version: 1, CurrentWave: r.LastWave, MaxWaves: r.Settings.MaxWaves, BatchSize: r.batchSize(),
		Completed: []waveDone{}, Empty: r.EmptyRow, Started: r.Started.UTC(), Updated: r.Started.UTC(),
	}
	ids := func(reports []ledger.WaveReport) []string {
		list := []string{} // null is no list
		for _, w := range reports {
			list = append(list, w.Task)
		}
		return list
	}
	for _, w := range r.Waves {
		f.Completed = append(f.Completed, waveDone{w.Wave, ids(w.Passed), ids(w.Failed), ids(w.Skipped), w.DurationMs})
		f.Updated = w.Began.Add(time.Duration(w.DurationMs) * time.Millisecond).UTC()
	}
	if r.Wave != nil {
		f.Updated = r.Wave.Began.UTC()
	}
	text, err := json.MarshalIndent(f, "", "  ")
	return append(text, '\n'), err
}
