package store

import (
	"encoding/hex"
	"strings"
	"testing"
)

func TestParseHead(t *testing.T) {
	whole := strings.Repeat("9f86d081884c7d65", 4)
	for text, want := range map[string]Head{
		"41:9f86d081884c":                            {Seq: 41, Digits: "9f86d081884c"},
		" 41:9F86D081 ":                              {Seq: 41, Digits: "9f86d081"},
		"41:9f86d081884c…":                           {Seq: 41, Digits: "9f86d081884c"},
		"shop@41:9f86d081884c":                       {Stream: "project/shop", Seq: 41, Digits: "9f86d081884c"},
		"house@12:" + whole:                          {Stream: "house", Seq: 12, Digits: whole},
		"project/shop@41:" + whole:                   {Stream: "project/shop", Seq: 41, Digits: whole},
		"Nightporter-Head: project/shop@41:" + whole: {Stream: "project/shop", Seq: 41, Digits: whole},
	} {
		if got, err := ParseHead(text); err != nil || got != want {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "41", "41:", "41:9f86d08", "0:9f86d081884c", "-1:9f86d081884c", "x:9f86d081884c", "@41:9f86d081884c", "41:9f86d081884x", "41:" + whole + "0", "9f86d081884c", "41 9f86d081884c"} {
		if got, err := ParseHead(text); err == nil || !strings.Contains(err.Error(), "41:9f86d081884c") {
			t.Errorf("%q is %+v, %v; want an error that shows the form", text, got, err)
		}
	}
	hash, err := hex.DecodeString(whole)
	if err != nil {
		t.Fatal(err)
	}
	h := Head{Stream: "house", Seq: 2, Digits: "9f86d081"}
	if !h.Fits(hash) || (Head{Digits: "9f86d082"}).Fits(hash) || (Head{Digits: "9f86d082"}).Fits(nil) {
		t.Error("Fits does not compare the first digits")
	}
	if again, err := ParseHead(h.String()); err != nil || again != h {
		t.Errorf("%s comes back as %+v, %v", h, again, err)
	}
}
