package main

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop/ledger"
)

// wantedHosts are what sessions of a closed network ask for. They are few, so that
// sessions ask for the same one.
var wantedHosts = []string{"a.example.org", "b.example.org", "c.example.org", "d.example.org", "e.example.org"}

// drawHosts decides whether sessions of this night have a closed network: from a stream
// of its own, as drawSites.
func (w *world) drawHosts() {
	if of := w.opt.hosts; of > 0 {
		if own := rand.New(rand.NewPCG(w.seed, 0x6e65)); own.Uint64N(of) == 0 {
			w.hosts = own
		}
	}
}

// network is a session's closed network, which outlives the daemon.
type network struct {
	asked   []ledger.HostRequest
	allowed map[string]bool // answers, by host; missing = none yet
	news    chan struct{}   // closed and made anew when asked grows
}

func newNetwork() network {
	return network{allowed: map[string]bool{}, news: make(chan struct{})}
}

// wantsHosts lets a session ask for some hosts, each of which it waits a minute for.
func (s *session) wantsHosts() {
	if s.w.hosts == nil {
		return
	}
	for range s.w.hosts.IntN(4) {
		host := wantedHosts[s.w.hosts.IntN(len(wantedHosts))]
		if slices.Contains(s.launch.Network.Hosts, host) {
			s.w.audit.reaches(s.launch.Session, host)
			continue
		}
		if !slices.ContainsFunc(s.network.asked, func(h ledger.HostRequest) bool { return h.Host == host }) {
			s.network.asked = append(s.network.asked, ledger.HostRequest{Session: s.launch.Session, Host: host, Port: 443, Program: "curl", At: s.w.wall()})
			close(s.network.news)
			s.network.news = make(chan struct{})
		}
		for waited := time.Duration(0); waited < time.Minute; waited += 5 * time.Second {
			if _, answered := s.network.allowed[host]; answered {
				break
			}
			s.work(5 * time.Second)
		}
		if s.network.allowed[host] {
			s.w.audit.reaches(s.launch.Session, host)
		}
	}
}

// Screenshot is engine.Runner's. No project of the simulation has pictures.
func (r runner) Screenshot(string) ([]byte, error) { return nil, fs.ErrNotExist }

func (r runner) DropScreenshot(string) error { return nil }

// HostRequests is engine.Runner's.
func (r runner) HostRequests(ctx context.Context, id string, asked func(ledger.HostRequest)) error {
	s := r.machine.sessions[id]
	for seen := 0; ; {
		for ; seen < len(s.network.asked); seen++ {
			asked(s.network.asked[seen])
		}
		if r.life.Wait(ctx, sched.Forever, s.network.news) != nil {
			return nil
		}
	}
}

// AnswerHost is engine.Runner's.
func (r runner) AnswerHost(id string, a ledger.HostAnswer) error {
	if s := r.machine.sessions[id]; s != nil {
		s.network.allowed[a.Host] = a.Allow
	}
	return nil
}

// hostWords are what people said of hosts, by run and host, as the ledger has it.
type hostWords struct {
	asked   map[string]int  // questions, by run
	about   map[string]bool // by session and host: it was asked about
	refused map[string]bool // by run and host: the last word for the run was no
	once    map[string]bool // by session and host
	open    map[string]bool // by host, for good; by run and host
}

func newHostWords() hostWords {
	return hostWords{map[string]int{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

// hostEntry sees the entries about hosts: a run asks about few of them, and a session
// about each once, whatever restarts lie in between.
func (a *audit) hostEntry(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.QuestionAsked:
		h := b.Question.Host
		if b.Question.Kind != ledger.AskHost {
			return
		}
		if a.hosts.asked[e.Run]++; a.hosts.asked[e.Run] > ledger.MaxHostQuestions {
			a.w.fail("few questions about hosts", "%s asks about %d", e.Run, a.hosts.asked[e.Run])
		}
		if key := h.Session + " " + h.Host; a.hosts.about[key] {
			a.w.fail("one question a host", "%s is asked about twice", key)
		} else {
			a.hosts.about[key] = true
		}
		a.w.count(hostAsked)
	case ledger.HostAllowed:
		switch {
		case b.Session != "":
			a.hosts.once[b.Session+" "+b.Host] = true
		case b.Run != "":
			a.hosts.open[b.Run+" "+b.Host], a.hosts.refused[b.Run+" "+b.Host] = true, false
		default:
			a.hosts.open[b.Host] = true
		}
	case ledger.HostRefused:
		if b.Why == ledger.RefusedByPerson {
			a.hosts.refused[e.Run+" "+b.Host] = true
		}
	}
}

// reaches is called when a session reaches a host that nobody named: a person has to
// have allowed it, and not refused it for the run.
func (a *audit) reaches(session, host string) {
	run := a.w.machine.sessions[session].launch.Run
	switch {
	case a.hosts.once[session+" "+host], a.hosts.open[host]:
	case a.hosts.refused[run+" "+host]:
		a.w.fail("no host after a no", "%s reaches %s, and a person refused it to %s", session, host, run)
	case !a.hosts.open[run+" "+host]:
		a.w.fail("no host unasked", "%s reaches %s, and nobody allowed it", session, host)
	}
	a.w.count(hostReached)
}
