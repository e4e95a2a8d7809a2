package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/internal/api"
)

// Version is the release, set by the linker; "devel" in a plain `go build`.
var Version = "devel"

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Which nightporter this is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"version": Version, "api": api.Version})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "nightporter %s, api %d\n", Version, api.Version)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
