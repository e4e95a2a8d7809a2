package metrics

import (
	"bytes"
	"context"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Metrics counts what happens in one process. Label values are bounded: they
// come from the configuration and from the constants of the ledger. Gauges are
// computed from Current on request. Safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	runs     *prometheus.CounterVec
	sessions *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	cost     *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	unpriced *prometheus.CounterVec
	computed *prometheus.CounterVec
	inputs   *prometheus.HistogramVec
	commits  prometheus.Histogram
}

// Current is the input of the gauges at one moment.
type Current struct {
	States       []loop.State // states of all projects
	Chats        *Chats       // nil when no chat is connected
	ReloadFailed bool         // the configuration file is invalid: older settings are in force
}

// Chats is the condition of the chats.
type Chats struct {
	Queued    int             // messages waiting for delivery; -1 = unknown
	Connected map[string]bool // whether the last call to a platform succeeded
}

const metricsPrefix = "nightporter_"

// New returns the metrics of a process of this version.
func New(version string) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricsPrefix + name, Help: help}, labels)
	}
	fast := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		runs:     counter("runs_ended_total", "Runs that ended, by reason.", "project", "reason"),
		sessions: counter("sessions_total", "Sessions of agents that ended, by what their end means and counts as.", "project", "hat", "end", "counts"),
		cost:     counter("cost_usd_total", "What sessions of agents cost as far as it is known, in US dollars.", "project", "hat"),
		tokens:   counter("tokens_total", "Tokens that agents reported.", "project", "hat"),
		unpriced: counter("sessions_unpriced_total", "Sessions of agents whose cost is unknown.", "project"),
		computed: counter("sessions_estimated_total", "Sessions of agents whose cost no agent said: it is computed from their tokens, or estimated.", "project"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: metricsPrefix + "session_seconds", Help: "Length of agents' sessions.", Buckets: []float64{10, 30, 60, 120, 300, 600, 1200, 1800, 3600},
		}, []string{"hat"}),
		inputs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: metricsPrefix + "input_seconds", Help: "From an input's arrival to its decision being committed and answered.", Buckets: fast,
		}, []string{"kind"}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: metricsPrefix + "commit_seconds", Help: "Length of commits to the database.", Buckets: fast,
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: metricsPrefix + "build_info", Help: "1, with the version of nightporter and Go.",
		ConstLabels: prometheus.Labels{"version": version, "go": goVersion()},
	})
	build.Set(1)
	m.registry.MustRegister(m.runs, m.sessions, m.cost, m.tokens, m.unpriced, m.computed, m.seconds, m.inputs, m.commits, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.GoVersion
	}
	return "unknown"
}

// Input counts an input of a kind that began at began and is answered now.
func (m *Metrics) Input(kind string, began time.Time) {
	m.inputs.WithLabelValues(kind).Observe(time.Since(began).Seconds())
}

// Entry counts a committed entry. before is the state in which it was decided.
func (m *Metrics) Entry(before loop.State, e ledger.Entry) {
	project := before.Project.Name
	switch b := e.Body.(type) {
	case ledger.RunEnded:
		m.runs.WithLabelValues(project, string(b.Reason)).Inc()
	case ledger.SessionEnded:
		if b.Kind != ledger.KindAgent {
			return
		}
		hat := "unknown"
		if s, ok := before.Project.Session(e.Session); ok {
			hat = s.Planned.Hat
		}
		m.sessions.WithLabelValues(project, hat, string(b.End), string(b.Counts)).Inc()
		m.seconds.WithLabelValues(hat).Observe(b.Exit.Took().Seconds())
		if b.Exit.CostUSD >= 0 {
			m.cost.WithLabelValues(project, hat).Add(b.Exit.CostUSD)
			if b.Exit.Estimated {
				m.computed.WithLabelValues(project).Inc()
			}
		} else {
			m.unpriced.WithLabelValues(project).Inc()
		}
		if b.Exit.Tokens >= 0 {
			m.tokens.WithLabelValues(project, hat).Add(float64(b.Exit.Tokens))
		}
	}
}

// Ledger returns the store with measured commits.
func (m *Metrics) Ledger(s *store.Store) engine.Ledger { return timedLedger{s, m.commits} }

type timedLedger struct {
	*store.Store
	seconds prometheus.Observer
}

func (l timedLedger) Commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error) {
	began := time.Now()
	r, err := l.Store.Commit(ctx, b)
	if err == nil {
		l.seconds.Observe(time.Since(began).Seconds())
	}
	return r, err
}

// Text returns all metrics in Prometheus' text format.
func (m *Metrics) Text(now Current) ([]byte, error) {
	families, err := prometheus.Gatherers{m.registry, gauges(now)}.Gather()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func gauges(now Current) *prometheus.Registry {
	r := prometheus.NewRegistry()
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: metricsPrefix + name, Help: help}, labels)
		r.MustRegister(g)
		return g
	}
	state := gauge("run_state", "1 for the state of each project's last run, idle where none was begun.", "project", "state")
	tasks := gauge("tasks", "Tasks of each project, by status.", "project", "status")
	flight := gauge("sessions_in_flight", "Sessions that are under way, those without an agent too.", "project")
	waiting := gauge("guidance_waiting", "Guidance that no session has taken yet.", "project")
	open := gauge("questions_open", "Questions that wait for a person.", "project")
	held := gauge("agent_held", "1 for each agent that cannot be used now: parked, or unusable until a person acts.", "agent", "why")
	var shared loop.Shared
	for _, s := range now.States {
		shared = s.Shared
		name, at := s.Project.Name, "idle"
		if s.Project.Run != nil {
			at = string(s.Project.Run.State)
		}
		state.WithLabelValues(name, at).Set(1)
		for _, t := range s.Project.Tasks.All() {
			tasks.WithLabelValues(name, string(t.Status)).Inc()
		}
		flight.WithLabelValues(name).Set(float64(len(s.Project.Sessions)))
		waiting.WithLabelValues(name).Set(float64(len(s.Project.Guidance.Waiting())))
		open.WithLabelValues(name).Set(float64(len(s.Project.Questions)))
	}
	for name, h := range shared.Agents {
		why := "parked"
		if h.Unusable {
			why = "unusable"
		}
		held.WithLabelValues(name, why).Set(1)
	}
	if c := now.Chats; c != nil {
		if c.Queued >= 0 {
			gauge("outbox_queued", "Messages that wait to be delivered.").WithLabelValues().Set(float64(c.Queued))
		}
		g := gauge("chat_connected", "1 where the last call to a chat's platform was answered.", "platform")
		for name, ok := range c.Connected {
			g.WithLabelValues(name).Set(number(ok))
		}
	}
	gauge("config_reload_failed", "1 while the settings in force are older than their file, which is wrong.").WithLabelValues().Set(number(now.ReloadFailed))
	gauge("api_version", "Version of the sockets' API.").WithLabelValues().Set(api.Version)
	return r
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
