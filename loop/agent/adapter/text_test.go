package adapter

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestEachLine(t *testing.T) {
	long := strings.Repeat("y", 200<<10)
	var got []string
	eachLine(strings.NewReader("a\r\n\n"+long+"\nb\n"+long[:100]+"\nend"), 100, func(line []byte, cut bool) {
		got = append(got, fmt.Sprint(string(line[:min(3, len(line))]), " ", len(line), cut))
	})
	if d := cmp.Diff([]string{"a 1 false", "yyy 100 true", "b 1 false", "yyy 100 false", "end 3 false"}, got); d != "" {
		t.Error(d)
	}
}

func TestClean(t *testing.T) {
	for _, in := range []string{"", "abc", "a\x00b", "\xff\xfe", strings.Repeat("ä", 5000), strings.Repeat("\xe2\x82", 4000)} {
		got := Clean(in, 100)
		if !utf8.ValidString(got) || len(got) > 100 || strings.Contains(got, "\x00") {
			t.Errorf("Clean(%.20q) = %q", in, got)
		}
	}
}
