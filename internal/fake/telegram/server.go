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

// Options say what kind of server it is. The zero value is a good one.
type Options struct {
	Token    string           // of the bot; "" = a made-up one of the real form
	BotName  string           // user name of the bot; "" = "porter_bot"
	Clock    func() time.Time // dates of messages, ages and rates; nil = time.Now
	Location *time.Location   // of the times in transcripts; nil = UTC
	Rates    bool             // answer 429 to a bot that sends too fast
	// Listen opens what the server listens on; nil = a port of 127.0.0.1. The
	// first address is "127.0.0.1:0", later ones are the listener's own.
	Listen func(network, address string) (net.Listener, error)
}

// Server is Telegram as one bot sees it. Its methods can be called from any
// goroutine.
type Server struct {
	o    Options
	addr string

	mu       sync.Mutex
	http     *http.Server // nil while away
	listener net.Listener
	changed  chan struct{}

	chats   map[int64]*chat
	updates queue
	presses map[string]*press
	nextID  int // of presses
	faults  map[string][]Fault
	calls   []Call
	menus   map[string][]Command // by scope
	webhook string
	rates   rates
}

// chat is one conversation, private (its id is the person's) or a group's.
type chat struct {
	id       int64
	messages []*Message
	topics   map[int]bool // by thread, true = open
	refusal  *answer      // what every sending gets: blocked, kicked, moved
	mayPin   bool         // a group in which the bot may pin
	notices  []Notice
	count    Count
}

// Start listens on a free port of 127.0.0.1, or where Listen says.
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
		faults:  map[string][]Fault{},
		menus:   map[string][]Command{},
		updates: queue{next: 900000001},
	}
	if err := s.Reconnect(); err != nil {
		return nil, err
	}
	return s, nil
}

// Reconnect brings a server that is Away back to its old address.
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
	go s.http.Serve(l) //nolint:errcheck // it ends by Close, with the error that says so
	return nil
}

// Disconnect takes the server off the network: calls in hand are cut, new ones are
// refused. People can go on writing.
func (s *Server) Disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http != nil {
		_ = s.listener.Close() // which the server may not have begun to serve
		_ = s.http.Close()     // the connections are cut on purpose
		s.http = nil
	}
}

// Close ends the server.
func (s *Server) Close() { s.Disconnect() }

// URL is what a bot takes for https://api.telegram.org.
func (s *Server) URL() string { return "http://" + s.addr }

// Token is the bot's.
func (s *Server) Token() string { return s.o.Token }

// BotID is the bot's user id, the part of its token before the colon.
func (s *Server) BotID() int64 {
	head, _, _ := strings.Cut(s.o.Token, ":")
	id, err := strconv.ParseInt(head, 10, 64)
	if err != nil {
		return 1
	}
	return id
}

// bot is the bot as a user.
func (s *Server) bot() User { return User{ID: s.BotID(), Name: s.o.BotName, Bot: true} }

// chat finds a conversation, or begins it. s.mu is held.
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

// add appends a message and gives it the next id of its chat.
func (c *chat) add(m *Message) *Message {
	m.ID = len(c.messages) + 1
	c.messages = append(c.messages, m)
	return m
}

// notifyChange wakes whoever waits for something to be different. s.mu is held.
func (s *Server) notifyChange() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// isGroup reports whether a chat id is a group's.
func isGroup(id int64) bool { return id < 0 }
