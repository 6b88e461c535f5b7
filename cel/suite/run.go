package suite

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"github.com/quorate/quorate/cel"
)

// Options say what a run does besides judging the cases.
type Options struct {
	// Only leaves out cases whose RULE/NAME it does not match; nil keeps all.
	Only     *regexp.Regexp
	Coverage bool
	Mutate   bool
	// Progress, if set, is told what is being done. It may be called by several
	// goroutines.
	Progress func(format string, args ...any)
}

// Run judges the cases of the targets. What is wrong with rules or cases is in
// the report; an error means that the context ended.
func Run(ctx context.Context, fsys fs.FS, targets []Target, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	report := &Report{Cases: []CaseResult{}}
	for _, target := range targets {
		r := runner{fsys: fsys, target: target, options: o, report: report}
		if err := r.run(ctx); err != nil {
			return nil, fmt.Errorf("judge %s: %w", target.Dir, err)
		}
	}
	if len(report.Cases) == 0 && len(report.Problems) == 0 {
		report.Problems = append(report.Problems, Problem{Kind: KindNoCase, Message: "no case was judged"})
	}
	report.summarize()
	return report, nil
}

// runner judges one folder.
type runner struct {
	fsys    fs.FS
	target  Target
	options Options
	report  *Report

	folder *Folder
	bench  *bench
}

func (r *runner) run(ctx context.Context) error {
	r.options.Progress("compile the rules of %s", r.target.Dir)
	var err error
	if r.folder, err = LoadFolder(r.fsys, r.target.Dir); err != nil {
		r.problems(r.target.Dir, err)
		return nil
	}
	if r.bench, err = newBench(r.folder); err != nil {
		r.problems(r.target.Dir, err)
		return nil
	}
	for _, p := range r.folder.Problems {
		if r.selected(p.At.File) {
			r.report.Problems = append(r.report.Problems, p)
		}
	}
	if r.options.Mutate {
		r.checkEquivalents()
	}
	for _, rule := range r.folder.Catalogue.Rules {
		if err := r.runRule(ctx, rule); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) selected(file string) bool {
	return r.target.Files == nil || slices.Contains(r.target.Files, file)
}

func (r *runner) problems(file string, err error) {
	for _, one := range flatten(err) {
		at, message := positionOf(one, Position{File: file})
		p := Problem{Kind: KindFile, At: at, Message: message}
		if !slices.Contains(r.report.Problems, p) { // defaults are in many cases
			r.report.Problems = append(r.report.Problems, p)
		}
	}
}

func (r *runner) runRule(ctx context.Context, rule *cel.Rule) error {
	files := r.filesOf(rule)
	if len(files) == 0 {
		return nil
	}
	k, err := r.folder.kind(rule.Resource)
	if err != nil {
		r.problems(rule.File, err)
		return nil
	}
	w, err := newWatcher(rule, r.bench.whole)
	if err != nil {
		r.problems(rule.File, fmt.Errorf("rule %s: %w", rule.ID, err))
		return nil
	}
	var trials []*trial
	for _, c := range cases(files) {
		if r.options.Only != nil && !r.options.Only.MatchString(rule.ID+"/"+c.Name) {
			continue
		}
		t, err := r.bench.prepare(rule, k, c)
		if err != nil {
			r.problems(c.At.File, err)
			continue
		}
		result, err := r.bench.judge(ctx, t, w)
		if err != nil {
			return err
		}
		r.report.Cases = append(r.report.Cases, result)
		trials = append(trials, t)
	}
	return r.measure(ctx, w, trials)
}

// filesOf gives the rule's case files that were asked for. A rule that has none
// at all is a problem wherever the whole folder was asked for.
func (r *runner) filesOf(rule *cel.Rule) []*File {
	var files []*File
	has := false
	for _, f := range r.folder.Files {
		if f.Rule == rule.ID {
			has = true
			if r.selected(f.Path) {
				files = append(files, f)
			}
		}
	}
	unreadable := slices.ContainsFunc(r.folder.Problems, func(p Problem) bool {
		return p.At.File == caseFileOf(rule.File)
	})
	if !has && !unreadable && r.target.Files == nil {
		r.report.Problems = append(r.report.Problems, Problem{
			Kind: KindNoCase, Rule: rule.ID, At: Position{File: rule.File, Line: 1, Column: 1},
			Message: fmt.Sprintf("rule %s has no case; add %s", rule.ID, caseFileOf(rule.File)),
		})
	}
	return files
}

func (r *runner) measure(ctx context.Context, w *watcher, trials []*trial) error {
	place := newPlacer(r.fsys, w.rule)
	if r.options.Coverage {
		r.report.Coverage = append(r.report.Coverage, w.coverage(place))
	}
	if !r.options.Mutate {
		return nil
	}
	r.options.Progress("mutate %s", w.rule.ID)
	mutation, err := r.bench.mutate(ctx, w, place, trials)
	if err != nil {
		return err
	}
	r.applyProofs(&mutation)
	r.report.Mutation = append(r.report.Mutation, mutation)
	return nil
}

func cases(files []*File) []*Case {
	var all []*Case
	for _, f := range files {
		all = append(all, f.Cases...)
	}
	return all
}
