package egress

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	dnsTTL     = 60 // seconds; an answer never changes
	dnsIdle    = 10 * time.Second
	maxMessage = 4096 // of a query, which has one name
)

// ServeDNS answers queries on a socket for datagrams and a listener; either may
// be nil. A name's A record is its address inside (Address); it has no other
// records. Nothing is asked outside for a query, so that nothing can be said by
// one: a name is resolved when something connects to it.
func (p *Proxy) ServeDNS(udp net.PacketConn, tcp net.Listener) error {
	if udp == nil && tcp == nil {
		return errors.New("egress: DNS without a socket")
	}
	errs := make(chan error, 2)
	n := 0
	if udp != nil {
		n++
		go func() { errs <- p.serveDatagrams(udp) }()
	}
	if tcp != nil {
		n++
		go func() { errs <- p.serve(tcp, nil, p.dnsStream) }()
	}
	err := <-errs
	for _, l := range []closer{udp, tcp} {
		if err != nil && l != nil {
			_ = l.Close()
		}
	}
	for range n - 1 {
		if e := <-errs; err == nil {
			err = e
		}
	}
	return err
}

func (p *Proxy) serveDatagrams(udp net.PacketConn) error {
	ended, ok := p.listen(udp)
	if !ok {
		return nil
	}
	defer ended()
	defer udp.Close()
	b := make([]byte, maxMessage)
	for {
		n, from, err := udp.ReadFrom(b)
		switch {
		case p.ctx.Err() != nil:
			return nil
		case isTemporary(err):
			if !p.sleep(50 * time.Millisecond) {
				return nil
			}
		case err != nil:
			return err
		default:
			if reply := p.answerDNS(b[:n]); reply != nil {
				_, _ = udp.WriteTo(reply, from)
			}
		}
	}
}

// dnsStream answers queries over TCP, each with its length in front.
func (p *Proxy) dnsStream(c *conn) {
	defer c.Close()
	b := make([]byte, 2+maxMessage)
	for {
		_ = c.SetDeadline(time.Now().Add(dnsIdle))
		if _, err := io.ReadFull(c, b[:2]); err != nil {
			return
		}
		n := int(binary.BigEndian.Uint16(b))
		if n > maxMessage {
			return
		}
		if _, err := io.ReadFull(c, b[2:2+n]); err != nil {
			return
		}
		reply := p.answerDNS(b[2 : 2+n])
		if reply == nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// answerDNS returns the reply to a query, or nil for what is none.
func (p *Proxy) answerDNS(query []byte) []byte {
	var parser dnsmessage.Parser
	h, err := parser.Start(query)
	if err != nil || h.Response {
		return nil
	}
	reply := dnsmessage.Header{ID: h.ID, Response: true, OpCode: h.OpCode, RecursionDesired: h.RecursionDesired, RecursionAvailable: true}
	questions, err := parser.AllQuestions()
	switch {
	case err != nil || len(questions) != 1:
		reply.RCode = dnsmessage.RCodeFormatError
		return packDNS(reply, nil, nil)
	case h.OpCode != 0:
		reply.RCode = dnsmessage.RCodeNotImplemented
		return packDNS(reply, questions, nil)
	}
	body, code := p.lookUp(questions[0])
	reply.RCode = code
	return packDNS(reply, questions, body)
}

// lookUp returns the record of a question, if there is one.
func (p *Proxy) lookUp(q dnsmessage.Question) (*dnsmessage.AResource, dnsmessage.RCode) {
	name, err := parseName(q.Name.String())
	t := Target{Host: name}
	if err != nil {
		t.Host = printable(q.Name.String(), maxName)
	}
	if p.hasCanaryName(q.Name.String()) {
		p.sawCanary(t)
		p.startUse(nil, t).end(refusef(CodeCanary, "%s: the name carries a secret", t.Host))
		return nil, dnsmessage.RCodeNameError
	}
	if q.Class != dnsmessage.ClassINET && q.Class != dnsmessage.ClassANY {
		return nil, dnsmessage.RCodeRefused
	}
	if q.Type != dnsmessage.TypeA && q.Type != dnsmessage.TypeALL {
		return nil, dnsmessage.RCodeSuccess
	}
	if err != nil {
		return nil, dnsmessage.RCodeNameError
	}
	if name == "localhost" {
		return &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}, dnsmessage.RCodeSuccess // RFC 6761 6.3
	}
	p.mu.Lock()
	err = p.policy.checkName(t)
	p.mu.Unlock()
	if err != nil {
		p.startUse(nil, t).end(err)
		return nil, dnsmessage.RCodeNameError
	}
	a := p.names.address(name)
	if !a.IsValid() {
		return nil, dnsmessage.RCodeServerFailure
	}
	return &dnsmessage.AResource{A: a.As4()}, dnsmessage.RCodeSuccess
}

func packDNS(h dnsmessage.Header, questions []dnsmessage.Question, body *dnsmessage.AResource) []byte {
	m := dnsmessage.Message{Header: h, Questions: questions}
	if body != nil {
		q := questions[0]
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET, TTL: dnsTTL},
			Body:   body,
		}}
	}
	b, err := m.Pack()
	if err != nil {
		return nil
	}
	return b
}
