package cel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SourceError is a problem at a place of a file. Line and Column count from 1;
// both are 0 where the problem concerns the file as a whole.
type SourceError struct {
	File         string
	Line, Column int
	Problem      string
}

// Error prints FILE:LINE:COLUMN: PROBLEM, the form that editors jump to.
func (e *SourceError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Problem
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
}

// DecodeStrict decodes a file of exactly one YAML document into out, a pointer
// to a type with json tags. Unknown and repeated fields, values of the wrong
// type, and empty or further documents are errors. Every problem is a
// *SourceError; all of them are joined. A value of type any gets what JSON would
// give it, with integers as int64.
func DecodeStrict(file string, data []byte, out any) error {
	doc, err := singleDocument(file, data)
	if err != nil {
		return err
	}
	d := &strictDecoder{file: file}
	d.decode(doc, reflect.ValueOf(out).Elem(), "")
	return errors.Join(d.problems...)
}

func singleDocument(file string, data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	switch err := dec.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, &SourceError{File: file, Line: 1, Column: 1, Problem: "the file is empty"}
	case err != nil:
		return nil, syntaxError(file, data, err)
	}
	root := first.Content[0]
	if root.ShortTag() == "!!null" {
		return nil, &SourceError{File: file, Line: root.Line, Column: root.Column, Problem: "the document is empty"}
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return root, nil
	case err != nil:
		return nil, syntaxError(file, data, err)
	}
	return nil, &SourceError{File: file, Line: second.Content[0].Line, Column: second.Content[0].Column,
		Problem: "a second document; one file holds one"}
}

// The YAML library gives a syntax error's line in its text alone, and no line for
// the first one; the column is where that line's text begins.
var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func syntaxError(file string, data []byte, err error) error {
	text := err.Error()
	match := syntaxLine.FindStringSubmatch(text)
	line := 1
	if len(match) == 2 && match[1] != "" {
		line, _ = strconv.Atoi(match[1])
	}
	if match != nil {
		text = text[len(match[0]):]
	}
	column := 1
	if lines := strings.Split(string(data), "\n"); line <= len(lines) {
		column += len(lines[line-1]) - len(strings.TrimLeft(lines[line-1], " \t"))
	}
	return &SourceError{File: file, Line: line, Column: column, Problem: text}
}

type strictDecoder struct {
	file     string
	problems []error
}

func (d *strictDecoder) problem(n *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, &SourceError{
		File: d.file, Line: n.Line, Column: n.Column, Problem: fmt.Sprintf(format, args...),
	})
}

// decode stores n in v; at names the place within the document, for messages.
func (d *strictDecoder) decode(n *yaml.Node, v reflect.Value, at string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch v.Kind() {
	case reflect.Pointer:
		if n.ShortTag() == "!!null" {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		d.decode(n, v.Elem(), at)
	case reflect.Struct:
		d.decodeStruct(n, v, at)
	case reflect.Map:
		d.decodeMap(n, v, at)
	case reflect.Slice:
		d.decodeSlice(n, v, at)
	case reflect.Interface:
		if value := d.jsonValue(n, at); value != nil {
			v.Set(reflect.ValueOf(value))
		}
	default:
		d.decodeScalar(n, v, at)
	}
}

func (d *strictDecoder) decodeStruct(n *yaml.Node, v reflect.Value, at string) {
	fields := fieldsByTag(v.Type())
	d.eachField(n, at, func(key, value *yaml.Node) {
		index, ok := fields[key.Value]
		if !ok {
			d.problem(key, "unknown field %q", join(at, key.Value))
			return
		}
		d.decode(value, v.FieldByIndex(index), join(at, key.Value))
	})
}

func (d *strictDecoder) decodeMap(n *yaml.Node, v reflect.Value, at string) {
	v.Set(reflect.MakeMap(v.Type()))
	d.eachField(n, at, func(key, value *yaml.Node) {
		elem := reflect.New(v.Type().Elem()).Elem()
		d.decode(value, elem, join(at, key.Value))
		v.SetMapIndex(reflect.ValueOf(key.Value).Convert(v.Type().Key()), elem)
	})
}

func (d *strictDecoder) decodeSlice(n *yaml.Node, v reflect.Value, at string) {
	if n.Kind != yaml.SequenceNode {
		d.problem(n, "%s: want a list, got %s", at, kindOf(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.decode(item, v.Index(i), fmt.Sprintf("%s[%d]", at, i))
	}
}

// eachField calls visit for each pair of a mapping whose key is a string that
// was not there before.
func (d *strictDecoder) eachField(n *yaml.Node, at string, visit func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.problem(n, "%s: want a mapping, got %s", orDocument(at), kindOf(n))
		return
	}
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
			d.problem(key, "%s: a field's name must be a string", orDocument(at))
		case seen[key.Value]:
			d.problem(key, "field %q is there twice", join(at, key.Value))
		default:
			seen[key.Value] = true
			visit(key, n.Content[i+1])
		}
	}
}
