package secret

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Values are put together so that no scan of this repository finds them.
var (
	aws    = "AKIA" + "QYLPMN5HHHFPZAM2"
	github = "ghp_" + "x7Kq92LmZpR4tVbN8sWd3YhJ6cFgA1eUoI5Q"
	pem    = "-----BEGIN PRIVATE " + "KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF5mUbYUjzQ7FGhYsWkDxYkT0rBq1\n", 3) + "-----END PRIVATE " + "KEY-----"
)

func every(int) bool { return true }

// TestRulesAreWhole reads the embedded rules and compiles every expression.
func TestRulesAreWhole(t *testing.T) {
	set := defaults()
	if len(set.rules) < 200 || len(set.allow) == 0 {
		t.Fatalf("%d rules, %d allowlists", len(set.rules), len(set.allow))
	}
	ids := map[string]bool{}
	for _, r := range set.rules {
		if r.id == "" || ids[r.id] || r.regex == nil && r.path == nil {
			t.Errorf("rule %q is empty or there twice", r.id)
		}
		ids[r.id] = true
		if r.regex != nil && r.group > r.regex().NumSubexp() {
			t.Errorf("%s has no group %d", r.id, r.group)
		}
	}
	if !ids[generic] {
		t.Errorf("no rule %s", generic)
	}
}

