// MCM's controller of MachineSets and MachineDeployments, as its own command builds it.
package main

import (
	"fmt"
	"os"

	"github.com/gardener/machine-controller-manager/cmd/machine-controller-manager/app"
	"github.com/gardener/machine-controller-manager/cmd/machine-controller-manager/app/options"
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
)

func main() {
	server := options.NewMCMServer()
	server.AddFlags(pflag.CommandLine)
	flag.InitFlags()
	logs.InitLogs()
	defer logs.FlushLogs()
	if err := app.Run(server); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
