package adapter

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/millwright-dev/millwright/drivers/go/driverv1"
)

const (
	maxRequest  = 16 << 20
	maxResponse = 64 << 20
)

// Listen serves a driver on a unix socket, which only its own user may open, until the context ends. Calls that run are completed.
func Listen(ctx context.Context, path string, driver driver.Driver, options Options) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxRequest), grpc.MaxSendMsgSize(maxResponse), grpc.UnaryInterceptor(recovered))
	driverv1.RegisterDriverServer(server, New(driver, options))
	stop := context.AfterFunc(ctx, server.GracefulStop)
	defer stop()
	return server.Serve(listener)
}

// recovered turns a panic into a call whose outcome is unknown. Other calls continue.
func recovered(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (response any, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Fprintf(os.Stderr, "%s: panic: %v\n", info.FullMethod, reason)
			err = status.Errorf(codes.Internal, "%s: panic of the driver, see its log", info.FullMethod)
		}
	}()
	return handle(ctx, request)
}
