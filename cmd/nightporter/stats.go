package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/loop/stats"
)

func statsCommand() *cobra.Command {
	var f askFlags
	var by, since, out string
	var light, asJSON bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "How well a project's work goes: done, first pass, fix rounds, contradictions, cost",
		Long: `The figures of a project's ledger: tasks done, and how many of them at the first
pass; rounds of fixes; reviews that found a contradiction to the plan or to an
earlier decision; what a task costs, and what a session uses. --by tells them
apart by hat, agent, model or size of the task; --json has all of them, and null
for what is unknown.
--out FILE.png writes a picture of them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			span, ok := stats.ParseSince(since)
			if !ok {
				return fmt.Errorf("--since %s: type run, all, or days like 7d", since)
			}
			words := span.String()
			if by != "" {
				apart, ok := stats.ParseBy(by)
				if !ok {
					return fmt.Errorf("--by %s: type hat, agent, model or size", by)
				}
				words += " " + string(apart)
			}
			shown, err := look(out, light)
			if err != nil {
				return err
			}
			return f.ask(cmd.Context(), func(a asker) error {
				r, err := a.View(cmd.Context(), api.View{Name: "stats", Project: f.project, Args: map[string]string{"words": words, "look": shown}})
				if err == nil && r.OK && out != "" {
					err = writePicture(out, &r, func(s *operator.Stats) (*[]byte, string) { return &s.Picture, s.Fault })
				}
				return printReply(cmd, r, err, asJSON)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&by, "by", "", "hat, agent, model or size")
	cmd.Flags().StringVar(&since, "since", bot.UsualStats.String(), "run (the last one), all, or days such as 7d")
	cmd.Flags().StringVar(&out, "out", "", "write a picture to this file, FILE.png")
	cmd.Flags().BoolVar(&light, "light", false, "with --out: on a light ground")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
