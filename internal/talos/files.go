package talos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// HasEtcdData tells whether there is a member's data on the node, whatever it is good
// for: not that of a healthy member, nor that it was recovered. A node that has not
// mounted its disk yet is ErrNotReady. Where etcd has a partition of its own, that is
// mounted once its service starts, and before then the answer is false.
func (r *Restorer) HasEtcdData(ctx context.Context) (bool, error) {
	const doing = "look for etcd's data"
	_, has, err := r.find(ctx, doing, path.Join(constants.EtcdDataPath, "member"))
	if has || err != nil {
		return has, err
	}
	lib := path.Dir(constants.EtcdDataPath)
	_, mounted, err := r.find(ctx, doing, lib)
	if err == nil && !mounted {
		err = r.explain(doing, ErrNotReady, fmt.Errorf("there is no %s yet", lib))
	}
	return false, err
}

// find is what there is at a path of the node; false if nothing is.
func (r *Restorer) find(ctx context.Context, doing, at string) (info *machine.FileInfo, found bool, err error) {
	info, err = ask(ctx, r.client, r.timeouts.Read, doing, func(ctx context.Context) (*machine.FileInfo, error) {
		return r.first(ctx, at)
	})
	return info, info != nil, err
}

// first is the path itself, which Talos lists before what is in it; nil if it is not
// there.
func (r *Restorer) first(ctx context.Context, at string) (*machine.FileInfo, error) {
	stream, err := r.machine.List(ctx, &machine.ListRequest{Root: at})
	if err != nil {
		return nil, err
	}
	info, err := stream.Recv()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errEmpty
	case err != nil && missing(status.Code(err), status.Convert(err).Message(), at):
		return nil, nil
	case err != nil:
		return nil, err
	case missing(codes.Unknown, info.GetError(), at):
		return nil, nil
	case info.GetError() != "":
		return nil, errors.New(info.GetError())
	}
	return info, nil
}

// missing is the one place where a text of the server decides: Talos tells of a path
// that is not there by the text of the system call's error alone.
func missing(code codes.Code, text, at string) bool {
	return code == codes.Unknown && strings.HasSuffix(text, " "+at+": no such file or directory")
}
