package acceptance

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/internal/attachment"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/forge/memory"
	"github.com/nightporter/nightporter/loop/ledger"

	farslack "github.com/nightporter/nightporter/internal/fake/slack"
	fartelegram "github.com/nightporter/nightporter/internal/fake/telegram"
)

// forge is a remote with a forge.
type forge struct{ *memory.Forge }

func (f forge) Open(context.Context) (engine.Remote, engine.Forge, error) {
	return f, forgeOf(f), nil
}

func (f forge) Push(_ context.Context, p ledger.Push) (ledger.Pushed, error) {
	f.Forge.Push(p.Branch, p.Commit)
	return ledger.Pushed{Commit: p.Commit}, nil
}

func (forge) TryPush(context.Context, ledger.Push) error { return nil }

func (forge) Fetch(context.Context, string, ...string) (map[string]string, error) { return nil, nil }

func (forge) Branches(context.Context, ...string) (map[string]string, error) { return nil, nil }

type forgeOf struct{ *memory.Forge }

func (forgeOf) Kind() ledger.ForgeKind { return ledger.ForgeGitHub }

// inboxSource is an inbox of bug reports, which takes new ones. It takes a second for it,
// so that the receipt is shown and edited every night.
type inboxSource struct{ *growingPlan }

func (s inboxSource) AddOnce(ctx context.Context, a ledger.AddTasks) (ledger.AddedTasks, error) {
	time.Sleep(time.Second)
	added, err := s.growingPlan.AddOnce(ctx, a)
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range added.IDs {
		at := len(s.tasks) - len(added.IDs) + n
		s.tasks[at].ID = fmt.Sprintf("B%d", at+1)
		added.IDs[n] = s.tasks[at].ID
	}
	added.Snapshot.Tasks = append([]ledger.Task{}, s.tasks...)
	return added, err
}

// photo sends a picture with words in a user's chat.
func photo(p phone, who, words string) {
	const jpeg = "\xff\xd8\xff a cart that says NaN"
	switch p := p.(type) {
	case *telegramPhone:
		p.far.Post(fartelegram.UserMessage{From: users[who], Chat: p.chat(who), Photo: true, Text: words, File: fartelegram.File{Data: []byte(jpeg)}})
	case *slackPhone:
		p.far.Post(farslack.UserMessage{User: members[who], Channel: p.chat(who), Text: words, Files: []farslack.File{{Name: "IMG_0412.jpg", Data: []byte(jpeg)}}})
	}
}

// fetches gives the receiver of a phone what it needs for files.
func fetches(t *testing.T, p phone, o inbound.Options) inbound.Options {
	o.Files = attachment.Open(t.TempDir())
	switch p := p.(type) {
	case *telegramPhone:
		o.Fetch = p.bot.Fetch
	case *slackPhone:
		o.Fetch = p.bot.Fetch
	}
	return o
}

// TestBugToMerge: a bug is reported with a photo in the evening, fixed in the night, and
// its request is merged from the phone in the morning.
func TestBugToMerge(t *testing.T) {
	for _, platform := range []func(*testing.T) phone{newTelegram, newSlack} {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(tuesday.Add(-time.Minute)))
			p := platform(t)
			hub := forge{memory.New()}
			source := inboxSource{&growingPlan{}}
			s := newSessions(ledger.Snapshot{}, map[string][]act{
				"B1 builder": {builder("22:58", 0.40, "a total of nothing is 0")},
			})
			s.adds, s.publisher = source.growingPlan, hub
			inWaves := func() ledger.Settings {
				set := single()
				set.Source, set.Batch, set.MaxWaves = ledger.SourceRef{Kind: ledger.SourceBugs, Path: "bugs.json"}, 5, 5
				set.Push, set.Requests.Watch = ledger.PushTask, ledger.WatchOff
				return set
			}
			w := openNightWith(t, p, s, source, inWaves, 1, func(o inbound.Options) inbound.Options { return fetches(t, p, o) })
			w.until(tuesday)
			w.pair("Mira", ledger.RoleAdmin, "K7QX-M2PD")
			for _, d := range []struct {
				at string
				do func() error
			}{
				{"22:31", func() error {
					photo(p, "Mira", "shop: /bug high: I tapped Pay on the cart page and saw NaN instead of the total")
					return nil
				}},
				{"22:40", say(p, "/run shop")},
				{"22:41", pressing(p, "? Start shop?", "Start")},
				{"22:59:30", func() error {
					hub.Check(1, ledger.ForgeCheck{Name: "build", State: ledger.CheckPassed})
					return nil
				}},
				{"07:30", func() error { w.digest(at("07:30")); return nil }},
				{"07:41", pressing(p, "✓ shop 1/1 done, r14", "Merge")},
				{"07:42", pressing(p, "? Merge", "Merge")},
			} {
				w.until(at(d.at))
				if err := d.do(); err != nil {
					t.Errorf("%s: %v", d.at, err)
				}
				synctest.Wait()
			}
			w.until(at("07:45"))
			golden.Compare(t, p.name()+"-bug.txt", settled(p.transcript("Mira")))
			if v, err := hub.Look(t.Context(), 1, ""); err != nil || v.Request.State != ledger.RequestMerged {
				t.Errorf("the request: %+v, %v", v, err)
			}
		})
	}
}
