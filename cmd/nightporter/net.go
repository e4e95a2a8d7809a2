package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/internal/api"
)

func netCommand() *cobra.Command {
	var f askFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use: "net [PROJECT]", Short: "Which hosts sessions reach", Args: cobra.MaximumNArgs(1),
		Long: `Which hosts the sessions of a project reach: those of the configuration and of its
agents and package managers, those that people allowed, and what the sessions of the
last run reached and were refused. Also how much sessions left behind that had read text
by strangers, which closes the network of those that get it.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			project := f.project
			if len(args) > 0 {
				project = args[0]
			}
			return f.ask(cmd.Context(), func(a asker) error {
				r, err := a.View(cmd.Context(), api.View{Name: "net", Project: project})
				return printReply(cmd, r, err, asJSON)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		netChange("allow HOST", "Let sessions reach a host from the next one on: api.example.org, *.example.org, api.example.org:8443"),
		netChange("remove HOST", "Take an allowed host back"),
		netChange("open", "Keep the network of tasks by strangers open until morning"),
		netChange("close", "Close it again"),
		netChange("clear", "Take the marks off notes and tasks that sessions made after reading text by strangers"),
	)
	return cmd
}

// netChange returns a command that changes what sessions reach, in its chat form.
func netChange(use, short string) *cobra.Command {
	name, args, _ := strings.Cut(use, " ")
	cmd := lineCommand(name, "/net "+name, args, short)
	cmd.Args = cobra.ExactArgs(len(strings.Fields(args)))
	return cmd
}
