// Package app takes the place of MCM's package of the same name in the program of a driver: its main function, which is not changed, then serves the driver to
// Millwright, where it would run MCM's machine controller.
package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/app/options"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/spf13/pflag"

	"github.com/millwright-dev/millwright/drivers/go/adapter"
)

// The main function of a driver parses them, together with those of MCM. Of these --namespace counts, and the flags of logs. A container has them in its environment.
var (
	socket   = pflag.String("socket", fromEnv("MILLWRIGHT_DRIVER_SOCKET", "driver.sock"), "unix socket to listen on")
	provider = pflag.String("provider", fromEnv("MILLWRIGHT_DRIVER_PROVIDER", ""), "provider of the MachineClasses, spelled as the driver expects it, such as AWS")
)

func fromEnv(name, absent string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return absent
}

// Run serves a driver until the process is asked to end. It has the signature of Run in pkg/util/provider/app of MCM.
func Run(mcm *options.MCServer, driver driver.Driver) error {
	if *provider == "" {
		return errors.New("--provider: expected the provider of the MachineClasses, spelled as the driver expects it, such as AWS")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	namespace := mcm.Namespace
	if namespace == "" {
		namespace = os.Getenv("MILLWRIGHT_DRIVER_NAMESPACE")
	}
	return adapter.Listen(ctx, *socket, driver, adapter.Options{Name: *provider, Version: version(), Namespace: namespace})
}

// version is that of the module of the main package.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range info.Deps {
		if strings.HasPrefix(info.Path, module.Path+"/") {
			return module.Version
		}
	}
	return info.Main.Version
}
