package talos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Version is the node's Talos version, as "v1.13.9": the cheapest sign of life.
func (c *client) Version(ctx context.Context) (string, error) {
	return ask(ctx, c, c.timeouts.Read, "read the Talos version", func(ctx context.Context) (string, error) {
		answer, err := c.machine.Version(ctx, &emptypb.Empty{})
		if err != nil {
			return "", err
		}
		v, err := only(answer.GetMessages())
		return v.GetVersion().GetTag(), err
	})
}

// bootIDPath holds a random ID that the kernel makes at each boot (proc(5)).
const bootIDPath = "/proc/sys/kernel/random/boot_id"

// bootID is a whole one: Talos ends a file that it could not read on as if it were
// complete.
var bootID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n?$`)

// BootID changes with each boot. It needs Admin: Talos gives files to no other role,
// and no resource has it.
func (c *client) BootID(ctx context.Context) (string, error) {
	return ask(ctx, c, c.timeouts.Read, "read the boot ID", func(ctx context.Context) (string, error) {
		stream, err := c.machine.Read(ctx, &machine.ReadRequest{Path: bootIDPath})
		if err != nil {
			return "", err
		}
		id, err := drain(stream)
		if err != nil {
			return "", err
		}
		if !bootID.MatchString(id) {
			return "", fmt.Errorf("%q is no boot ID", id)
		}
		return strings.TrimSpace(id), nil
	})
}

func drain(stream machine.MachineService_ReadClient) (string, error) {
	var all strings.Builder
	for {
		data, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return all.String(), nil
		}
		if err != nil {
			return "", err
		}
		all.Write(data.GetBytes())
	}
}
