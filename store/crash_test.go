package store

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/leaktest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// crashEnv turns the test binary into the process to be killed: it commits to
// the database in this folder until it dies, and prints every acknowledged
// commit.
const crashEnv = "STORE_TEST_CRASH"

var (
	update = flag.Bool("update", false, "write the fixture of the current schema where there is none")
	seed   = flag.Uint64("crash.seed", 0, "seed of the crash test; 0 takes one of its own")
	rounds = flag.Int("crash.rounds", 6, "kills in the crash test; the tests of broken disks play twice as many disks")
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashEnv); dir != "" {
		if err := commitForever(dir); err != nil {
			fmt.Println("error:", err)
		}
		os.Exit(1)
	}
	// A round is some hundred durable transactions; the flag -rapid.checks can
	// raise the number.
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
	leaktest.Main(m.Run)
}

// commitForever commits one input after another, each with everything that a
// batch can hold, and prints "KEY SEQ" after each acknowledgement.
func commitForever(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	seq, _, err := s.Head(ctx, shop)
	if err != nil {
		return err
	}
	for i := seq; ; i++ {
		key := fmt.Sprintf("in:%d", i)
		b := ledger.Batch{
			Key: key, Time: entryTime, Answer: []byte(key),
			Records:  []ledger.Record{rec(shop, key), rec(ledger.SharedStream, key)},
			Effects:  []ledger.PendingEffect{effect(shop, "start", key)},
			Messages: []ledger.Outgoing{{Chat: mira, Key: key, Class: ledger.ClassNotice}},
			Cursor:   &ledger.Cursor{Name: "telegram:1", Value: key},
		}
		b.Records[0].Body = []byte(strings.Repeat("x", int(i%7)*1000))
		r, err := s.Commit(ctx, b)
		if err != nil {
			return err
		}
		if i%5 == 4 {
			if err := s.SaveSnapshot(ctx, ledger.SnapshotRow{Stream: shop, Seq: i, Version: 1, Body: []byte(key)}); err != nil {
				return err
			}
		}
		if err := deliverAll(ctx, s); err != nil {
			return err
		}
		fmt.Printf("%s %d\n", key, r.Records[0].Seq)
	}
}

// deliverAll sends every queued message, with its key as platform id.
func deliverAll(ctx context.Context, s *Store) error {
	for {
		m, ok, err := s.NextMessage(ctx, mira)
		if err != nil || !ok {
			return err
		}
		if err := s.BeginDelivery(ctx, m.ID); err != nil {
			return err
		}
		if _, err := s.Sent(ctx, m.ID, m.Key, entryTime); err != nil {
			return err
		}
	}
}

// TestKill kills a committing process: every acknowledged commit is there
// afterwards, whole and once.
func TestKill(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-crash.seed %d", *seed)
	random := rand.New(rand.NewPCG(*seed, 0))
	dir := t.TempDir()
	acknowledged := map[string]string{} // Seq by key
	for range *rounds {
		killAfter(t, dir, random, acknowledged)
		checkAfterKill(t, dir, acknowledged)
	}
}

// killAfter starts a child that commits, and kills it a random number of lines
// and microseconds later, so that the kill can hit any step.
func killAfter(t *testing.T, dir string, random *rand.Rand, acknowledged map[string]string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := false
	kill := func() {
		killed = true
		_ = cmd.Process.Kill()
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	left := 1 + random.IntN(60)
	delay := time.Duration(random.IntN(3000)) * time.Microsecond
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		key, seq, ok := strings.Cut(lines.Text(), " ")
		if !ok || key == "error:" {
			t.Fatalf("the child said %q", lines.Text())
		}
		if acknowledged[key] != "" {
			t.Fatalf("%s was acknowledged twice: as %s and %s", key, acknowledged[key], seq)
		}
		acknowledged[key] = seq
		if left--; left == 0 {
			time.AfterFunc(delay, kill)
		}
	}
	_ = cmd.Wait()
	if left > 0 {
		t.Fatalf("the child ended by itself (killed: %v)", killed)
	}
}

func checkAfterKill(t *testing.T, dir string, acknowledged map[string]string) {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	wantEqual(t, "breaks", breaks(t, s), "")
	entries, shared, effects := records(t, s, shop, 0), records(t, s, ledger.SharedStream, 0), pending(t, s)
	// The last input may have been committed without an acknowledgement.
	if n := len(entries); n < len(acknowledged) || n != len(shared) || n != len(effects) {
		t.Fatalf("%d entries, %d shared, %d effects; %d inputs were acknowledged", n, len(shared), len(effects), len(acknowledged))
	}
	byKey := map[string]string{}
	for _, r := range entries {
		byKey[r.Type] = fmt.Sprint(r.Seq)
	}
	for key, seq := range acknowledged {
		if byKey[key] != seq {
			t.Errorf("%s was acknowledged as entry %s, it is %q", key, seq, byKey[key])
		}
	}
	for key := range byKey {
		if r := mustCommit(t, s, ledger.Batch{Key: key, Records: []ledger.Record{rec(shop, "again")}}); !r.Repeated || string(r.Answer) != key {
			t.Errorf("%s again: repeated %v, answer %q", key, r.Repeated, r.Answer)
		}
	}
	checkMessagesAfterKill(t, s, byKey, entries[len(entries)-1].Type)
	for key := range byKey {
		acknowledged[key] = byKey[key] // the last input may have been committed without an acknowledgement
	}
}

// checkMessagesAfterKill checks that every message but the last was sent once,
// and that the cursor belongs to the last input.
func checkMessagesAfterKill(t *testing.T, s *Store, keys map[string]string, last string) {
	t.Helper()
	left := queue(t, s, mira)
	if len(left) > 1 || len(left) == 1 && left[0].Key != last {
		t.Errorf("queued: %+v, the last input is %s", left, last)
	}
	for key := range keys {
		if len(left) == 1 && left[0].Key == key {
			continue
		}
		if m := shownAt(t, s, mira, key); m.Key != key {
			t.Errorf("%s is the message of %q", key, m.Key)
		}
	}
	if c, ok, err := s.Cursor(t.Context(), "telegram:1"); !ok || err != nil || c.Value != last {
		t.Errorf("cursor %+v, %v, want %s", c, err, last)
	}
}
