package adapter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestClaudeWindow reads the use of a subscription's windows, and nothing of what has
// another form: it is unknown then.
func TestClaudeWindow(t *testing.T) {
	resets := time.Unix(1795214847, 0).UTC()
	for name, c := range map[string]struct {
		info string
		want *ledger.UsageWindow
	}{
		"api key":             {`{"status":"allowed","isUsingOverage":false}`, nil},
		"one window":          {`{"status":"allowed","resetsAt":1795214847,"rateLimitType":"five_hour","utilization":0.92}`, &ledger.UsageWindow{Name: "five_hour", Used: 0.92, Resets: resets}},
		"the fullest":         {`{"status":"allowed","unifiedWindows":{"five_hour":{"utilization":0.3,"resetsAt":1},"seven_day":{"utilization":0.85,"resetsAt":1795214847}}}`, &ledger.UsageWindow{Name: "seven_day", Used: 0.85, Resets: resets}},
		"without a reset":     {`{"unifiedWindows":{"five_hour":{"utilization":0.85}}}`, &ledger.UsageWindow{Name: "five_hour", Used: 0.85}},
		"in per cent":         {`{"unifiedWindows":{"five_hour":{"utilization":85,"resetsAt":1795214847}}}`, nil},
		"negative":            {`{"unifiedWindows":{"five_hour":{"utilization":-1,"resetsAt":1795214847}}}`, nil},
		"a text":              {`{"status":"allowed","rateLimitType":"five_hour","utilization":"0.9"}`, nil},
		"windows renamed":     {`{"status":"allowed","windows":{"five_hour":{"utilization":0.9}}}`, nil},
		"null":                {`null`, nil},
		"rejected, all of it": {`{"status":"rejected","resetsAt":1795214847,"unifiedWindows":{"five_hour":{"utilization":1,"resetsAt":1795214847,"status":"rejected"}}}`, &ledger.UsageWindow{Name: "five_hour", Used: 1, Resets: resets}},
	} {
		t.Run(name, func(t *testing.T) {
			out := `{"type":"rate_limit_event","rate_limit_info":` + c.info + "}\n" + `{"type":"assistant","message":{"id":"m1","model":"x"}}` + "\n" + `{"type":"result","subtype":"success","is_error":false}` + "\n"
			v := Find(Claude).Judge(strings.NewReader(out), ledger.Exit{})
			if d := cmp.Diff(c.want, v.Window); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if (v.Window == nil) != (len(v.Windows) == 0) || v.Window != nil && !slices.Contains(v.Windows, *v.Window) {
				t.Errorf("%+v is not the fullest of %+v", v.Window, v.Windows)
			}
		})
	}
}

// TestClaudeWindows reads all windows, and of too many the fullest alone.
func TestClaudeWindows(t *testing.T) {
	read := func(windows string) []ledger.UsageWindow {
		out := `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","unifiedWindows":{` + windows + "}}}\n" + `{"type":"result","subtype":"success","is_error":false}` + "\n"
		return Find(Claude).Judge(strings.NewReader(out), ledger.Exit{}).Windows
	}
	resets := time.Unix(1795214847, 0).UTC()
	want := []ledger.UsageWindow{{Name: "five_hour", Used: 0.3, Resets: resets}, {Name: "seven_day", Used: 0.85}}
	if d := cmp.Diff(want, read(`"seven_day":{"utilization":0.85},"five_hour":{"utilization":0.3,"resetsAt":1795214847}`)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	var many []string
	for n := range 50 {
		many = append(many, fmt.Sprintf(`"w%d":{"utilization":%g}`, n, float64(n%40)/100))
	}
	if d := cmp.Diff([]ledger.UsageWindow{{Name: "w39", Used: 0.39}}, read(strings.Join(many, ","))); d != "" {
		t.Errorf("of 50 (-want +got):\n%s", d)
	}
}
