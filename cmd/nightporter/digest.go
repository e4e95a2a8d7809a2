package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/operator"
)

func digestCommand() *cobra.Command {
	var f askFlags
	var out string
	var light, asJSON bool
	cmd := &cobra.Command{
		Use:   "digest [last|today|7d|all]",
		Short: "The morning summary of all projects or one, and its picture",
		Long: `The morning summary of each project that has had a run, or of --project: what
needs you, what was done, what failed and why. Without a word it is about what
the last one was about, up to now.
--out FILE.png writes its picture.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			args := map[string]string{}
			if len(words) > 0 {
				if args["span"] = strings.ToLower(words[0]); !bot.IsSpan(words[0]) {
					return fmt.Errorf("%q is no span: type last, today, all, or days like 7d", words[0])
				}
			}
			var err error
			if args["look"], err = look(out, light); err != nil {
				return err
			}
			return f.ask(cmd.Context(), func(a asker) error {
				r, err := a.View(cmd.Context(), api.View{Name: "digest", Project: f.project, Args: args})
				if err == nil && r.OK && out != "" {
					err = writePicture(out, &r, ofDigest)
				}
				return printReply(cmd, r, err, asJSON)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&out, "out", "", "write the picture to this file, FILE.png")
	cmd.Flags().BoolVar(&light, "light", false, "with --out: on a light ground")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// writePicture writes the picture of an answer to a file and removes it from the answer.
// parts returns where the answer has its picture, and why it was not drawn.
func writePicture[D any](file string, r *api.Reply, parts func(*D) (picture *[]byte, fault string)) error {
	var d D
	err := json.Unmarshal(r.Data, &d)
	picture, fault := parts(&d)
	switch {
	case err == nil && fault != "": // the text is valid without the picture
		r.OK, r.Text = false, r.Text+"\n"+bot.SignFailed+" "+file+" is not written: "+fault
		return nil
	case err != nil || len(*picture) == 0:
		return errors.New("the answer has no picture: nightporter up is of another release; start it again")
	}
	if err := os.WriteFile(file, *picture, 0o644); err != nil { //nolint:gosec // a picture to share
		return fmt.Errorf("write the picture: %w", err)
	}
	*picture = nil
	r.Data, err = json.Marshal(d)
	r.Text += "\nPicture " + file
	return err
}

// ofDigest returns the parts of a digest for writePicture.
func ofDigest(d *operator.Digest) (picture *[]byte, fault string) { return &d.Picture, d.Fault }

// look returns the argument of a view whose picture is wanted in the file out, "" for
// none.
func look(out string, light bool) (string, error) {
	switch {
	case out == "":
		return "", nil
	case !strings.HasSuffix(strings.ToLower(out), ".png"):
		return "", fmt.Errorf("--out %s: the picture is a PNG; name a file that ends in .png", out)
	case light:
		return "light", nil
	}
	return "dark", nil
}
