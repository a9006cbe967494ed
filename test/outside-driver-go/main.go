// Serves MCM's driver of the simulated cloud (tools/go-mcm/mockcloud), which is unchanged, to Millwright. A driver of another cloud needs another import and another name.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"millwright/test/outside-driver-go/adapter"
	"millwright/tools/go-mcm/mockcloud"
)

func main() {
	socket := flag.String("socket", "driver.sock", "unix socket to listen on")
	namespace := flag.String("namespace", "", "namespace of the MachineClasses")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	options := adapter.Options{Name: "mock", Version: "go", Namespace: *namespace}
	if err := adapter.Listen(ctx, *socket, mockcloud.Driver{}, options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
