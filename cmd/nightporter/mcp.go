package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/internal/hatmcp"
	"github.com/nightporter/nightporter/internal/verb"
)

func mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serves hat's verbs to an agent without a shell",
		Long: `Serves the verbs of hat as tools of the Model Context Protocol, on standard input
and output. An agent's program starts it inside a session, as hat mcp.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return hatmcp.Serve(cmd.Context(), verb.New(os.Getenv), Version, os.Stdin, os.Stdout)
		},
	}
}
