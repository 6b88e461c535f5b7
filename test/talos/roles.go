package talos

import (
	"context"
	"path"

	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// errNotAuthorized is the answer to a role that may not make a call.
var errNotAuthorized = status.Error(codes.PermissionDenied, "not authorized")

var (
	readers   = role.MakeSet(role.Admin, role.Operator, role.Reader)
	operators = role.MakeSet(role.Admin, role.Operator)
	backups   = role.MakeSet(role.Admin, role.Operator, role.Reader, role.EtcdBackup)
)

// rolesOf says who may make a call, by its name without the service. What is not
// here is for administrators alone, as in Talos (services/machined.go).
var rolesOf = map[string]role.Set{
	"EtcdAlarmDisarm": operators, "EtcdDefragment": operators,
	"EtcdAlarmList": backups, "EtcdMemberList": backups, "EtcdStatus": backups,
	"EtcdSnapshot": role.MakeSet(role.Admin, role.Operator, role.EtcdBackup),
	"Events":       readers, "Hostname": readers, "List": readers, "ServiceList": readers, "Version": readers,
	"Reboot": operators, "ServiceRestart": operators, "ServiceStart": operators, "ServiceStop": operators, "Shutdown": operators,
	"MetaWrite": role.MakeSet(role.Admin, role.MetaWriter), "MetaDelete": role.MakeSet(role.Admin, role.MetaWriter),
	"Get": readers, "Watch": readers, // of COSI, as is the other List
}

// mayCall decides whether the roles of a certificate allow a call.
func mayCall(method string, has role.Set) bool {
	allowed, ok := rolesOf[path.Base(method)]
	if !ok {
		allowed = role.MakeSet(role.Admin)
	}
	return allowed.IncludesAny(has)
}

// authorize reads the roles from the Organization of the client's certificate.
func authorize(ctx context.Context, method string) error {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return errNotAuthorized
	}
	info, ok := from.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.PeerCertificates) == 0 {
		return errNotAuthorized
	}
	has, _ := role.Parse(info.State.PeerCertificates[0].Subject.Organization)
	if !mayCall(method, has) {
		return errNotAuthorized
	}
	return nil
}

func authorizeUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := authorize(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func authorizeStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := authorize(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return handler(srv, stream)
}
