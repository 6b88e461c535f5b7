package talos

import (
	"context"
	"net"
	"path"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	cosiserver "github.com/cosi-project/runtime/pkg/state/protobuf/server"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// api is the machine API of one boot. What it lacks answers Unimplemented.
type api struct {
	machine.UnimplementedMachineServiceServer
	boot *boot
}

// goodbye is how long calls under way may take at the end of a boot: enough for the
// answer to the call that asked for it.
const goodbye = time.Second

// serveAPI is the service apid. The port is open from the first moment of a boot.
func (b *boot) serveAPI(listener net.Listener) (runner, error) {
	config, err := b.node.cluster.authority.apiTLS(b.node.Name, b.node.IP, b.node.validity()...)
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	b.node.identity.over(config)
	b.node.byClock(config)
	f := b.node.faults
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)),
		grpc.ChainUnaryInterceptor(b.recordUnary, authorizeUnary, b.faultUnary),
		grpc.ChainStreamInterceptor(b.recordStream, authorizeStream, b.faultStream))
	machine.RegisterMachineServiceServer(server, &api{boot: b})
	v1alpha1.RegisterStateServer(server, cosiserver.NewState(readOnly(b.resources)))
	return func(ctx context.Context, s *service) error {
		served := make(chan error, 1)
		go func() { served <- server.Serve(f.gate.listen(listener)) }()
		s.set(stateRunning, "Started task apid")
		s.setHealth(true, "Health check successful")
		select {
		case err := <-served:
			return err
		case <-b.ctx.Done(): // a crash: nobody gets an answer any more
			f.gate.hangUp()
			server.Stop()
		case <-ctx.Done():
			farewell(b.ctx, server, f.gate)
		}
		return nil
	}, nil
}

// farewell takes no more calls, and cuts those off that take too long.
func farewell(ctx context.Context, server *grpc.Server, g *gate) {
	done := make(chan struct{})
	go func() { server.GracefulStop(); close(done) }()
	ctx, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		g.hangUp()
		server.Stop()
		<-done
	}
}

// onControlPlane is the error of a call that a worker does not have.
func (a *api) onControlPlane(what string) error {
	if a.boot.node.worker {
		return status.Errorf(codes.Unimplemented, "%s is only available on control plane nodes", what)
	}
	return nil
}

// callName is a method without its service, such as EtcdLeaveCluster.
func callName(fullMethod string) string { return path.Base(fullMethod) }
