package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestCode: a code has eight unambiguous, equally likely letters, and one hash
// however it is typed.
func TestCode(t *testing.T) {
	form := regexp.MustCompile(`^[2-9A-HJKMNP-TV-Z]{4}-[2-9A-HJKMNP-TV-Z]{4}$`)
	seen := map[rune]int{}
	const codes = 3000
	for range codes {
		c := newPairingCode()
		if !form.MatchString(c) {
			t.Fatalf("code %q", c)
		}
		for _, r := range strings.Replace(c, "-", "", 1) {
			seen[r]++
		}
	}
	for _, r := range codeLetters {
		if want := codes * 8 / len(codeLetters); seen[r] < want*7/10 || seen[r] > want*13/10 {
			t.Errorf("%c came %d times, about %d are expected", r, seen[r], want)
		}
	}
	want := operator.PairingHash("key", "K7QX-M2PD")
	for _, typed := range []string{"k7qx-m2pd", "K7QXM2PD", " K7QX M2PD ", "k7qx–m2pd"} {
		if operator.PairingHash("key", typed) != want {
			t.Errorf("%q is another code", typed)
		}
	}
	if operator.PairingHash("key", "K7QX-M2PE") == want || operator.PairingHash("another", "K7QX-M2PD") == want {
		t.Error("two codes, or two keys, with one hash")
	}
}

// lines collects output, and lets a test wait for a part of it.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	bell service.Broadcast
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.bell.Ring()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) until(t *testing.T, re string) string {
	t.Helper()
	late := time.After(daemontest.Patience)
	for {
		rung := l.bell.Next()
		if m := regexp.MustCompile(re).FindString(l.String()); m != "" {
			return m
		}
		select {
		case <-rung:
		case <-late:
			t.Fatalf("%q did not come:\n%s", re, l)
		}
	}
}

// namedBot replaces the daemon's answer so that its bot has a name.
type namedBot struct{ asker }

func (o namedBot) View(ctx context.Context, v api.View) (api.Reply, error) {
	r, err := o.asker.View(ctx, v)
	var offer operator.PairOffer
	if v.Name != "pair" || !r.OK || json.Unmarshal(r.Data, &offer) != nil {
		return r, err
	}
	offer.Ways = []operator.PairPlatform{{Platform: "telegram", Bot: "mira_porter_bot"}}
	r.Data, err = json.Marshal(offer)
	return r, err
}

// TestPair: the terminal shows wrong attempts and the paired person. The news
// comes from the ledger, without polling.
func TestPair(t *testing.T) {
	p, client := daemontest.Open(t, config.Empty())
	key, err := socket.OperatorKey(p.Projects.State())
	if err != nil {
		t.Fatal(err)
	}
	var exit exitCode
	pair := func(ctx context.Context, role string) (*lines, <-chan error) {
		out, done := &lines{}, make(chan error, 1)
		go func() {
			done <- pairing{out: out, err: out, zone: time.UTC, ask: namedBot{client}}.run(ctx, p.Projects.State(), role)
		}()
		return out, done
	}
	send := func(who, name, code string) ledger.Answer {
		t.Helper()
		a, err := p.Engine.Do(t.Context(), loop.Input{Actor: "telegram:" + who, Name: name, Body: people.TryPairing{Hash: operator.PairingHash(key, code)}})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	out, done := pair(t.Context(), "view")
	if err := <-done; !errors.As(err, &exit) || exit != 1 || !strings.Contains(out.String(), "the first person has to be admin") {
		t.Fatalf("%v\n%s", err, out)
	}

	out, done = pair(t.Context(), "")
	code := strings.TrimPrefix(out.until(t, `start=[0-9A-Z-]{9}`), "start=")
	out.until(t, `https://t.me/mira_porter_bot\?start=`+code+`\n.*/pair `+code+`\n.*until \d\d:\d\d\. Role: admin`)
	if strings.ContainsAny(out.String(), "█▀▄") {
		t.Errorf("a QR code without a terminal:\n%s", out)
	}
	if a := send("99120045", "X", "AAAA-AAAA"); a.OK {
		t.Fatal(a)
	}
	out.until(t, `! \d\d:\d\d  wrong code from Telegram user 99120045 \(1 of 5\), not answered`)
	if a := send("48213377", "Mira", strings.ToLower(code)); !a.OK {
		t.Fatal(a)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	out.until(t, `✓ \d\d:\d\d  Mira \(Telegram user 48213377\) is paired as admin`)
	if send("48213378", "Eve", code).OK {
		t.Error("the code worked twice")
	}

	out, done = pair(t.Context(), "")
	if err := <-done; err == nil || !strings.Contains(out.String(), "which role?") {
		t.Fatalf("%v\n%s", err, out)
	}
	// A new code voids the previous one; five wrong attempts void the new one.
	out, done = pair(t.Context(), "steer")
	out.until(t, `Role: steer`)
	out2, done2 := pair(t.Context(), "view")
	if err := <-done; !errors.As(err, &exit) || !strings.Contains(out.String(), "another code was made") {
		t.Fatalf("%v\n%s", err, out)
	}
	out2.until(t, `Role: view`)
	for range people.PairingTries {
		send("99120045", "X", "AAAA-AAAA")
	}
	if err := <-done2; !errors.As(err, &exit) || strings.Count(out2.String(), "wrong code") != 5 || !strings.Contains(out2.String(), "void after 5") {
		t.Fatalf("%v\n%s", err, out2)
	}
	// Ctrl-C ends the display, and the code remains valid.
	ctx, cancel := context.WithCancel(t.Context())
	out, done = pair(ctx, "steer")
	code = strings.TrimPrefix(out.until(t, `start=[0-9A-Z-]{9}`), "start=")
	cancel()
	if err := <-done; !errors.As(err, &exit) || exit != 130 || !strings.Contains(out.String(), "stays good") {
		t.Fatalf("%v\n%s", err, out)
	}
	if !send("7", "Ana", code).OK {
		t.Error("the code was void")
	}

	view := func(name string, args map[string]string) api.Reply {
		t.Helper()
		r, err := client.View(t.Context(), api.View{Name: name, Args: args})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := view("people", nil); !regexp.MustCompile(`(?s)admin  telegram:48213377  Mira.*steer  telegram:7  Ana`).MatchString(r.Text) {
		t.Error(r.Text)
	}
	if r := view("unpair", map[string]string{"id": "7", "key": "k1"}); !r.OK {
		t.Error(r.Text)
	}
	if r := view("unpair", map[string]string{"id": "nobody", "key": "k2"}); r.OK {
		t.Error(r.Text)
	}
	var people []ledger.Person
	if err := json.Unmarshal(view("people", nil).Data, &people); err != nil || len(people) != 1 {
		t.Errorf("%v %v", people, err)
	}
}

// TestPairExpired: the code expires unused.
func TestPairExpired(t *testing.T) {
	p, client := daemontest.Open(t, config.Empty())
	out := &lines{}
	w := pairing{out: out, err: io.Discard, zone: time.UTC, ask: client}
	var exit exitCode
	if err := w.watch(t.Context(), operator.PairOffer{Until: time.Now().Add(50 * time.Millisecond)}, ""); !errors.As(err, &exit) || !strings.Contains(out.String(), "Nobody came; the code is void") {
		t.Errorf("%v\n%s", err, out)
	}
	// A daemon that ends does not wait for clients that wait for news.
	began := time.Now()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_, _ = p.Operator.View(context.Background(), api.View{Name: "pairing", Args: map[string]string{"after": "0"}})
	}()
	go p.Stop()
	<-asked
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("waited %v", took)
	}
}
