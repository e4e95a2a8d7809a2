package main

import (
	"bytes"
	"context"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/store"
)

// metrics are the process's figures for Prometheus (SPEC 16). Label values are
// bounded: names of the configuration, and words of the ledger's types.
// Counters are of this process; what is true now is read from the state.
type metrics struct {
	registry *prometheus.Registry
	runs     *prometheus.CounterVec
	sessions *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	cost     *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	unpriced *prometheus.CounterVec
	inputs   *prometheus.HistogramVec
	commits  prometheus.Histogram

	// Hooks of the chats, nil where there are none.
	queued    func() (messages int, err error) // messages that wait to be delivered
	connected func() map[string]bool           // by platform
}

const metricsPrefix = "nightporter_"

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricsPrefix + name, Help: help}, labels)
	}
	fast := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		runs:     counter("runs_ended_total", "Runs that ended, by reason.", "project", "reason"),
		sessions: counter("sessions_total", "Sessions of agents that ended, by what their end means and counts as.", "project", "hat", "end", "counts"),
		cost:     counter("cost_usd_total", "What agents reported to have cost, in US dollars.", "project", "hat"),
		tokens:   counter("tokens_total", "Tokens that agents reported.", "project", "hat"),
		unpriced: counter("sessions_unpriced_total", "Sessions of agents whose cost is unknown.", "project"),
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
		ConstLabels: prometheus.Labels{"version": Version, "go": goVersion()},
	})
	build.Set(1)
	m.registry.MustRegister(m.runs, m.sessions, m.cost, m.tokens, m.unpriced, m.seconds, m.inputs, m.commits, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.GoVersion
	}
	return "unknown"
}

func (m *metrics) input(kind string, took time.Duration) {
	m.inputs.WithLabelValues(kind).Observe(took.Seconds())
}

// entry counts one committed entry. before is the state that it was decided in.
func (m *metrics) entry(before loop.State, e loop.Entry) {
	project := before.Project.Name
	switch b := e.Body.(type) {
	case loop.RunEnded:
		m.runs.WithLabelValues(project, string(b.Reason)).Inc()
	case loop.SessionEnded:
		if b.Kind != loop.KindAgent {
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
		} else {
			m.unpriced.WithLabelValues(project).Inc()
		}
		if b.Exit.Tokens >= 0 {
			m.tokens.WithLabelValues(project, hat).Add(float64(b.Exit.Tokens))
		}
	}
}

// ledger is the store with its commits timed.
func (m *metrics) ledger(s *store.Store) engine.Ledger { return timedLedger{s, m.commits} }

type timedLedger struct {
	*store.Store
	seconds prometheus.Observer
}

func (l timedLedger) Commit(ctx context.Context, b loop.Batch) (loop.Receipt, error) {
	began := time.Now()
	r, err := l.Store.Commit(ctx, b)
	if err == nil {
		l.seconds.Observe(time.Since(began).Seconds())
	}
	return r, err
}

// gather returns all metrics as text.
func (p *porter) gather(context.Context) ([]byte, error) {
	families, err := prometheus.Gatherers{p.metrics.registry, p.metrics.now(p)}.Gather()
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

// now is what is true at this moment.
func (m *metrics) now(p *porter) *prometheus.Registry {
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
	d := &operatorService{porter: p}
	var house loop.Shared
	for _, name := range d.Projects() {
		s, _ := d.State(name)
		house = s.Shared
		at := "idle"
		if s.Project.Run != nil {
			at = string(s.Project.Run.State)
		}
		state.WithLabelValues(name, at).Set(1)
		for _, t := range s.Project.Tasks {
			tasks.WithLabelValues(name, string(t.Status)).Inc()
		}
		flight.WithLabelValues(name).Set(float64(len(s.Project.Sessions)))
		waiting.WithLabelValues(name).Set(float64(len(s.Project.Guidance.Waiting())))
		open.WithLabelValues(name).Set(float64(len(s.Project.Questions)))
	}
	for name, h := range house.Agents {
		why := "parked"
		if h.Unusable {
			why = "unusable"
		}
		held.WithLabelValues(name, why).Set(1)
	}
	if m.queued != nil {
		if n, err := m.queued(); err == nil { // unknown is left out
			gauge("outbox_queued", "Messages that wait to be delivered.").WithLabelValues().Set(float64(n))
		}
	}
	if m.connected != nil {
		g := gauge("chat_connected", "1 where the last call to a chat's platform was answered.", "platform")
		for name, ok := range m.connected() {
			value := 0.0
			if ok {
				value = 1
			}
			g.WithLabelValues(name).Set(value)
		}
	}
	reload := 0.0
	if strings.Contains(strings.Join(p.remarks.of(""), "\n"), notReloaded) {
		reload = 1
	}
	gauge("config_reload_failed", "1 while the settings in force are older than their file, which is wrong.").WithLabelValues().Set(reload)
	gauge("api_version", "Version of the sockets' API.").WithLabelValues().Set(api.Version)
	return r
}
