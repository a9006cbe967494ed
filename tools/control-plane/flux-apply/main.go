// Applies the objects of its standard input as the controllers of Flux do, with their library, and prints what happened to each: "created", "configured" or "unchanged".
//
//	flux-apply KUBECONFIG < objects.yaml
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func run(kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	cluster, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	objects, err := utils.ReadObjects(os.Stdin)
	if err != nil {
		return err
	}
	owner := ssa.Owner{Field: "flux", Group: "test.millwright.dev"}
	manager := ssa.NewResourceManager(cluster, nil, owner)
	changes, err := manager.ApplyAll(context.Background(), objects, ssa.DefaultApplyOptions())
	if err != nil {
		return err
	}
	for _, entry := range changes.Entries {
		fmt.Println(entry.Action, entry.Subject)
	}
	return nil
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
