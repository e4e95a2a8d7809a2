package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKinds(t *testing.T) {
	kinds, err := Kinds(&Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
		if len(k.Passes) < fewestPasses || len(k.Words) == 0 {
			t.Errorf("%+v", k)
		}
	}
	if got := strings.Join(names, " "); got != "auth-permissions css-style data-hook multi-file ui-component" {
		t.Error(got)
	}
}

func TestKindsOfARepository(t *testing.T) {
	for text, want := range map[string]string{
		"name = \"payments\"\nwords = [\"refund\"]\npasses = [\"security\", \"intent\"]\n":  "",
		"name = \"payments\"\nwords = [\"refund\"]\npasses = [\"intent\"]\n":                "2 to 5 different passes",
		"name = \"payments\"\nwords = [\"refund\"]\n":                                       "2 to 5 different passes",
		"name = \"payments\"\npasses = [\"intent\", \"bugs\"]\n":                            "needs words or paths",
		"name = \"payments\"\ntier = 4\nwords = [\"x\"]\npasses = [\"intent\", \"bugs\"]\n": "a tier is 1, 2 or 3",
		"name = \"payments\"\nwords = [\"x\"]\npasses = [\"intent\", \"taste\"]\n":          "taste",
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, repoFolder, kindFolder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, repoFolder, kindFolder, "payments.toml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		kinds, err := Kinds(&Config{}, &Project{Repo: dir, TrustRepo: true})
		switch {
		case want == "" && (err != nil || len(kinds) != 6):
			t.Errorf("%s%v, %d kinds", text, err, len(kinds))
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s%v, want %q", text, err, want)
		}
	}
}
