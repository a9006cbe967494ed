// Compares the objects of its standard input with those of a cluster as Argo CD does, with its library, and prints those that it would show as out of sync.
//
//	argo-diff KUBECONFIG < objects.yaml
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

func run(kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	cluster, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	objects, err := kube.SplitYAML(text)
	if err != nil {
		return err
	}
	for _, object := range objects {
		kind := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return err
		}
		var client dynamic.ResourceInterface = cluster.Resource(mapping.Resource)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
			client = cluster.Resource(mapping.Resource).Namespace(object.GetNamespace())
		}
		live, err := client.Get(context.Background(), object.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		result, err := diff.Diff(object, live)
		if err != nil {
			return err
		}
		if result.Modified {
			fmt.Printf("%s %s\n", kind.Kind, object.GetName())
		}
	}
	return nil
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
