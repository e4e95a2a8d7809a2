package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/width"
)

// errEnded says that the person ended a dialog: with Ctrl-C, Ctrl-D, or by closing
// the terminal.
var errEnded = errors.New("ended at a question")

// dialog asks questions on a terminal, one a line. The terminal itself edits the
// line. Every method returns errEnded when ctx ends or the input does.
type dialog struct {
	in   *os.File
	out  io.Writer
	read *bufio.Reader // of in
}

func newDialog(in *os.File, out io.Writer) *dialog {
	return &dialog{in: in, out: out, read: bufio.NewReader(in)}
}

// say prints a text, broken at words to the width that the terminal has now.
// Continuation lines are indented.
func (d *dialog) say(text string) {
	text = propose.Plain(text)
	if n := columns(d.out); n > 4 {
		text = strings.Join(width.Wrap(text, n-2), "\n  ")
	}
	fmt.Fprintln(d.out, text)
}

// line asks for one line, without the spaces around it.
func (d *dialog) line(ctx context.Context, prompt string) (string, error) {
	for {
		fmt.Fprint(d.out, prompt)
		answer, err := d.await(ctx, func() (string, error) { return d.read.ReadString('\n') })
		if err != nil || utf8.ValidString(answer) && !strings.ContainsFunc(answer, unicode.IsControl) {
			return answer, err
		}
		d.say(bot.SignFailed + " That has keys in it that are no text, such as an arrow. Once more.")
	}
}

// secret is line without echo. It sets the terminal itself: term.ReadPassword does not
// notice Ctrl-D, and would leave the echo off where ctx ends.
func (d *dialog) secret(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(d.out, prompt)
	fd := int(d.in.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return "", fmt.Errorf("terminal: %w", err)
	}
	silent := *before
	silent.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(fd, setTermios, &silent); err != nil {
		return "", fmt.Errorf("terminal: %w", err)
	}
	answer, err := d.await(ctx, func() (string, error) { return d.read.ReadString('\n') })
	_ = unix.IoctlSetTermios(fd, setTermios, before) // a terminal that is gone needs no echo
	fmt.Fprintln(d.out)
	return answer, err
}

// await returns what get reads, or errEnded once ctx ends: a read of a terminal
// cannot be interrupted.
func (d *dialog) await(ctx context.Context, get func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	got := make(chan result, 1)
	go func() {
		text, err := get()
		got <- result{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", errEnded
	case r := <-got:
		if r.err != nil { // the terminal is gone, or Ctrl-D was pressed
			return "", errEnded
		}
		return strings.TrimSpace(r.text), nil
	}
}

// ask asks until the answer passes check. An empty one stands for proposal and is not
// checked.
func (d *dialog) ask(ctx context.Context, question, proposal string, check func(answer string) error) (string, error) {
	for {
		d.say(fmt.Sprintf("%s %s [%s]", bot.SignAsk, question, proposal))
		answer, err := d.line(ctx, "  > ")
		if err != nil || answer == "" {
			return proposal, err
		}
		err = check(answer)
		if err == nil {
			return answer, nil
		}
		d.refuse(err)
	}
}

// refuse prints why an answer is not taken.
func (d *dialog) refuse(err error) {
	for _, f := range fromError(err) {
		text := f.location() + f.Text
		if f.Meant != "" {
			text += fmt.Sprintf("; meant %q?", f.Meant)
		}
		d.say(bot.SignFailed + " " + text)
		if f.Remedy != "" {
			d.say("  " + f.Remedy)
		}
	}
}

// agree asks for yes or no. Enter is yes.
func (d *dialog) agree(ctx context.Context, question string) (bool, error) {
	answer, err := d.ask(ctx, question, "yes", func(answer string) error {
		switch strings.ToLower(answer) {
		case "y", "yes", "n", "no":
			return nil
		}
		return errors.New("type yes or no; Enter is yes")
	})
	return err == nil && strings.HasPrefix(strings.ToLower(answer), "y"), err
}

// list asks for a list of texts that pass check (nil takes any), one a line. Enter takes
// those that are proposed, "-" means none. changed reports whether the answer is another
// than the proposal.
func (d *dialog) list(ctx context.Context, question string, proposed []string, check func(string) error) (answer []string, changed bool, err error) {
	d.say(bot.SignAsk + " " + question)
	for _, p := range proposed {
		d.say("  " + p)
	}
	if len(proposed) == 0 {
		d.say("  none was found. Enter: none; or one a line, then Enter")
	} else {
		d.say("  Enter takes this; or yours, one a line, then Enter; - for none")
	}
	for {
		text, err := d.line(ctx, "  > ")
		switch {
		case err != nil:
			return nil, false, err
		case text == "-" && len(answer) == 0:
			return nil, len(proposed) > 0, nil
		case text == "" && len(answer) == 0:
			return proposed, false, nil
		case text == "":
			return answer, true, nil
		case check != nil && check(text) != nil:
			d.refuse(check(text))
			continue
		}
		answer = append(answer, text)
	}
}
