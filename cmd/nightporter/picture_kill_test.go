package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/internal/programtest"
)

// TestPictureKilled kills nightporter after it has loaded a picture, before and after the
// guidance with it is in the ledger. The next start has both, once: Telegram sends what
// was not confirmed again, and the ledger knows what it has by its key.
func TestPictureKilled(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"before-commit:guidance", "after-commit:guidance"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			n := newPhone(t, "- [ ] **Task 1: One**\n", "")
			n.up("")
			n.pair()
			n.porter.Kill()
			n.up(point)
			picture := []byte("\xff\xd8\xff a drawing")
			n.phone.Post(telegram.UserMessage{From: reader, Chat: reader.ID, Photo: true, Text: "Like this one", File: telegram.File{Data: picture}})
			n.phone.Say(reader, reader.ID, "/whoami")
			if err := programtest.WaitFor(point, func() (bool, error) { return ended(n.porter), nil }); err != nil {
				t.Fatal(err)
			}
			if code, err := n.porter.Wait(); code != -9 || err != nil {
				t.Fatalf("exit %d, %v: it never came to %s", code, err, point)
			}
			file := n.Path("state", "nightporter", attachment.Folder, attachment.Hash(picture))
			n.up("")
			n.shown("queued", "Like this one", "1 picture")
			n.shown("Steers")
			ctx, cancel := context.WithTimeoutCause(t.Context(), programtest.Patience, fmt.Errorf("updates are not confirmed"))
			defer cancel()
			if err := n.phone.WaitConfirmed(ctx); err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(file); err != nil || !bytes.Equal(data, picture) {
				t.Errorf("the picture is %q, %v", data, err)
			}
			if left, err := os.ReadDir(n.Path("state", "nightporter", attachment.Folder)); err != nil || len(left) != 1 {
				t.Errorf("%d files are kept, %v", len(left), err)
			}
			if queue := n.Out("nightporter", "queue"); strings.Count(queue, "Like this one") != 1 {
				t.Errorf("the queue:\n%s", queue)
			}
			n.Out("nightporter", "verify")
		})
	}
}

func ended(p *programtest.Process) bool {
	select {
	case <-p.Done:
		return true
	default:
		return false
	}
}
