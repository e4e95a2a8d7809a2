package daemon_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/metrics"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// alertRules is the form of Prometheus' rule files, as far as ours use it.
type alertRules struct {
	Groups []struct {
		Rules []struct {
			Alert, Expr, For string
			Annotations      struct{ Summary, Remedy string }
		}
	}
}

var (
	metricName  = regexp.MustCompile(`nightporter_[a-z_]+`)
	metricLabel = regexp.MustCompile(`([a-z]+)="([^"]*)"|by \(([a-z]+)\)|\$labels\.([a-z]+)`)
)

// TestAlertRules: the rules of deploy/ ask for metrics and labels that nightporter
// has, and each says what happened and what to do.
func TestAlertRules(t *testing.T) {
	data, err := os.ReadFile("../../deploy/nightporter.alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules alertRules
	if err := yaml.Unmarshal(data, &rules); err != nil {
		t.Fatal(err)
	}
	text := everyMetric(t)
	if len(rules.Groups) != 1 || len(rules.Groups[0].Rules) < 8 {
		t.Fatalf("%d groups", len(rules.Groups))
	}
	for _, r := range rules.Groups[0].Rules {
		if r.Alert == "" || r.Annotations.Summary == "" || r.Annotations.Remedy == "" {
			t.Errorf("%q lacks its name, summary or remedy", r.Alert)
		}
		names := metricName.FindAllString(r.Expr, -1)
		if len(names) == 0 {
			t.Errorf("%s asks for no metric of nightporter: %s", r.Alert, r.Expr)
		}
		for _, name := range names {
			line := regexp.MustCompile(`(?m)^` + name + `[{ ].*$`).FindString(text)
			if line == "" {
				t.Errorf("%s asks for %s, which does not exist", r.Alert, name)
			}
			for _, m := range metricLabel.FindAllStringSubmatch(r.Expr+r.Annotations.Summary, -1) {
				if label := m[1] + m[3] + m[4]; !strings.Contains(line, label+`="`) {
					t.Errorf("%s asks for the label %s, which %s has not: %s", r.Alert, label, name, line)
				}
				if m[2] != "" && !strings.Contains(text, m[1]+`="`+m[2]+`"`) {
					t.Errorf("%s asks for %s, a value that does not occur", r.Alert, m[0])
				}
			}
		}
	}
}

// everyMetric returns the text of /metrics of a daemon in which each of the metrics
// has occurred.
func everyMetric(t *testing.T) string {
	t.Helper()
	p, _ := daemontest.Open(t, daemontest.Config(t, "manual"))
	running, err := p.Figures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := metrics.New("devel")
	before := loop.State{Project: loop.Project{Name: "shop"}}
	m.Entry(before, ledger.Entry{Session: "r1-1", Body: ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedSilent, Counts: ledger.CountsAsFailed}})
	before.Shared.Agents = map[string]loop.AgentHold{"claude": {Unusable: true}}
	occurred, err := m.Text(metrics.Current{States: []loop.State{before}, Chats: &metrics.Chats{Queued: 1, Connected: map[string]bool{"telegram": false}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(running) + string(occurred)
}
