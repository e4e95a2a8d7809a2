package operator

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// PairingHash returns the keyed hash under which the ledger stores a pairing
// code. Without the operator's key nobody can test guesses against it. Case,
// dashes and spaces of the code do not matter.
func PairingHash(key, code string) string {
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

// PairOffer is the answer of the view "pair".
type PairOffer struct {
	Role  ledger.Role    `json:"role"`
	Until time.Time      `json:"until"`
	Seq   int64          `json:"seq"` // number of the shared stream's entry after which events are read
	Ways  []PairPlatform `json:"ways,omitempty"`
}

// PairNews is the answer of the view "pairing".
type PairNews struct {
	Seq    int64       `json:"seq"`
	Begun  bool        `json:"begun"` // the entry of the offer itself was read; the next request passes it as begun
	Events []PairEvent `json:"events"`
}

// PairEvent is one event about the code.
type PairEvent struct {
	Time  time.Time   `json:"time"`
	What  string      `json:"what"` // tried, paired, void
	Who   string      `json:"who,omitempty"`
	Name  string      `json:"name,omitempty"`
	Role  ledger.Role `json:"role,omitempty"`
	Tries int         `json:"tries,omitempty"`
	Why   string      `json:"why,omitempty"`
}

// longPoll limits how long a view waits for news. It is shorter than the time
// after which a client considers the daemon gone.
const longPoll = 20 * time.Second

// pair offers a pairing code. Args: hash, role, key, by.
func (svc *Service) pair(ctx context.Context, v api.View) (api.Reply, error) {
	if !svc.o.Serves {
		return api.Reply{Text: "✗ nightporter is not running. Start it: nightporter up"}, nil
	}
	shared := svc.o.Engine.Shared()
	role := ledger.Role(v.Args["role"])
	switch {
	case len(shared.People) == 0 && role == "":
		role = ledger.RoleAdmin
	case len(shared.People) == 0 && role != ledger.RoleAdmin:
		return api.Reply{Text: "✗ nobody is paired yet, and the first person has to be admin: nightporter pair --role admin"}, nil
	case role == "":
		return api.Reply{Text: "✗ which role? --role view, steer or admin"}, nil
	case !role.May(ledger.RoleView):
		return api.Reply{Text: fmt.Sprintf("✗ no role %q: view, steer or admin", role)}, nil
	}
	// Read before the offer is made, because "pairing" reads events from here
	// on.
	seq, _, err := svc.o.Store.Head(ctx, ledger.SharedStream)
	if err != nil {
		return api.Reply{}, err
	}
	answer, err := svc.Do(ctx, loop.Input{Key: v.Args["key"], Actor: "console", Name: v.Args["by"], Body: people.OfferPairing{Hash: v.Args["hash"], Role: role}})
	if err != nil {
		return api.Reply{}, err
	}
	if !answer.OK {
		return api.Reply{Text: "✗ " + answer.Text}, nil
	}
	offer := PairOffer{Role: role, Until: time.Now().Add(people.PairingTime), Seq: seq, Ways: svc.o.Ways(ctx)}
	if open := svc.o.Engine.Shared().Pairing; open != nil && open.Hash == v.Args["hash"] {
		offer.Until = open.Until
	}
	return reply(answer.Text, offer)
}

// pairing waits up to longPoll for events about a code. Args: hash, and the
// values of after and begun from the last answer.
func (svc *Service) pairing(ctx context.Context, v api.View) (api.Reply, error) {
	after, err := strconv.ParseInt(v.Args["after"], 10, 64)
	if err != nil {
		return api.Reply{Text: "after is no number"}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, longPoll)
	defer cancel()
	news := PairNews{Seq: after, Begun: v.Args["begun"] == "true", Events: []PairEvent{}}
	add := func(e PairEvent) {
		if news.Begun {
			news.Events = append(news.Events, e)
		}
	}
	for {
		rung := svc.o.Changes.Next()
		err := svc.o.Store.Records(context.WithoutCancel(ctx), ledger.SharedStream, news.Seq, func(r ledger.Record) error {
			news.Seq = r.Seq
			e, err := r.Entry()
			if err != nil {
				return err
			}
			switch b := e.Body.(type) {
			case ledger.PairingOffered:
				news.Begun = b.Hash == v.Args["hash"]
			case ledger.PairingTried:
				add(PairEvent{Time: e.Time, What: "tried", Who: b.Who, Name: b.Name, Tries: b.Tries})
			case ledger.PersonPaired:
				add(PairEvent{Time: e.Time, What: "paired", Who: b.Person.ID, Name: b.Person.Name, Role: b.Person.Role})
			case ledger.PairingEnded:
				add(PairEvent{Time: e.Time, What: "void", Why: b.Why})
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
		case <-svc.o.Closing:
			return api.Reply{}, fmt.Errorf("%w: nightporter restarts", api.ErrLater)
		}
	}
}

// people lists the paired people.
func (svc *Service) people(_ context.Context, _ api.View) (api.Reply, error) {
	people := svc.o.Engine.Shared().People
	if len(people) == 0 {
		return reply("○ nobody is paired: nightporter pair", people)
	}
	var lines []string
	for _, p := range people {
		lines = append(lines, fmt.Sprintf("%-6s %s  %s, since %s", p.Role, p.ID, p.Name, p.Since.In(svc.o.Projects.Zone()).Format("2006-01-02 15:04")))
	}
	return reply(strings.Join(lines, "\n"), people)
}

// unpair removes a person. Args: id, key, by.
func (svc *Service) unpair(ctx context.Context, v api.View) (api.Reply, error) {
	id := v.Args["id"]
	for _, p := range svc.o.Engine.Shared().People { // the id is also accepted without the platform's prefix
		if _, n, ok := strings.Cut(p.ID, ":"); ok && n == id {
			id = p.ID
		}
	}
	answer, err := svc.Do(ctx, loop.Input{Key: v.Args["key"], Actor: "console", Name: v.Args["by"], Body: people.Remove{ID: id}})
	if err != nil {
		return api.Reply{}, err
	}
	sign := "✗ "
	if answer.OK {
		sign = "✓ "
	}
	return api.Reply{OK: answer.OK, Text: sign + answer.Text}, nil
}
