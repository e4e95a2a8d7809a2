package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

func address(n int) string {
	if n%2 == 1 {
		return fmt.Sprintf("-100%d", n)
	}
	return fmt.Sprintf("48%d", n)
}

// TestManyMessagesInOrderWithinRates sends many messages to forty chats, half
// of them groups, at the platform's rate, without loss, copies or changes of
// order. The fake platform records every window that exceeds a limit, and the
// test's cleanup fails if there is one. The longest window is a minute, with 20
// messages to a group.
func TestManyMessagesInOrderWithinRates(t *testing.T) {
	const chats = 40
	each := 80
	if os.Getenv("NIGHTPORTER_SOAK") != "" {
		each = 250
	}
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		for n := range each {
			var batch []ledger.Outgoing
			for c := range chats {
				batch = append(batch, out(address(c), "", fmt.Sprintf("n%d", n), ledger.ClassNotice))
			}
			w.commit(batch...)
		}
		w.start()
		took := w.waitDrained(time.Hour)
		for c := range chats {
			got := w.platform.texts("telegram:" + address(c))
			for n := range max(each, len(got)) {
				if want := fmt.Sprintf("n%d", n); n >= len(got) || n >= each || got[n] != want {
					t.Fatalf("chat %s: message %d of %d is not %s", address(c), n, len(got), want)
				}
			}
		}
		// A group takes longest, with 17 messages a minute.
		if most := time.Duration(each)*time.Minute/17 + 5*time.Second; took > most {
			t.Errorf("took %v, at the platform's rate %v is enough", took, most)
		}
	})
}

// TestFaultsAndCrashes checks with random errors and crashes that no message
// but chatter is lost, nor a look before its second copy, that chatter is never sent
// twice and a look at most twice, that every other copy is marked, and that each
// chat's order is kept.
func TestFaultsAndCrashes(t *testing.T) {
	seeds := uint64(6)
	if os.Getenv("NIGHTPORTER_SOAK") != "" {
		seeds = 300
	}
	crashes := 0
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { crashes += faultsAndCrashes(t, seed) })
	}
	if crashes == 0 {
		t.Error("there was no crash")
	}
}

// faultsAndCrashes returns the number of crashes.
func faultsAndCrashes(t *testing.T, seed uint64) (restarts int) {
	const chats, each = 8, 25
	w := newFixture(t)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 3))
	roll := func(n int) int { mu.Lock(); defer mu.Unlock(); return random.IntN(n) }
	unclear := map[string]int{} // by chat and name
	crash := make(chan struct{}, 1)
	w.platform.setScript(func(ctx context.Context, kind, chat, text string) (bool, error) {
		time.Sleep(time.Duration(roll(300)) * time.Millisecond)
		name := chat + " " + nameOf(text)
		maybe := func() {
			mu.Lock()
			defer mu.Unlock()
			unclear[name]++
		}
		switch n := roll(100); {
		case n < 4:
			return false, &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: time.Duration(roll(20)) * time.Second, Text: "too many requests"}
		case n < 7:
			return false, errOffline
		case n < 10:
			maybe()
			return true, errUnclear
		case n < 13:
			maybe()
			return false, errUnclear
		case n < 15:
			w.outbox.dead.Store(true) // the process writes nothing after this
			select {
			case crash <- struct{}{}:
			default:
			}
			return roll(2) == 0, nil
		}
		return true, nil
	})
	classes := []ledger.MessageClass{ledger.ClassAsk, ledger.ClassNotice, ledger.ClassReply, ledger.ClassLook, ledger.ClassChatter}
	class := map[string]ledger.MessageClass{}
	ahead := map[string]bool{}
	w.start()
	sent, polls := 0, 0
	for began := time.Now(); ; {
		if sent < each {
			for c := range chats {
				name := fmt.Sprintf("n%d", sent)
				k := classes[roll(len(classes))]
				class["telegram:"+address(c)+" "+name] = k
				m := out(address(c), name, name, k)
				m.Ahead = roll(4) == 0
				ahead[m.Chat+" "+name] = m.Ahead
				w.commit(m)
				if roll(3) == 0 {
					w.commit(change(address(c), name, name+"\nchanged", k))
				}
			}
			sent++
		}
		w.advance(2 * time.Second)
		if polls++; polls%25 == 0 {
			w.dispatcher.MarkReachable() // as after the end of a long poll
		}
		select {
		case <-crash:
			w.kill()
			for chat, names := range w.begunNames() {
				for _, name := range names {
					unclear[chat+" "+name]++
				}
			}
			w.start()
			restarts++
		default:
		}
		if left, err := w.store.Chats(t.Context()); err != nil {
			t.Fatal(err)
		} else if len(left) == 0 && sent == each {
			break
		}
		if time.Since(began) > 30*time.Hour {
			t.Fatalf("seed %d: not drained: %.500q", seed, w.queued())
		}
	}
	w.advance(time.Second)
	for c := range chats {
		chat := "telegram:" + address(c)
		seen := map[string]int{} // number of copies, by name
		last, lastAhead, late := -1, -1, false
		for _, m := range w.platform.messages(chat) {
			name := nameOf(m.text)
			if name == "" { // the announcement of an outage: chatter was dropped
				late = true
				continue
			}
			if seen[name] == 0 {
				var n int
				if _, err := fmt.Sscanf(name, "n%d", &n); err != nil {
					t.Fatal(err)
				}
				// Messages set aside after many doubts are the exception, and looks
				// after one. Answers go ahead, and keep an order of their own.
				lane := &last
				if ahead[chat+" "+name] {
					lane = &lastAhead
				}
				doubts := unclear[chat+" "+name]
				if doubts == 0 || doubts < setAsideAfter && class[chat+" "+name] != ledger.ClassLook {
					if n < *lane {
						t.Errorf("seed %d, %s: %s came after n%d", seed, chat, name, *lane)
					}
					*lane = n
				}
			}
			seen[name]++
			marked := strings.HasPrefix(m.text, "↻ ") && strings.Contains(m.text, "Sent again: ")
			if seen[name] > 1 && !marked {
				t.Errorf("seed %d, %s: %s came again without a mark: %q", seed, chat, name, m.text)
			}
			if marked && unclear[chat+" "+name] == 0 {
				t.Errorf("seed %d, %s: %s is marked, and never was in doubt", seed, chat, name)
			}
		}
		for n := range each {
			name := fmt.Sprintf("n%d", n)
			came, k := seen[name], class[chat+" "+name]
			switch {
			case came == 0 && k == ledger.ClassChatter && (late || unclear[chat+" "+name] > 0):
			case came == 0 && k == ledger.ClassLook && unclear[chat+" "+name] > 1: // sent again once
			case came == 0:
				t.Errorf("seed %d, %s: %s (%s) is lost", seed, chat, name, k)
			case k == ledger.ClassChatter && came > 1, k == ledger.ClassLook && came > 2:
				t.Errorf("seed %d, %s: %s (%s) came %d times", seed, chat, name, k, came)
			case came > unclear[chat+" "+name]+1:
				t.Errorf("seed %d, %s: %s came %d times with %d doubts", seed, chat, name, came, unclear[chat+" "+name])
			}
		}
	}
	return restarts
}

