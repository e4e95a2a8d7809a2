package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Check returns the mistakes of a project that Load does not report, because
// they lie outside of the configuration and can change while it stays: a
// repository that is not mounted yet, a missing file of variables, the hats of a
// trusted repository, folders that sessions must not write. state is the state
// folder, "" for the usual one. The error is an *Error with the lines that name
// what is missing. A project that comes from flags alone has nothing to check.
func (p Project) Check(cfg *Config, state string) error { return newError(p.outside(cfg, state)) }

// outside returns the mistakes that Check reports.
func (p Project) outside(cfg *Config, state string) []ledger.Diagnostic {
	if p.doc == nil {
		return nil
	}
	c := &checker{doc: p.doc, cfg: cfg}
	at := func(keys ...string) []string { return append([]string{"project", strconv.Itoa(p.index)}, keys...) }
	if p.Repo != "" {
		if text := checkRepo(p.Repo); text != "" {
			c.value(text, at("repo")...)
			return c.problems // what lies in it cannot be judged
		}
	}
	c.surroundings(&p, at)
	c.folders(&p, at, state)
	if p.TrustRepo {
		c.hats(&p, at)
	}
	return c.problems
}

// surroundings checks what the project's commands get besides the repository.
func (c *checker) surroundings(p *Project, at func(...string) []string) {
	for _, f := range []struct{ key, file string }{{"setup_env_file", p.SetupEnvFile}, {"verify_env_file", p.VerifyEnvFile}} {
		if f.file != "" {
			c.secretFile(f.file, "Put NAME=VALUE lines in %s, mode 0600", at(f.key)...)
		}
	}
	if p.Cloud != nil {
		c.secretFile(p.Cloud.TokenFile, "Put a person's token for GitHub in %s, mode 0600", at("cloud", "token_file")...)
	}
	if dir := p.SetupHome; dir != "" {
		switch st, err := os.Stat(dir); {
		case err != nil:
			c.value(filepath.Base(dir)+": "+systemText(err), at("setup_home")...).Remedy = "Make the folder " + dir + " with the files that setup needs in HOME, such as .npmrc"
		case !st.IsDir():
			c.value(filepath.Base(dir)+": not a folder", at("setup_home")...).Remedy = "Name a folder with the files that setup needs in HOME, such as .npmrc"
		case st.Mode().Perm()&fs.FileMode(0o077) != 0:
			c.value(fmt.Sprintf("%s: others can read it (%#o)", filepath.Base(dir), st.Mode().Perm()), at("setup_home")...).Remedy = "chmod 700 " + dir
		}
	}
}
