package main

import (
	"context"
	"errors"
	"strings"

	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/platform"
)

// chatChecks are a check for each platform of the table.
func chatChecks() []doctorCheck {
	var all []doctorCheck
	for _, pl := range platform.All {
		all = append(all, doctorCheck{pl.Name, func(ctx context.Context, p *doctorContext) []finding { return checkChat(ctx, p, pl) }})
	}
	return all
}

// checkChat looks at the files of a platform's tokens, and asks the platform.
func checkChat(ctx context.Context, p *doctorContext, pl platform.Platform) []finding {
	if !p.usable {
		return nil // said with the projects
	}
	if pl.Section(p.cfg) == nil { // no platform is a must
		if len(platform.Used(p.cfg)) == 0 && pl.Name == platform.All[0].Name {
			return []finding{unseen("not set up; nightporter works from the terminal alone")}
		}
		return nil
	}
	tokens, err := pl.ReadTokens(p.cfg)
	var unread *platform.TokenError
	if errors.As(err, &unread) {
		fix, text := pl.TokenFix(unread)
		return []finding{mendWith(fix, "%s", text)}
	}
	files, noun, hide := []string{}, "token", []string{}
	for n, t := range pl.Tokens {
		files = append(files, t.File(p.cfg))
		hide = append(hide, string(tokens[n]), "TOKEN")
	}
	if len(files) > 1 {
		noun = "tokens"
	}
	out := []finding{fine("%s in %s", noun, strings.Join(files, " and "))}
	found, err := p.probe(ctx, pl, p.cfg, tokens)
	switch {
	case err != nil:
		return append(out, mendWith("correct ["+pl.Name+"] in the configuration", "%v", err))
	case len(found) == 0:
		return append(out, unseen("%s itself was not asked", pl.Title))
	}
	// Errors of HTTP hold the address, and that can hold the token.
	hidden := strings.NewReplacer(hide...)
	for _, f := range found {
		text, fix := hidden.Replace(f.Text), hidden.Replace(f.Fix)
		switch f.Trouble {
		case transport.TroubleNone:
			out = append(out, fine("%s", text))
		case transport.TroubleNetwork, transport.TroubleServer, transport.TroubleSlow, transport.TroubleRights:
			// nightporter works on, with less or later.
			out = append(out, lookAt(fix, "%s", text))
		default:
			out = append(out, mendWith(fix, "%s", text))
		}
	}
	return out
}

// askPlatform lets a platform's row ask the platform.
func askPlatform(ctx context.Context, pl platform.Platform, cfg *config.Config, tokens []transport.Secret) ([]transport.Finding, error) {
	return pl.Probe(ctx, cfg, tokens)
}
