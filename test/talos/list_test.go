package talos

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/meta"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
)

// listing is what List says of a path, each by its relative name.
func listing(t *testing.T, n *Node, in *machine.ListRequest) ([]*machine.FileInfo, error) {
	t.Helper()
	stream, err := as(t, n, role.Reader).LS(within(t, 10*time.Second), in)
	must(t, err)
	var out []*machine.FileInfo
	for {
		info, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, info)
	}
}

// TestList: a folder and what is in it, as deep as is asked, of the kinds that are asked
// for.
func TestList(t *testing.T) {
	n := shared.Node("worker-1")
	folder := n.DiskPath("EPHEMERAL", "lib", "listed")
	must(t, os.MkdirAll(folder+"/a/b", 0o700))
	t.Cleanup(func() { must(t, os.RemoveAll(folder)) })
	must(t, os.WriteFile(folder+"/a/b/file", []byte("12345"), 0o600))
	for _, c := range []struct {
		name string
		in   *machine.ListRequest
		want string
	}{
		{"itself and its entries", &machine.ListRequest{Root: "/var/lib/listed"}, ". a"},
		{"no slash in front, one behind", &machine.ListRequest{Root: "var/lib/listed/"}, ". a"},
		{"everything below", &machine.ListRequest{Root: "/var/lib/listed", Recurse: true}, ". a a/b a/b/file"},
		{"two levels", &machine.ListRequest{Root: "/var/lib/listed", Recurse: true, RecursionDepth: 2}, ". a a/b"},
		{"files alone", &machine.ListRequest{Root: "/var/lib/listed", Recurse: true, Types: []machine.ListRequest_Type{machine.ListRequest_REGULAR}}, "a/b/file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := listing(t, n, c.in)
			must(t, err)
			var names []string
			for _, info := range found {
				names = append(names, info.RelativeName)
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("it lists %q, want %q", got, c.want)
			}
		})
	}
	found, err := listing(t, n, &machine.ListRequest{Root: "/var/lib/listed/a/b/file"})
	must(t, err)
	if len(found) != 1 || found[0].Name != "/var/lib/listed/a/b/file" || found[0].Size != 5 || found[0].IsDir {
		t.Errorf("the file is %v", found)
	}
	_, err = listing(t, n, &machine.ListRequest{Root: "/var/lib/none"})
	answers(t, err, codes.Unknown, "lstat /var/lib/none: no such file or directory")
	_, err = listing(t, n, &machine.ListRequest{Root: "/usr"})
	answers(t, err, codes.Unknown, "lstat /usr: no such file or directory")
}

// TestMeta: a value is a resource, outlives a wipe of EPHEMERAL, and is deleted once.
func TestMeta(t *testing.T) {
	n := shared.Node("worker-1")
	ctx := within(t, time.Minute)
	must(t, admin(t, n).MetaWrite(ctx, meta.UserReserved1, []byte("a value")))
	must(t, as(t, n, role.MetaWriter).MetaWrite(ctx, meta.UserReserved2, []byte("another")))
	answers(t, as(t, n, role.Operator).MetaWrite(ctx, meta.UserReserved1, nil), codes.PermissionDenied, "not authorized")
	must(t, resetEphemeral(t, n, false))
	list, err := safe.StateListAll[*runtime.MetaKey](ctx, as(t, n, role.Reader).COSI)
	must(t, err)
	var got []string
	for key := range list.All() {
		got = append(got, key.Metadata().ID()+"="+key.TypedSpec().Value)
	}
	slices.Sort(got)
	if want := []string{"0x0c=a value", "0x0d=another"}; !slices.Equal(got, want) {
		t.Errorf("META has %q, want %q", got, want)
	}
	must(t, admin(t, n).MetaDelete(ctx, meta.UserReserved1))
	must(t, admin(t, n).MetaDelete(ctx, meta.UserReserved2))
	answers(t, admin(t, n).MetaDelete(ctx, meta.UserReserved1), codes.NotFound, "meta key not found")
	_, err = safe.StateGetByID[*runtime.MetaKey](ctx, admin(t, n).COSI, "0x0c")
	if !state.IsNotFoundError(err) {
		t.Errorf("a key that was deleted: %v", err)
	}
	_, err = admin(t, n).MachineClient.MetaWrite(ctx, &machine.MetaWriteRequest{Key: 256})
	answers(t, err, codes.InvalidArgument, "key must be a uint8")
}
