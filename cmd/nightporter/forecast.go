package main

import (
	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/internal/api"
)

func forecastCommand() *cobra.Command {
	var f askFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use: "forecast [PROJECT]", Short: "What the night will probably get done, by when and for how much", Args: cobra.MaximumNArgs(1),
		Long: `What the run under way, or one that begins now, will probably get done: how many of
the open tasks, with the bounds of four nights in five, by when, at what cost, and which
task is least sure. From what tasks took before: of this project, of the machine's
others, and before there are any from a rough guess, which it says.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			project := f.project
			if len(args) > 0 {
				project = args[0]
			}
			return f.ask(cmd.Context(), func(a asker) error {
				r, err := a.View(cmd.Context(), api.View{Name: "forecast", Project: project})
				return printReply(cmd, r, err, asJSON)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