// begunNames returns the names of the messages whose sending began, by chat.
func (w *fixture) begunNames() map[string][]string {
	w.t.Helper()
	names := map[string][]string{}
	for c := range 40 {
		chat := "telegram:" + address(c)
		queue, err := w.store.Queued(w.t.Context(), chat)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, m := range queue {
			var b bot.Message
			if err := json.Unmarshal(m.Body, &b); err != nil {
				w.t.Fatal(err)
			}
			if m.InDoubt > 0 {
				names[chat] = append(names[chat], nameOf(b.First()))
			}
		}
	}
	return names
}

// nameOf returns the name in a test message, marked or not, "" for any other.
func nameOf(text string) string {
	for f := range strings.FieldsSeq(text) {
		if f != "↻" {
			if strings.HasPrefix(f, "n") {
				return f
			}
			return ""
		}
	}
	return ""
}

// TestStuckChatsDelayNoOther checks that chats without responses, closed chats
// and rate-limited chats do not delay another chat.
func TestStuckChatsDelayNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		w.platform.setScript(func(ctx context.Context, _, chat, _ string) (bool, error) {
			switch chat {
			case "telegram:1":
				<-ctx.Done()
				return false, ctx.Err()
			case "telegram:2":
				return false, &bot.SendError{Reason: bot.ErrChatClosed, Text: "bot was blocked by the user"}
			case "telegram:3":
				return false, &bot.SendError{Reason: bot.ErrRateLimited, RetryAfter: time.Hour, Text: "too many requests"}
			}
			return true, nil
		})
		w.start()
		for n := range 50 {
			for _, chat := range []string{"1", "2", "3", "4"} {
				w.commit(out(chat, "", fmt.Sprintf("n%d", n), ledger.ClassNotice))
			}
			w.advance(2 * time.Second)
			if got := len(w.platform.texts("telegram:4")); got != n+1 {
				t.Fatalf("message %d: the live chat has %d messages", n, got)
			}
		}
		if got := w.queued(); len(got) != 100 {
			t.Errorf("%d messages are queued, want those of the hanging and the held up chat", len(got))
		}
		if n := w.log.count("a chat is closed"); n != 1 {
			t.Errorf("a closed chat was logged %d times", n)
		}
	})
}

// TestStartWithManyMessages checks that of very many messages the first is sent first
// after a start. How soon that is, internal/bench measures.
func TestStartWithManyMessages(t *testing.T) {
	rows := 10_000
	if os.Getenv("NIGHTPORTER_SOAK") != "" {
		rows = 100_000
	}
	w := newFixture(t)
	const chats = 50
	for n := 0; n < rows; n += 1000 {
		var batch []ledger.Outgoing
		for i := range 1000 {
			batch = append(batch, out(fmt.Sprint(1000+i%chats), "", fmt.Sprintf("n%d", n/chats+i/chats), ledger.ClassNotice))
		}
		w.commit(batch...)
	}
	first := make(chan struct{})
	var once sync.Once
	w.platform.setScript(func(context.Context, string, string, string) (bool, error) {
		once.Do(func() { close(first) })
		return true, nil
	})
	w.start()
	<-first
	w.stop()
	if texts := w.platform.messagesShown; len(texts) == 0 || !slices.Contains([]string{"n0"}, texts[0].text) {
		t.Errorf("first of all is %+v", texts[0])
	}
}
