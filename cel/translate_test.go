package cel

import "testing"

func TestRename(t *testing.T) {
	for _, c := range []struct{ name, expression, want string }{
		{"both", "self.a > oldSelf.a", "NEW.a > OLD.a"},
		{"alone", "self", "NEW"},
		{"none", "1 < 2", "1 < 2"},
		{"has", "has(self.x) && has(oldSelf.y.z)", "has(NEW.x) && has(OLD.y.z)"},
		{"optional", "self.?x.orValue(oldSelf.?y) == [?self.?z]", "NEW.?x.orValue(OLD.?y) == [?NEW.?z]"},
		{"fields of that name", "self.self.oldSelf == oldSelf.`self`", "NEW.self.oldSelf == OLD.`self`"},
		{"method of that name's field", "item.self.size() == 0", "item.self.size() == 0"},
		{"index", "self[self.i] == {'self': oldSelf, self: 1}", "NEW[NEW.i] == {'self': OLD, NEW: 1}"},
		{"operators", "-self.x < 0 && !oldSelf.b ? self.c : oldSelf.d", "-NEW.x < 0 && !OLD.b ? NEW.c : OLD.d"},
		{"texts", `self.a == "self" + 'oldSelf' + r'self.b' + """self""" && b'self' == b"oldSelf"`,
			`NEW.a == "self" + 'oldSelf' + r'self.b' + """self""" && b'self' == b"oldSelf"`},
		{"characters of several bytes", "self.a == 'é😀self' && 'ß' in oldSelf.b", "NEW.a == 'é😀self' && 'ß' in OLD.b"},
		{"comments and layout", "// self and oldSelf: é\nself.a\n  >  oldSelf.a // self\n", "// self and oldSelf: é\nNEW.a\n  >  OLD.a // self\n"},
		{"names that begin alike", "selfish == self.x && oldSelfie == oldSelf", "selfish == NEW.x && oldSelfie == OLD"},
		{"macro binds self", "self.l.exists(self, self == oldSelf.x)", "NEW.l.exists(self, self == OLD.x)"},
		{"macro binds oldSelf", "self.l.all(oldSelf, oldSelf.x == self.x)", "NEW.l.all(oldSelf, oldSelf.x == NEW.x)"},
		{"range of a macro that binds self", "self.all(self, self.all(self, self > 0))", "NEW.all(self, self.all(self, self > 0))"},
		{"free again behind the macro", "self.l.exists(self, self == 1) && self.m", "NEW.l.exists(self, self == 1) && NEW.m"},
		{"two variables", "self.m.exists(k, self, k == self && k == oldSelf)", "NEW.m.exists(k, self, k == self && k == OLD)"},
		{"nested macros", "self.l.all(i, oldSelf.l.exists(j, i == j && self.x == j))", "NEW.l.all(i, OLD.l.exists(j, i == j && NEW.x == j))"},
		{"filter and map", "self.l.map(self, self > 1, self * 2).filter(x, x in oldSelf.l)", "NEW.l.map(self, self > 1, self * 2).filter(x, x in OLD.l)"},
		{"macro that repeats its target", "self.?x.optMap(v, v + self.y).orValue(oldSelf.z)", "NEW.?x.optMap(v, v + NEW.y).orValue(OLD.z)"},
		{"optMap binds self", "self.?x.optMap(self, self + 1).orValue(self.y)", "NEW.?x.optMap(self, self + 1).orValue(NEW.y)"},
		{"sortBy", "self.l.sortBy(x, x.self)[0] == self.l[0]", "NEW.l.sortBy(x, x.self)[0] == NEW.l[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := rename(c.expression, "NEW", "OLD")
			if err != nil || got != c.want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestRenameRefusesWhatWouldChangeTheMeaning(t *testing.T) {
	for _, c := range []struct{ name, expression, want string }{
		{"captured", "self.l.exists(object, object == self.x)",
			"translate expression: self at character 33 stands where object is bound by a macro; give that variable another name"},
		{"captured by the variables", "self.l.exists(variables, oldSelf.x)",
			"translate expression: oldSelf at character 26 stands where variables is bound by a macro; give that variable another name"},
		{"leading dot", "self.a == .oldSelf.a",
			"translate expression: write oldSelf at character 12 without its leading dot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := rename(c.expression, "object", "variables.oldSpec")
			wantText(t, errorText(err), c.want)
			wantText(t, got, "")
		})
	}
	if _, err := rename("self.", "object", "oldObject"); err == nil {
		t.Error("an expression that cannot be parsed was translated")
	}
}

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		expression string
		any, free  bool
	}{
		{"oldSelf.a", true, true},
		{"self.l.all(oldSelf, oldSelf > 1)", true, false},
		{"self.oldSelf == 'oldSelf' // oldSelf", false, false},
	} {
		all, err := uses(c.expression)
		if err != nil {
			t.Fatal(err)
		}
		if mentions(all, oldSelfVar) != c.any || mentionsFree(all, oldSelfVar) != c.free {
			t.Errorf("%s: mentioned %v, free %v", c.expression, mentions(all, oldSelfVar), mentionsFree(all, oldSelfVar))
		}
	}
}
