package config

import (
	"strings"
	"testing"
)

func TestChannel(t *testing.T) {
	for _, written := range []string{
		"C0123456", " C0123456 ", "https://tea-shop.slack.com/archives/C0123456", "https://tea-shop.slack.com/archives/C0123456/p1700000000000100?thread_ts=1.2",
		"https://app.slack.com/client/T0HOUSE/C0123456", "https://tea.enterprise.slack.com/archives/C0123456/",
	} {
		var got Channel
		if err := got.fromTOML(written); err != nil || got != "C0123456" {
			t.Errorf("%q is %q, %v", written, got, err)
		}
	}
	for _, bad := range []any{
		"", "#shop", "shop", "U0MIRA123", "D0123456", "c0123456", "C01", "C0123456/7", "https://evil.example/archives/C0123456",
		"https://tea.slack.com.evil.example/archives/C0123456", 7, true, strings.Repeat("#", 10_000), "C0123456\nC0123457",
	} {
		got := Channel("")
		if err := got.fromTOML(bad); err == nil || got != "" || len(err.Error()) > 300 {
			t.Errorf("%v is %q, %v", bad, got, err)
		}
	}
}
