package config

import (
	"strings"
	"testing"
)

func TestTopic(t *testing.T) {
	topic, whole := Topic{Chat: -1001234567890, Thread: 42}, Topic{Chat: -1001234567890}
	for _, c := range []struct {
		written any
		want    Topic
	}{
		{"https://t.me/c/1234567890/42", topic},
		{"https://t.me/c/1234567890/42/1007", topic},
		{"https://t.me/c/1234567890/1007?thread=42", topic},
		{"https://t.me/c/1234567890/42/1007?single", topic},
		{" t.me/c/1234567890/42/ ", topic},
		{"-1001234567890/42", topic},
		{"-1001234567890", whole},
		{int64(-1001234567890), whole},
		{"https://t.me/c/1234567890", whole},
		{"https://t.me/c/1234567890/1", whole}, // messages in the topic General carry no topic id
		{"https://t.me/c/1234567890/1/1007", whole},
		{"-1001234567890/1", whole},
		{"-987654321", Topic{Chat: -987654321}},                                  // a plain group
		{"https://t.me/c/12345678901/7", Topic{Chat: -1012345678901, Thread: 7}}, // the id has an extra digit: the link's number is a distance from supergroups, not the id's digits
	} {
		var got Topic
		if err := got.fromTOML(c.written); err != nil || got != c.want {
			t.Errorf("%v is %+v, %v; want %+v", c.written, got, err, c.want)
		}
	}
	for _, bad := range []any{"", "42", int64(42), "shop", "-12", "-987654321/4", "-1001234567890/", "-1001234567890/x", "https://t.me/c/1234567890/x",
		"https://t.me/+AbCdEf", "https://example.com/c/1234567890/42", "-1001234567890/42/7", "-99999999999999999999", true, 1.5, "https://t.me/mygroup/42", "@mygroup"} {
		got := Topic{}
		if err := got.fromTOML(bad); err == nil || got != (Topic{}) {
			t.Errorf("%v is %+v, without an error", bad, got)
		} else if s, is := bad.(string); is && strings.Contains(s, "mygroup") != strings.Contains(err.Error(), "public") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
