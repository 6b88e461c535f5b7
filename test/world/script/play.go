package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/quorate/quorate/test/cluster"
)

// Teller hears what happens while it happens.
type Teller interface {
	Section(number int, s Section)
	Happens(a Action)
	Types(s Step)
	Answers(s Step, r cluster.Result, problems []string)
}

// Player plays steps on a stage.
type Player struct {
	Stage   Stage
	Tellers []Teller
}

// Result counts steps.
type Result struct{ Steps, Wrong int }

// Play plays whole sections. An error means that it could not go on; a wrong
// answer is counted, and the rest is played all the same.
func (p *Player) Play(ctx context.Context, sections []Section) (Result, error) {
	var result Result
	for i, section := range sections {
		p.tell(func(t Teller) { t.Section(i+1, section) })
		for _, step := range section.Steps {
			problems, err := p.Step(ctx, step)
			if err != nil {
				return result, fmt.Errorf("%s, %s: %w", section.Title, step.Name, err)
			}
			result.Steps++
			if len(problems) > 0 {
				result.Wrong++
			}
		}
	}
	return result, nil
}

func (p *Player) tell(what func(Teller)) {
	for _, t := range p.Tellers {
		what(t)
	}
}

// Step plays one step and answers what is wrong with its answer.
func (p *Player) Step(ctx context.Context, s Step) ([]string, error) {
	for _, action := range s.Before {
		p.tell(func(t Teller) { t.Happens(action) })
		if err := action.Do(ctx, p.Stage); err != nil {
			return nil, fmt.Errorf("%s: %w", action, err)
		}
	}
	p.tell(func(t Teller) { t.Types(s) })
	answer, err := p.answer(ctx, s)
	if err != nil {
		return nil, err
	}
	problems := s.Want.Problems(answer)
	p.tell(func(t Teller) { t.Answers(s, answer, problems) })
	return problems, nil
}

// settleTime is how long a step that settles is repeated.
const settleTime = 10 * time.Second

// answer is the first one that is as it must be, or the last one.
func (p *Player) answer(ctx context.Context, s Step) (answer cluster.Result, err error) {
	if !s.Settles {
		return p.run(ctx, s)
	}
	bounded, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	err = cluster.Until(bounded, s.Name, func(context.Context) error {
		// The command itself is not cut short: its answer is shown.
		if answer, err = p.run(ctx, s); err != nil {
			return err
		}
		return asError(s.Want.Problems(answer))
	})
	if errors.Is(err, errWrong) {
		err = nil
	}
	return answer, err
}

// errWrong says that an answer is not what it must be.
var errWrong = errors.New("wrong answer")

func asError(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", errWrong, strings.Join(problems, "; "))
}

// errNotKubectl says that a script types something else.
var errNotKubectl = errors.New("a command must begin with kubectl")

func (p *Player) run(ctx context.Context, s Step) (cluster.Result, error) {
	args, err := words(s.Command)
	if err != nil {
		return cluster.Result{}, err
	}
	if len(args) == 0 || args[0] != "kubectl" {
		return cluster.Result{}, fmt.Errorf("%s: %w", s.Command, errNotKubectl)
	}
	return p.Stage.Kubectl(ctx, string(s.actor()), s.Input, args[1:]...)
}
