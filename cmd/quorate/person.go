package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// person is who is asked, on the standard error.
type person struct {
	in  *bufio.Reader
	err io.Writer
}

func newPerson(in io.Reader, err io.Writer) *person { return &person{bufio.NewReader(in), err} }

var (
	errDeclined = errors.New("declined; nothing was changed")
	errUnasked  = errors.New("nobody answered; nothing was changed")
)

// agree asks a question that only y or yes answers in the affirmative.
func (p *person) agree(question string) error {
	answer, err := p.ask(question + " [y/N] ")
	if errors.Is(err, errUnasked) {
		return fmt.Errorf("%w. Give --yes to skip the question", err)
	}
	if err != nil {
		return err
	}
	if a := strings.ToLower(answer); a != "y" && a != "yes" {
		return errDeclined
	}
	return nil
}

// confirm wants a name repeated: the one given, else one that is typed.
func (p *person) confirm(name, given, question string) error {
	typed := given
	if given == "" {
		var err error
		typed, err = p.ask(question)
		if errors.Is(err, errUnasked) {
			return fmt.Errorf("%w. Give the name with --confirm", err)
		}
		if err != nil {
			return err
		}
	}
	if typed != name {
		return fmt.Errorf("the name given is %q, and the cluster is %s; nothing was changed", typed, name)
	}
	return nil
}

// ask gives one line. An end without a line is nobody's answer.
func (p *person) ask(question string) (string, error) {
	if _, err := fmt.Fprint(p.err, question); err != nil {
		return "", fmt.Errorf("ask: %w", err)
	}
	line, err := p.in.ReadString('\n')
	if errors.Is(err, io.EOF) && line == "" {
		_, _ = fmt.Fprintln(p.err)
		return "", errUnasked
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return strings.TrimSpace(line), nil
}
