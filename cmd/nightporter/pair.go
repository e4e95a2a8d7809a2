package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/daemon/platform"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
)

// codeLetters are those of a pairing code: none looks like another, said or
// written.
const codeLetters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

// newCode is a pairing code as it is shown, "K7QX-M2PD": 39 bits, of which
// somebody has five tries within ten minutes (SPEC 6.6).
func newCode() string {
	var code []byte
	for len(code) < 8 {
		var b [1]byte
		_, _ = rand.Read(b[:])                            // never fails (crypto/rand)
		if n := int(b[0]); n < 256-256%len(codeLetters) { // all letters alike
			code = append(code, codeLetters[n%len(codeLetters)])
		}
	}
	return string(code[:4]) + "-" + string(code[4:])
}

func pairCommand() *cobra.Command {
	var f askFlags
	var role, remove string
	var list bool
	cmd := &cobra.Command{
		Use:   "pair",
		Short: "Let a person in: show a code that works once",
		Long: `Let a person in: show a code that works once, for one person, for ten minutes.
The first person has to be admin; for others --role is needed:
  view   all that only looks
  steer  also guidance, answers, run, pause, resume, stop, tasks
  admin  also merge, budget, plan approval, quiet, people
Ctrl-C stops looking; the code stays good until its time is over. Another
nightporter pair makes it void.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, err := config.StateDir(f.state)
			if err != nil {
				return err
			}
			switch {
			case list && remove != "":
				return errors.New("--list or --remove, not both")
			case list:
				return f.ask(cmd.Context(), func(a asker) error {
					r, err := a.View(cmd.Context(), api.View{Name: "people"})
					return show(cmd, r, err, false)
				})
			case remove != "":
				return f.ask(cmd.Context(), func(a asker) error {
					r, err := a.View(cmd.Context(), api.View{Name: "unpair", Args: map[string]string{"id": remove, "key": "unpair:" + nonce(), "by": personName()}})
					return show(cmd, r, err, false)
				})
			}
			if !daemon.Listens(state) {
				return errors.New("nightporter is not running. Start it: nightporter up")
			}
			client, err := socket.Operator(state)
			if err != nil {
				return err
			}
			zone := time.Local
			if cfg, err := loadConfig(f.config); err == nil {
				if z, err := cfg.Zone(); err == nil {
					zone = z
				}
			}
			return pairing{
				out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), zone: zone, ask: client,
				width: width(cmd.OutOrStdout()), color: colour(cmd.OutOrStdout()),
			}.run(cmd.Context(), state, role)
		},
	}
	cmd.Flags().StringVar(&f.state, "state", "", "state folder")
	cmd.Flags().StringVar(&f.config, "config", "", "configuration file")
	cmd.Flags().StringVar(&role, "role", "", "view, steer or admin")
	cmd.Flags().BoolVar(&list, "list", false, "who is paired")
	cmd.Flags().StringVar(&remove, "remove", "", "take the person with this id out")
	return cmd
}

// pairing shows a code and what becomes of it.
type pairing struct {
	out, err io.Writer
	zone     *time.Location
	ask      asker
	width    int  // columns of the terminal; 0 where there is none, and no QR code then
	color    bool // of the QR code
}

func (p pairing) run(ctx context.Context, state, role string) error {
	key, err := socket.OperatorKey(state)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The code is made here and told to nobody: the daemon is given what stands
	// for it. Asking again after a cut connection is the same offer.
	code := newCode()
	hash := operator.PairingHash(key, code)
	r, err := p.ask.View(ctx, api.View{Name: "pair", Args: map[string]string{
		"hash": hash, "role": role, "key": "pair:" + nonce(), "by": personName(),
	}})
	if err != nil {
		return err
	}
	if !r.OK {
		fmt.Fprintln(p.err, r.Text)
		return exitCode(1)
	}
	var offer operator.PairOffer
	if err := json.Unmarshal(r.Data, &offer); err != nil {
		return fmt.Errorf("answer to pair: %w", err)
	}
	until := p.clock(offer.Until)
	for _, way := range offer.Ways {
		p.printWay(way, code)
	}
	if len(offer.Ways) == 0 {
		p.printWay(operator.PairWay{Platform: platform.All[0].Name}, code)
	}
	fmt.Fprintf(p.out, "  Works once, for one person, until %s. Role: %s.\n", until, offer.Role)
	return p.watch(ctx, offer, hash)
}

// way shows how to send the code on a platform.
func (p pairing) printWay(w operator.PairWay, code string) {
	at, _ := platform.Of(w.Platform + ":")
	if at.PairLine == nil {
		return // of a newer release, by a daemon that runs on
	}
	label := at.PairLabel
	if w.Bot != "" && at.PairLink != nil {
		link := at.PairLink(w.Bot, code)
		fmt.Fprint(p.out, qrCode(link, p.width, p.color))
		fmt.Fprintf(p.out, "  %-16s%s\n", "Open", link)
		label = "or send it"
	}
	fmt.Fprintf(p.out, "  %-16s%s\n", label, at.PairLine(code))
}

// watch shows what becomes of the code until that is settled. It waits for
// news, and for the code's end.
func (p pairing) watch(ctx context.Context, offer operator.PairOffer, hash string) error {
	ctx, cancel := context.WithDeadline(ctx, offer.Until)
	defer cancel()
	for at := (operator.PairNews{Seq: offer.Seq}); ; {
		r, err := p.ask.View(ctx, api.View{Name: "pairing", Args: map[string]string{
			"hash": hash, "after": strconv.FormatInt(at.Seq, 10), "begun": strconv.FormatBool(at.Begun),
		}})
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			fmt.Fprintf(p.out, "– %s  Nobody came; the code is void. Again: nightporter pair\n", p.clock(offer.Until))
			return exitCode(1)
		case ctx.Err() != nil:
			fmt.Fprintf(p.out, "○ The code stays good until %s.\n", p.clock(offer.Until))
			return exitCode(130)
		case errors.Is(err, api.ErrLater):
			continue // it restarts; the client has waited already
		case err != nil:
			return err
		case !r.OK:
			return errors.New(r.Text)
		}
		var news operator.PairNews
		if err := json.Unmarshal(r.Data, &news); err != nil {
			return fmt.Errorf("answer to pairing: %w", err)
		}
		at = news
		for _, e := range news.Events {
			switch e.What {
			case "tried":
				fmt.Fprintf(p.out, "! %s  wrong code from %s (%d of %d), not answered\n", p.clock(e.Time), platformID(e.Who), e.Tries, loop.PairingTries)
				if e.Tries >= loop.PairingTries {
					fmt.Fprintf(p.out, "– %s  The code is void after %d wrong ones. Again: nightporter pair\n", p.clock(e.Time), loop.PairingTries)
					return exitCode(1)
				}
			case "paired":
				fmt.Fprintf(p.out, "✓ %s  %s (%s) is paired as %s\n", p.clock(e.Time), e.Name, platformID(e.Who), e.Role)
				return nil
			case "void":
				fmt.Fprintf(p.out, "– %s  The code is void: %s. Again: nightporter pair\n", p.clock(e.Time), e.Why)
				return exitCode(1)
			}
		}
	}
}

func (p pairing) clock(t time.Time) string { return t.In(p.zone).Format("15:04") }

// platformID is "telegram:99120045" as people read it.
func platformID(id string) string {
	platform, n, ok := strings.Cut(id, ":")
	if !ok || platform == "" {
		return id
	}
	return strings.ToUpper(platform[:1]) + platform[1:] + " user " + n
}