func TestScan(t *testing.T) {
	secretYAML := "kind: Secret\nmetadata:\n  name: x\n  labels:\n    a: b\n    c: d\ndata:\n  pass: " + "c3VwZXJzZWNyZXR2YWx1ZQ==\n"
	for _, c := range []struct {
		name, path, text string
		want             []string
	}{
		{"nothing", "a.go", "package a\n\nfunc key() string { return os.Getenv(\"TOKEN\") }\n", nil},
		{"two", "a.sh", "a\nK=" + aws + "\n\nT=" + github + "\n", []string{"aws-access-token 2-2", "github-pat 4-4"}},
		{"the specific rule", "a.sh", "api_key=" + aws + "\n", []string{"aws-access-token 1-1"}},
		{"lines of Windows", "a.sh", "a\r\nK=" + aws + "\r\n", []string{"aws-access-token 2-2"}},
		{"no line end", "a.sh", "K=" + aws, []string{"aws-access-token 1-1"}},
		{"many lines", "k", "a\n" + pem + "\nb\n", []string{"private-key 2-6"}},
		{"keyword behind the value", "s.yaml", secretYAML, []string{"kubernetes-secret-yaml 1-8"}},
		{"a long line", "a.min.css", strings.Repeat("x", 300_000) + " K=" + aws + " " + strings.Repeat("y", 300_000), []string{"aws-access-token 1-1"}},
		{"no UTF-8", "a", "\xff\xfe\n\xffİ K=" + aws + "\n", []string{"aws-access-token 2-2"}},
		{"a path that the rules allow", "package-lock.json", "K=" + aws + "\n", nil},
		{"an example", "a.sh", "K=AKIA" + "IOSFODNN7EXAMPLE\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range Scan(c.path, c.text, Exceptions{}, every) {
				got = append(got, fmt.Sprintf("%s %d-%d", f.Rule, f.Line, f.Last))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScanOfAddedLines: a match counts if one of its lines was added.
func TestScanOfAddedLines(t *testing.T) {
	text := "K=" + aws + "\n" + pem + "\nT=" + github + "\n"
	for line, want := range map[int]string{1: "aws-access-token", 4: "private-key", 7: "github-pat"} {
		found := Scan("a", text, Exceptions{}, func(n int) bool { return n == line })
		if len(found) != 1 || found[0].Rule != want {
			t.Errorf("line %d: %+v, want %s", line, found, want)
		}
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "",
		"Fixed the cart.\n\nIt was off by one.": "Fixed the cart.\n\nIt was off by one.",
		"Use " + github + " for it":             "Use [secret removed: github-pat] for it",
		"A " + aws + " and\n" + pem + "\nend":   "A [secret removed: aws-access-token] and\n[secret removed: private-key]\nend",
		aws + " " + aws + " " + github:          "[secret removed: aws-access-token] [secret removed: aws-access-token] [secret removed: github-pat]",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRedactAddresses removes passwords from addresses, and leaves what stands for one.
func TestRedactAddresses(t *testing.T) {
	const removed = "[secret removed: url-password]"
	for text, want := range map[string]string{
		"cloned https://bob:" + "pw@host/x.git.":                                               "cloned https://bob:" + removed + "@host/x.git.",
		"postgres://app:" + "s3:c,r%40t!@db:5432/app?a=b":                                      "postgres://app:" + removed + "@db:5432/app?a=b",
		"(redis://:" + "pw@cache) and ftp://a:" + "b@c":                                        "(redis://:" + removed + "@cache) and ftp://a:" + removed + "@c",
		"HTTPS://BOB:" + "p@w@HOST":                                                            "HTTPS://BOB:" + removed + "@HOST",
		"git+ssh://git:" + "pw@host":                                                           "git+ssh://git:" + removed + "@host",
		"with https://bob:" + github + "@host":                                                 "with https://bob:[secret removed: github-pat]@host",
		"https://bob@host https://host:8080/a@b ssh://git@host":                                "https://bob@host https://host:8080/a@b ssh://git@host",
		"http://localhost:8080?to=a@b.c http://[::1]:80/":                                      "http://localhost:8080?to=a@b.c http://[::1]:80/",
		"mail bob:pw@host, or a://b":                                                           "mail bob:pw@host, or a://b",
		"https://bob:$TOKEN@h https://bob:${T}@h https://bob:$(cat t)@h":                       "https://bob:$TOKEN@h https://bob:${T}@h https://bob:$(cat t)@h",
		"https://u:<password>@h https://u:{{ pw }}@h https://u:{pw}@h https://u:[NPM_TOKEN]@h": "https://u:<password>@h https://u:{{ pw }}@h https://u:{pw}@h https://u:[NPM_TOKEN]@h",
		"https://u:***@h https://u:xxxxx@h https://u:%s@h https://u:...@h https://u:…@h":       "https://u:***@h https://u:xxxxx@h https://u:%s@h https://u:...@h https://u:…@h",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if again := Redact(want); again != want {
			t.Errorf("the second time %q, want %q", again, want)
		}
	}
}

func TestRedactJSON(t *testing.T) {
	for data, want := range map[string]string{
		`{"summary": "fine",  "n": 1.50}`: `{"summary": "fine",  "n": 1.50}`,
		`{"n":12345678901234567890,"summary":"use ` + github + `","issues":[{"text":"` + aws + `"}]}`: `{"issues":[{"text":"[secret removed: aws-access-token]"}],"n":12345678901234567890,"summary":"use [secret removed: github-pat]"}`,
		`{"summary":"` + github: `{"summary":"` + github,
		`{"a":1}{"b":2}`:        `{"a":1}{"b":2}`,
		``:                      ``,
	} {
		if got := string(RedactJSON([]byte(data))); got != want {
			t.Errorf("%s\n got %s\nwant %s", data, got, want)
		}
	}
}

// BenchmarkScan scans text that is nothing but keywords, the worst there is.
func BenchmarkScan(b *testing.B) {
	text := strings.Repeat("key token secret password api auth -----begin curl ", 4_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Scan("a.txt", text, Exceptions{}, every)
	}
}

func FuzzScan(f *testing.F) {
	f.Add("a.sh", "api_key="+aws+"\n"+pem)
	f.Add("", "\xffKEY='"+github+"'\r\n\r\n")
	f.Fuzz(func(t *testing.T, path, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, x := range Scan(path, text, Exceptions{}, every) {
			if x.Line < 0 || x.Last < x.Line || x.Last > lines || x.start < 0 || x.end < x.start || x.end > len(text) {
				t.Errorf("%+v of %d lines, %d bytes", x, lines, len(text))
			}
		}
		Redact(text)
	})
}

// TestRedactPart: of a key that is cut off on one side nothing is left.
func TestRedactPart(t *testing.T) {
	const begin, end = "-----BEGIN EC PRIVATE KEY-----", "-----END EC PRIVATE KEY-----"
	body := strings.Repeat("MHcCAQEEIBx0\n", 12)
	rows := strings.Repeat("MHcCAQEEIBx0/+Aa"+strings.Repeat("q7Zt", 12)+"\n", 3)
	sums := strings.Repeat(strings.Repeat("0f9a", 16)+"\n", 3)
	for text, want := range map[string]string{
		"read it.\n" + begin + "\n" + body:             "read it.\n[secret removed: private-key]",
		body + end + "\nafter, it":                     "[secret removed: private-key]\nafter, it",
		"a.\n" + begin + "\n" + body + end + "\nafter": "a.\n[secret removed: private-key]\nafter",
		rows + "after":                                 "[secret removed: private-key]\nafter", // of its middle
		"before\n" + rows + "after":                    "before\n" + rows + "after",
		sums + "after":                                 sums + "after",
		"plain":                                        "plain",
		"-----BEGIN PUBLIC KEY-----\nMIIB":             "-----BEGIN PUBLIC KEY-----\nMIIB",
	} {
		if got := RedactPart(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
