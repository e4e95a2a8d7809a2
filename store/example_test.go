package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// One input is one batch. Committing it again under the same key changes
// nothing and returns the first answer.
func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := store.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = s.Close() }()

	ctx := context.Background()
	now := time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC)
	batch := ledger.Batch{
		Key:     "telegram:8123",
		Time:    now,
		Records: []ledger.Record{{Stream: "project/shop", Time: now, Type: "run.started", V: 1, Body: []byte(`{"run":"r1"}`)}},
		Effects: []ledger.PendingEffect{{Stream: "project/shop", Kind: "session.start", Class: ledger.Findable, Key: "r1-1", Time: now}},
		Answer:  []byte("r1 started"),
	}
	for range 2 {
		receipt, err := s.Commit(ctx, batch)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s, repeated: %t, new entries: %d\n", receipt.Answer, receipt.Repeated, len(receipt.Records))
	}

	err = s.Records(ctx, "project/shop", 0, func(r ledger.Record) error {
		fmt.Printf("entry %d: %s %s\n", r.Seq, r.Type, r.Body)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	pending, err := s.Pending(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("to do:", pending[0].Kind, pending[0].Key)

	breaks, err := s.Verify(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("breaks:", len(breaks))
	// Output:
	// r1 started, repeated: false, new entries: 1
	// r1 started, repeated: true, new entries: 0
	// entry 1: run.started {"run":"r1"}
	// to do: session.start r1-1
	// breaks: 0
}

// The anchor of a commit proves that the ledger still ends, at least, with the
// entry that the commit names.
func ExampleParseAnchor() {
	a, err := store.ParseAnchor("Nightporter-Head: project/shop@41:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
	fmt.Println(a.Stream, a.Seq, len(a.Hash), err)
	_, err = store.ParseAnchor("project/shop@0:9f86")
	fmt.Println(err)
	// Output:
	// project/shop 41 32 <nil>
	// parse Nightporter-Head "project/shop@0:9f86": no entry has the number "0": expected STREAM@SEQ:HASH
}
