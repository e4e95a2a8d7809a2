package telegram

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options configure a Server. The zero value is valid.
type Options struct {
	Token    string           // of the bot; "" = an invented one of the real form
	BotName  string           // user name of the bot; "" = "porter_bot"
	Clock    func() time.Time // for dates, ages and rates; nil = time.Now
	Location *time.Location   // for transcripts; nil = UTC
	Rates    bool             // enforce rate limits with 429
	// Listen opens the listener; nil = a port of 127.0.0.1. The first address is
	// "127.0.0.1:0", later ones are the listener's own.
	Listen func(network, address string) (net.Listener, error)
}

// Server is a fake Telegram for one bot. Its methods may be called from any
// goroutine.
type Server struct {
	o    Options
	addr string

	mu       sync.Mutex
	http     *http.Server // nil while disconnected
	listener net.Listener
	changed  chan struct{}

	chats   map[int64]*chat
	updates queue
	presses map[string]*press
	uploads map[string]*upload // files of people's messages, by file_id
	nextID  int                // last id of a press
	faults  map[string][]Fault
	calls   []Call
	menus   map[string][]Command // by scope
	webhook string
	rates   rates
}

// chat is a private chat, whose id is the person's, or a group.
type chat struct {
	id       int64
	messages []*Message
	topics   map[int]bool   // by thread, true = open
	refusal  *methodResult  // error of every send: blocked, removed, moved
	mayPin   bool           // the bot may pin in this group
	left     map[int64]bool // people who left the group
	notices  []Notice
	count    Count
}

// Start starts a server on a free port of 127.0.0.1, or with Listen.
func Start(o Options) (*Server, error) {
	if o.Token == "" {
		o.Token = "7123456789:AAE-far-end-of-the-tests_0123456789abc"
	}
	if o.BotName == "" {
		o.BotName = "porter_bot"
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Location == nil {
		o.Location = time.UTC
	}
	if o.Listen == nil {
		o.Listen = func(network, address string) (net.Listener, error) {
			return (&net.ListenConfig{}).Listen(context.Background(), network, address)
		}
	}
	s := &Server{
		o: o, addr: "127.0.0.1:0",
		changed: make(chan struct{}),
		chats:   map[int64]*chat{},
		presses: map[string]*press{},
		uploads: map[string]*upload{},
		faults:  map[string][]Fault{},
		menus:   map[string][]Command{},
		updates: queue{next: 900000001},
	}
	if err := s.Reconnect(); err != nil {
		return nil, err
	}
	return s, nil
}

// Reconnect brings a disconnected server back at its old address.
func (s *Server) Reconnect() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil {
		return nil
	}
	l, err := s.o.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.addr, s.listener = l.Addr().String(), l
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(l) //nolint:errcheck // Close ends it with an error that says so
	return nil
}

// Disconnect takes the server off the network: calls in progress are cut, new
// ones are refused. People can still write.
func (s *Server) Disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil {
		_ = s.listener.Close() // the server may not serve it yet
		_ = s.http.Close()     // cuts the connections, as intended
		s.http = nil
	}
}

// Close stops the server.
func (s *Server) Close() { s.Disconnect() }

// URL returns the address that replaces https://api.telegram.org.
func (s *Server) URL() string { return "http://" + s.addr }

// Token returns the bot's token.
func (s *Server) Token() string { return s.o.Token }

// BotID returns the bot's user id, the part of its token before the colon.
func (s *Server) BotID() int64 {
	head, _, _ := strings.Cut(s.o.Token, ":")
	id, err := strconv.ParseInt(head, 10, 64)
	if err != nil {
		return 1
	}
	return id
}

// bot returns the bot's account.
func (s *Server) bot() User { return User{ID: s.BotID(), Name: s.o.BotName, Bot: true} }

// chat returns a chat, created if necessary. The caller holds s.mu.
func (s *Server) chat(id int64) *chat {
	c := s.chats[id]
	if c == nil {
		c = &chat{id: id, topics: map[int]bool{}}
		s.chats[id] = c
	}
	return c
}

func (c *chat) message(id int) *Message {
	if id < 1 || id > len(c.messages) || c.messages[id-1].Deleted {
		return nil
	}
	return c.messages[id-1]
}

// add appends a message with the next id of its chat.
func (c *chat) add(m *Message) *Message {
	m.ID = len(c.messages) + 1
	c.messages = append(c.messages, m)
	return m
}

// notifyChange wakes the callers of Wait. The caller holds s.mu.
func (s *Server) notifyChange() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// isGroup reports whether a chat id is a group's.
func isGroup(id int64) bool { return id < 0 }
