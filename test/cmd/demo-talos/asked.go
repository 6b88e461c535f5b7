package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quorate/quorate/test/talos"
)

// asked is a beat: exactly these calls that take a member out have reached the machines,
// each as "cp-3 EtcdLeaveCluster".
type asked struct {
	name string
	want []string
}

func (a asked) play(_ context.Context, s *show) (problems []string, _ error) {
	calls := slices.DeleteFunc(s.fleet.Talos.Calls(), func(c talos.Call) bool {
		return c.Method != "EtcdLeaveCluster" && c.Method != "EtcdRemoveMemberByID"
	})
	var got []string
	var text strings.Builder
	for _, c := range calls {
		got = append(got, c.Node+" "+c.Method)
		fmt.Fprintf(&text, "  %-6s %-20s member %x, answered after %s\n", c.Node, c.Method, c.MemberID, c.Ended.Sub(c.Began).Round(10*time.Millisecond))
	}
	if !slices.Equal(got, a.want) {
		problems = []string{fmt.Sprintf("they were asked %q", got)}
	}
	for _, t := range s.transcripts {
		t.Found("what the machines were asked that takes a member out", text.String(), a.name, strings.Join(a.want, ", "), problems)
	}
	return problems, nil
}
