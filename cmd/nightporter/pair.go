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
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// codeLetters are the letters of pairing codes. None is confused with another
// when spoken or written.
const codeLetters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

// newPairingCode returns a pairing code such as "K7QX-M2PD". It has 39 bits, of
// which a stranger can guess five times in ten minutes.
func newPairingCode() string {
	var code []byte
	for len(code) < 8 {
		var b [1]byte
		_, _ = rand.Read(b[:])                            // never fails (crypto/rand)
		if n := int(b[0]); n < 256-256%len(codeLetters) { // larger values would make some letters more likely
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
					return printReply(cmd, r, err, false)
				})
			case remove != "":
				return f.ask(cmd.Context(), func(a asker) error {
					r, err := a.View(cmd.Context(), api.View{Name: "unpair", Args: map[string]string{"id": remove, "key": "unpair:" + nonce(), "by": personName()}})
					return printReply(cmd, r, err, false)
				})
			}
			if !daemon.Listens(state) {
				return errors.New("nightporter is not running. Start it: nightporter up")
			}
			client, err := socket.Operator(state)
			if err != nil {
				return err
			}
			return pairing{
				out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), zone: configuredZone(f.config), ask: client,
				width: columns(cmd.OutOrStdout()), color: colour(cmd.OutOrStdout()),
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

// pairing shows a pairing code and the events about it.
type pairing struct {
	out, err io.Writer
	zone     *time.Location
	ask      asker
	width    int  // columns of the terminal; 0 = none, so no QR code is shown
	color    bool // whether the QR code may use colours
}

func (p pairing) run(ctx context.Context, state, role string) error {
	key, err := socket.OperatorKey(state)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The code never leaves this process: the daemon gets its hash. A repeated
	// request with the same key makes the same offer.
	code := newPairingCode()
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
		p.printWay(operator.PairPlatform{Platform: platform.All[0].Name}, code)
	}
	fmt.Fprintf(p.out, "  Works once, for one person, until %s. Role: %s.\n", until, offer.Role)
	return p.watch(ctx, offer, hash)
}

// pairFirst shows a code beside a daemon that has just started, unless a person is
// paired already. Its failure is printed and ends nothing.
func pairFirst(ctx context.Context, cmd *cobra.Command, ask asker, state string, cfg *config.Config) {
	out, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	if len(platform.Used(cfg)) == 0 {
		fmt.Fprintln(errs, "! --pair: no chat is configured. Put a token into the configuration: nightporter init")
		return
	}
	r, err := ask.View(ctx, api.View{Name: "people"})
	var known []ledger.Person
	if err == nil && r.OK && json.Unmarshal(r.Data, &known) == nil && len(known) > 0 {
		fmt.Fprintf(out, "○ %s is paired already. Another person: nightporter pair --role steer\n", known[0].Name)
		return
	}
	zone, err := cfg.Zone()
	if err != nil {
		zone = time.Local
	}
	err = pairing{out: out, err: errs, zone: zone, ask: ask, width: columns(out), color: colour(out)}.run(ctx, state, "")
	var code exitCode
	if err != nil && !errors.As(err, &code) {
		fmt.Fprintf(errs, "! --pair: %v. Again: nightporter pair\n", err)
	}
}

// printWay prints how to send the code on a platform.
func (p pairing) printWay(w operator.PairPlatform, code string) {
	at, _ := platform.Of(w.Platform + ":")
	if at.PairLine == nil {
		return // the daemon is of a newer release
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

// watch prints events about the code until it is used or void.
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
			continue // the daemon restarts; the client has waited already
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
				fmt.Fprintf(p.out, "! %s  wrong code from %s (%d of %d), not answered\n", p.clock(e.Time), platformID(e.Who), e.Tries, people.PairingTries)
				if e.Tries >= people.PairingTries {
					fmt.Fprintf(p.out, "– %s  The code is void after %d wrong ones. Again: nightporter pair\n", p.clock(e.Time), people.PairingTries)
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

// platformID formats an id such as "telegram:99120045" for people.
func platformID(id string) string {
	platform, n, ok := strings.Cut(id, ":")
	if !ok || platform == "" {
		return id
	}
	return strings.ToUpper(platform[:1]) + platform[1:] + " user " + n
}
