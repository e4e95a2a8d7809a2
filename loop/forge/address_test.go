package forge

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestParse(t *testing.T) {
	gitHub := Address{Kind: ledger.ForgeGitHub, Host: "github.com", Owner: "o", Name: "n"}
	for remote, want := range map[string]Address{
		"git@github.com:o/n.git":                   gitHub,
		"git@github.com:/o/n":                      gitHub,
		"github.com:o/n.git":                       gitHub,
		"https://github.com/o/n":                   gitHub,
		"https://github.com/o/n.git/":              gitHub,
		"https://GitHub.com:443/o/n.git":           gitHub,
		"https://me:secret@github.com/o/n.git":     gitHub,
		"ssh://git@github.com/o/n.git":             gitHub,
		"ssh://git@ssh.github.com:443/o/n.git":     gitHub,
		"git@github.example.com:o/n.git":           {Kind: ledger.ForgeGitHub, Host: "github.example.com", Owner: "o", Name: "n"},
		"https://acme.ghe.com/o/n":                 {Kind: ledger.ForgeGitHub, Host: "acme.ghe.com", Owner: "o", Name: "n"},
		"https://codeberg.org/o/n.git":             {Kind: ledger.ForgeGitea, Host: "codeberg.org", Owner: "o", Name: "n"},
		"https://example.com/git/o/n.name.git":     {Kind: ledger.ForgePlain, Host: "example.com", Prefix: "/git", Owner: "o", Name: "n.name"},
		"http://127.0.0.1:3000/o/n.git":            {Kind: ledger.ForgePlain, Host: "127.0.0.1:3000", Owner: "o", Name: "n", HTTP: true},
		"ssh://git@gitea.example.com:2222/o/n.git": {Kind: ledger.ForgeGitea, Host: "gitea.example.com", Owner: "o", Name: "n"},
		"ssh://git@[::1]:2222/o/n.git":             {Kind: ledger.ForgePlain, Host: "[::1]", Owner: "o", Name: "n"},
		"git@[::1]:o/n.git":                        {Kind: ledger.ForgePlain, Host: "[::1]", Owner: "o", Name: "n"},
		"https://gitlab.com/group/sub/n.git":       {Kind: ledger.ForgePlain, Host: "gitlab.com", Prefix: "/group", Owner: "sub", Name: "n"},
		"/srv/git/n.git":                           {Kind: ledger.ForgePlain},
		"../n.git":                                 {Kind: ledger.ForgePlain},
		"./a:b/c":                                  {Kind: ledger.ForgePlain},
		"C:/repos/n":                               {Kind: ledger.ForgePlain},
		"file:///srv/git/n.git":                    {Kind: ledger.ForgePlain},
		"git://github.com/o/n.git":                 {Kind: ledger.ForgePlain},
		"git@github.com:n.git":                     {Kind: ledger.ForgePlain, Host: "github.com"},
		"https://github.com/o/..":                  {Kind: ledger.ForgePlain, Host: "github.com"},
		"https://github.com/o/%2e%2e":              {Kind: ledger.ForgePlain, Host: "github.com"},
		"https://github.com/o/n%2fx":               {Kind: ledger.ForgeGitHub, Host: "github.com", Prefix: "/o", Owner: "n", Name: "x"},
		"https://github.com/-o/n":                  {Kind: ledger.ForgePlain, Host: "github.com"},
		"git@github.com.evil.example:o/n":          {Kind: ledger.ForgeGitHub, Host: "github.com.evil.example", Owner: "o", Name: "n"},
		"https://github.com@evil.example/o/n":      {Kind: ledger.ForgePlain, Host: "evil.example", Owner: "o", Name: "n"},
		"https://notgithub.com/o/n":                {Kind: ledger.ForgePlain, Host: "notgithub.com", Owner: "o", Name: "n"},
	} {
		if got, err := Parse(remote); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", remote, got, err, want)
		}
	}
	for _, remote := range []string{
		"", "--upload-pack=x", "ext::sh -c x", "https://a\nb/o/n", "https://github.com:bad/o/n", "javascript://github.com/o/n",
		"https:///o/n", "ssh://-oProxyCommand=x/o/n", "git@-oProxyCommand=x:o/n", "https://u:s3cret@h ost/o/n", strings.Repeat("a", 3000),
	} {
		_, err := Parse(remote)
		var f *ledger.ForgeError
		if !errors.As(err, &f) || f.Remedy == "" || strings.Contains(f.Text, "s3cret") {
			t.Errorf("%q: %v", remote, err)
		}
	}
}

func TestAPI(t *testing.T) {
	for remote, want := range map[string]string{
		"git@github.com:o/n.git":               "https://api.github.com/",
		"https://acme.ghe.com/o/n":             "https://api.acme.ghe.com/",
		"git@github.example.com:o/n":           "https://github.example.com/api/v3/",
		"https://gitea.example.com:8443/x/o/n": "https://gitea.example.com:8443/x",
		"http://gitea.local/o/n":               "http://gitea.local",
		"/srv/git/n":                           "",
	} {
		a, err := Parse(remote)
		if got := KindOf(a.Kind).API(a); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", remote, got, err, want)
		}
	}
}

// TestKinds checks that no row of the table has an empty cell without a reason.
func TestKinds(t *testing.T) {
	for _, k := range Kinds {
		if k.Title == "" || k.API == nil || KindOf(k.Kind).Title != k.Title {
			t.Errorf("%s: an empty cell", k.Kind)
		}
		if plain := k.Kind == ledger.ForgePlain; (k.Credential == "") != plain || (k.File == "") != plain || (k.Remedy == "") != plain || (len(k.Hosts) == 0) != plain || (len(k.Labels) == 0) != plain {
			t.Errorf("%s: only a plain remote has no token and no hosts", k.Kind)
		}
	}
	if KindOf("other").Kind != ledger.ForgePlain {
		t.Error("an unknown kind is not plain")
	}
}

// FuzzParse checks that what is recognised can neither leave its path on the
// server nor be an option of a program.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"git@github.com:o/n.git", "https://u:p@h:1/x/o/n", "ssh://[::1]:22/o/n", "ext::x", "a@b:c:d/e", "C:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, remote string) {
		a, err := Parse(remote)
		if err != nil {
			var e *ledger.ForgeError
			if !errors.As(err, &e) {
				t.Fatalf("%q: %v is no ForgeError", remote, err)
			}
			return
		}
		if a.Kind != ledger.ForgePlain && (a.Host == "" || a.Owner == "" || a.Name == "") {
			t.Errorf("%q: %+v has no repository", remote, a)
		}
		for _, part := range []string{a.Host, a.Owner, a.Name} {
			if strings.HasPrefix(part, "-") || strings.ContainsAny(part, "/@?#% \n\\") || part == ".." {
				t.Errorf("%q: %+v", remote, a)
			}
		}
		if api := KindOf(a.Kind).API(a); api != "" {
			u, err := url.Parse(api)
			if err != nil || u.User != nil || u.RawQuery != "" || strings.Contains(u.Path, "..") {
				t.Errorf("%q: the interface is at %q, %v", remote, api, err)
			}
		}
	})
}
