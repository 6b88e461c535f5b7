package checklist

import (
	"os"
	"slices"
	"strings"
	"testing"
)

const parts = "- **the gate**: admission\n- **etcd membership**: the controller\n"

func TestParse(t *testing.T) {
	got, faults := Parse("list.md", parts+`
## A. Heading

- **A-1** Here already.
- **A-2** Comes
  in two lines. *(later: etcd membership)*

- **A-3** Half of it.
  *(rest later: the gate)*
Prose between the lines.
- **B-1** Another letter.
`)
	want := []Behaviour{
		{ID: "A-1", Text: "Here already.", Line: 6},
		{ID: "A-2", Text: "Comes in two lines.", Later: "etcd membership", Line: 7},
		{ID: "A-3", Text: "Half of it.", Later: "the gate", Partly: true, Line: 10},
		{ID: "B-1", Text: "Another letter.", Line: 13},
	}
	if !slices.Equal(got, want) || len(faults) > 0 {
		t.Errorf("got %+v, faults %v", got, faults)
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ label, text, want string }{
		{"nothing listed", parts, "list.md:1: no behaviour found: a line looks like `- **A-1** text`"},
		{"an id twice", parts + "- **A-1** x\n- **A-1** y", "list.md:4: A-1 stands where A-2 is due"},
		{"an id lost", parts + "- **A-1** x\n- **A-3** y", "list.md:4: A-3 stands where A-2 is due"},
		{"a letter that begins late", parts + "- **B-2** x", "list.md:3: B-2 stands where B-1 is due"},
		{"a part nobody named", parts + "- **A-1** x *(later: some day)*", `list.md:3: A-1 is marked with "some day", which is none of the parts listed above`},
		{"an empty mark", parts + "- **A-1** x *(rest later: )*", "list.md:3: A-1 has a mark that cannot be read: write *(later: part)* or *(rest later: part)* at its end"},
		{"a mark in the middle", parts + "- **A-1** x *(later: the gate)* y", "list.md:3: A-1 has a mark that cannot be read: write *(later: part)* or *(rest later: part)* at its end"},
		{"a mark without brackets", parts + "- **A-1** x later: the gate", "list.md:3: A-1 has a mark that cannot be read: write *(later: part)* or *(rest later: part)* at its end"},
		{"an id with a zero", parts + "- **A-1** x\n- **A-02** y", `list.md:4: "A-02" is no id: a letter, a dash and a number`},
		{"a line without an id", parts + "- **A-1** x\n- something", "list.md:4: a line that is neither a behaviour (`- **A-1** text`) nor a part (`- **name**: text`)"},
	} {
		t.Run(c.label, func(t *testing.T) {
			_, faults := Parse("list.md", c.text)
			if len(faults) != 1 || faults[0].String() != c.want {
				t.Errorf("got %v, want only %s", faults, c.want)
			}
		})
	}
}

// The list itself: whole, and with the lines that this release answers for.
func TestTheListOfBehaviours(t *testing.T) {
	data, err := os.ReadFile("../../docs/behaviours.md")
	if err != nil {
		t.Fatal(err)
	}
	list, faults := Parse("docs/behaviours.md", string(data))
	for _, f := range faults {
		t.Error(f)
	}
	count := map[string]int{}
	var now, partly []string
	for _, b := range list {
		count[b.ID[:1]]++
		switch {
		case b.Later == "":
			now = append(now, b.ID)
		case b.Partly:
			partly = append(partly, b.ID)
		}
	}
	if count["A"] != 36 || count["B"] != 17 || count["C"] != 43 {
		t.Errorf("got %v lines, want A 36, B 17, C 43", count)
	}
	if got, want := strings.Join(now, " "), allOfA+" "+allOfB+" "+mostOfC; got != want {
		t.Errorf("without a mark are %s, want %s", got, want)
	}
	if got, want := strings.Join(partly, " "), ""; got != want {
		t.Errorf("in part are %s, want %s", got, want)
	}
}

// allOfA is part A but for its snapshots.
const allOfA = "A-1 A-2 A-3 A-4 A-5 A-6 A-7 A-8 A-9 A-10 A-11 A-12 A-13 A-14 A-15 A-16 A-17 A-18 A-19 A-20 A-21 A-22 A-23 A-24 A-25 A-26 A-27 A-28 A-29 A-30 A-31 A-32 A-33 A-34 A-35"

// allOfB is the deletion of a Talos machine.
const allOfB = "B-1 B-2 B-3 B-4 B-5 B-6 B-7 B-8 B-9 B-10 B-11 B-12 B-13 B-14 B-15 B-16 B-17"

// mostOfC is the live restore.
const mostOfC = "C-1 C-2 C-3 C-4 C-5 C-6 C-7 C-8 C-9 C-10 C-11 C-12 C-13 C-14 C-15 C-16 C-17 C-18 C-19 C-20 C-21 C-22 C-23 C-24 C-25 C-26 C-27 C-28 C-29 C-30 C-31 C-32 C-33 C-34 C-35 C-36 C-37 C-38 C-39 C-40 C-41 C-42"
