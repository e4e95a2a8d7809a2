package main

import (
	"context"
	"errors"
	"strings"

	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/loop/ledger"
)

// chatChecks returns a check for each platform of the table.
func chatChecks() []check {
	var all []check
	for _, pl := range platform.All {
		all = append(all, check{pl.Name, func(ctx context.Context, p *doctorContext) []finding { return checkChat(ctx, p, pl) }})
	}
	return all
}

// checkChat checks a platform's token files, and tests the tokens with the
// platform.
func checkChat(ctx context.Context, p *doctorContext, pl platform.Platform) []finding {
	if !p.usable {
		return nil // the check of projects reports it
	}
	if pl.Section(p.cfg) == nil { // no platform is required
		if len(platform.Used(p.cfg)) == 0 && pl.Name == platform.All[0].Name {
			return []finding{findUnchecked("not set up; nightporter works from the terminal alone")}
		}
		return nil
	}
	tokens, err := pl.ReadTokens(p.cfg)
	var unread *platform.TokenError
	if errors.As(err, &unread) {
		fix, text := pl.TokenFix(unread)
		return []finding{findFix(fix, "%s", text)}
	}
	files, noun, hide := []string{}, "token", []string{}
	for n, t := range pl.Tokens {
		files = append(files, t.File(p.cfg))
		hide = append(hide, string(tokens[n]), "TOKEN")
	}
	if len(files) > 1 {
		noun = "tokens"
	}
	out := []finding{findOK("%s in %s", noun, strings.Join(files, " and "))}
	found, err := p.probe(ctx, pl, p.cfg, tokens)
	switch {
	case err != nil:
		return append(out, findFix("correct ["+pl.Name+"] in the configuration", "%v", err))
	case len(found) == 0:
		return append(out, findUnchecked("%s itself was not asked", pl.Title))
	}
	// An HTTP error contains the address, which may contain the token.
	hidden := strings.NewReplacer(hide...)
	for _, f := range found {
		f.Text, f.Remedy = hidden.Replace(f.Text), hidden.Replace(f.Remedy)
		out = append(out, finding{Diagnostic: f})
	}
	return out
}

// askPlatform calls the platform's own probe.
func askPlatform(ctx context.Context, pl platform.Platform, cfg *config.Config, tokens []transport.Secret) ([]ledger.Diagnostic, error) {
	return pl.Probe(ctx, cfg, tokens)
}
