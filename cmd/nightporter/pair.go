package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
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

// pairingHash stands for a code in the ledger: without the operator's key
// nobody can try codes against it. Case, the dash and spaces do not matter.
func pairingHash(key, code string) string {
	code = strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' || r == '–' {
			return -1
		}
		return r
	}, strings.ToUpper(strings.TrimSpace(code)))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("pairing " + code))
	return hex.EncodeToString(mac.Sum(nil))
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
			if !listens(state) {
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

// pairOffer is the answer of the view "pair".
type pairOffer struct {
	Role  loop.Role `json:"role"`
	Until time.Time `json:"until"`
	Seq   int64     `json:"seq"`           // of the house's entry from which on to look
	Bot   string    `json:"bot,omitempty"` // name of the Telegram bot, where it is known

	Telegram bool `json:"telegram,omitempty"` // which platforms the code can be sent by
	Slack    bool `json:"slack,omitempty"`

	hash string
}

// pairNews is the answer of the view "pairing".
type pairNews struct {
	Seq    int64       `json:"seq"`
	Begun  bool        `json:"begun"` // the offer itself was seen: what follows is about it
	Events []pairEvent `json:"events"`
}

// pairEvent is something that happened to the code.
type pairEvent struct {
	Time  time.Time `json:"time"`
	What  string    `json:"what"` // tried, paired, void
	Who   string    `json:"who,omitempty"`
	Name  string    `json:"name,omitempty"`
	Role  loop.Role `json:"role,omitempty"`
	Tries int       `json:"tries,omitempty"`
	Why   string    `json:"why,omitempty"`
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
	hash := pairingHash(key, code)
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
	var offer pairOffer
	if err := json.Unmarshal(r.Data, &offer); err != nil {
		return fmt.Errorf("answer to pair: %w", err)
	}
	offer.hash = hash
	until := p.clock(offer.Until)
	switch {
	case offer.Bot != "":
		link := fmt.Sprintf("https://t.me/%s?start=%s", offer.Bot, code)
		fmt.Fprint(p.out, qrCode(link, p.width, p.color))
		fmt.Fprintf(p.out, "  Open            %s\n", link)
		fmt.Fprintf(p.out, "  or send it      /pair %s\n", code)
	case !offer.Slack || offer.Telegram:
		fmt.Fprintf(p.out, "  Send the bot    /pair %s\n", code)
	}
	if offer.Slack {
		fmt.Fprintf(p.out, "  In Slack        /porter pair %s   (to the app itself, not in a channel)\n", code)
	}
	fmt.Fprintf(p.out, "  Works once, for one person, until %s. Role: %s.\n", until, offer.Role)
	return p.watch(ctx, offer)
}

// watch shows what becomes of the code until that is settled. It waits for
// news, and for the code's end.
func (p pairing) watch(ctx context.Context, offer pairOffer) error {
	ctx, cancel := context.WithDeadline(ctx, offer.Until)
	defer cancel()
	for at := (pairNews{Seq: offer.Seq}); ; {
		r, err := p.ask.View(ctx, api.View{Name: "pairing", Args: map[string]string{
			"hash": offer.hash, "after": strconv.FormatInt(at.Seq, 10), "begun": strconv.FormatBool(at.Begun),
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
		var news pairNews
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

// longPoll is how long the view "pairing" waits for news. It is shorter than
// the time after which a client takes a daemon for gone.
const longPoll = 20 * time.Second

// pair offers a code: Args hash, role, key, by.
func (d *operatorService) pair(ctx context.Context, v api.View) (api.Reply, error) {
	if !d.porter.serves() {
		return api.Reply{Text: "✗ nightporter is not running. Start it: nightporter up"}, nil
	}
	house := d.house()
	role := loop.Role(v.Args["role"])
	switch {
	case len(house.People) == 0 && role == "":
		role = loop.RoleAdmin
	case len(house.People) == 0 && role != loop.RoleAdmin:
		return api.Reply{Text: "✗ nobody is paired yet, and the first person has to be admin: nightporter pair --role admin"}, nil
	case role == "":
		return api.Reply{Text: "✗ which role? --role view, steer or admin"}, nil
	case !role.May(loop.RoleView):
		return api.Reply{Text: fmt.Sprintf("✗ no role %q: view, steer or admin", role)}, nil
	}
	// Before the offer: what happens to it is looked for from here on.
	seq, _, err := d.porter.store.Head(ctx, loop.SharedStream)
	if err != nil {
		return api.Reply{}, err
	}
	answer, err := d.Do(ctx, loop.Input{Key: v.Args["key"], Actor: "console", Name: v.Args["by"], Body: loop.OfferPairing{Hash: v.Args["hash"], Role: role}})
	if err != nil {
		return api.Reply{}, err
	}
	if !answer.OK {
		return api.Reply{Text: "✗ " + answer.Text}, nil
	}
	offer := pairOffer{Role: role, Until: time.Now().Add(loop.PairingTime), Seq: seq}
	if open := d.house().Pairing; open != nil && open.Hash == v.Args["hash"] {
		offer.Until = open.Until
	}
	if d.porter.botName != nil {
		offer.Bot = d.porter.botName()
	}
	cfg := d.porter.config()
	offer.Telegram, offer.Slack = cfg.Telegram != nil, cfg.Slack != nil
	return reply(answer.Text, offer)
}

// pairing waits for what becomes of a code: Args hash, after (an entry's
// number) and begun, as the last answer gave them.
func (d *operatorService) pairing(ctx context.Context, v api.View) (api.Reply, error) {
	after, err := strconv.ParseInt(v.Args["after"], 10, 64)
	if err != nil {
		return api.Reply{Text: "after is no number"}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, longPoll)
	defer cancel()
	news := pairNews{Seq: after, Begun: v.Args["begun"] == "true", Events: []pairEvent{}}
	add := func(e pairEvent) {
		if news.Begun {
			news.Events = append(news.Events, e)
		}
	}
	for {
		rung := d.porter.changes.Next()
		err := d.porter.store.Records(context.WithoutCancel(ctx), loop.SharedStream, news.Seq, func(r loop.Record) error {
			news.Seq = r.Seq
			e, err := r.Entry()
			if err != nil {
				return err
			}
			switch b := e.Body.(type) {
			case loop.PairingOffered:
				news.Begun = b.Hash == v.Args["hash"]
			case loop.PairingTried:
				add(pairEvent{Time: e.Time, What: "tried", Who: b.Who, Name: b.Name, Tries: b.Tries})
			case loop.PersonPaired:
				add(pairEvent{Time: e.Time, What: "paired", Who: b.Person.ID, Name: b.Person.Name, Role: b.Person.Role})
			case loop.PairingEnded:
				add(pairEvent{Time: e.Time, What: "void", Why: b.Why})
			}
			return nil
		})
		if err != nil {
			return api.Reply{}, err
		}
		if len(news.Events) > 0 {
			return reply("", news)
		}
		select {
		case <-rung:
		case <-ctx.Done():
			return reply("", news)
		case <-d.porter.closing.Done():
			return api.Reply{}, fmt.Errorf("%w: nightporter restarts", api.ErrLater)
		}
	}
}

// house is what projects share.
func (d *operatorService) house() loop.Shared {
	s, _ := d.porter.engine.State("")
	return s.Shared
}

// people lists who is paired.
func (d *operatorService) people(_ context.Context, _ api.View) (api.Reply, error) {
	people := d.house().People
	if len(people) == 0 {
		return reply("○ nobody is paired: nightporter pair", people)
	}
	var lines []string
	for _, p := range people {
		lines = append(lines, fmt.Sprintf("%-6s %s  %s, since %s", p.Role, p.ID, p.Name, p.Since.Local().Format("2006-01-02 15:04")))
	}
	return reply(strings.Join(lines, "\n"), people)
}

// unpair takes somebody out: Args id, key, by.
func (d *operatorService) unpair(ctx context.Context, v api.View) (api.Reply, error) {
	id := v.Args["id"]
	for _, p := range d.house().People { // the number alone will do
		if _, n, ok := strings.Cut(p.ID, ":"); ok && n == id {
			id = p.ID
		}
	}
	answer, err := d.Do(ctx, loop.Input{Key: v.Args["key"], Actor: "console", Name: v.Args["by"], Body: loop.RemovePerson{ID: id}})
	if err != nil {
		return api.Reply{}, err
	}
	sign := "✗ "
	if answer.OK {
		sign = "✓ "
	}
	return api.Reply{OK: answer.OK, Text: sign + answer.Text}, nil
}
