package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	corev1 "k8s.io/api/core/v1"
)

// The tags of a VM are those of Millwright's driver, as a cloud's two drivers agree on them (providers/mock/src/owner-tags.ts).
const (
	tagManagedBy    = "millwright.dev/managed-by"
	tagCluster      = "millwright.dev/cluster"
	tagNamespace    = "millwright.dev/namespace"
	tagMachineName  = "millwright.dev/machine-name"
	tagMachineUID   = "millwright.dev/machine-uid"
	tagMachineClass = "millwright.dev/machine-class"
	tagToken        = "millwright.dev/token"
	tagSpecHash     = "millwright.dev/spec-hash"
	tagInitialized  = "millwright.dev/initialized"
)

// cloudDriver implements MCM's driver contract with the simulated cloud. It holds no state.
type cloudDriver struct{}

var _ driver.Driver = cloudDriver{}

// spec is the providerSpec with its defaults; encoded, its keys are in the order that the hash of a VM needs.
type spec struct {
	Cluster     string            `json:"cluster"`
	Image       string            `json:"image"`
	Labels      map[string]string `json:"labels"`
	MachineType string            `json:"machineType"`
	Region      string            `json:"region"`
	Zone        string            `json:"zone"`
}

func specOf(class *v1alpha1.MachineClass) (spec, error) {
	read := spec{Cluster: "default", Image: "simulated", Labels: map[string]string{}, Region: "local"}
	if err := json.Unmarshal(class.ProviderSpec.Raw, &read); err != nil {
		return spec{}, status.Error(codes.InvalidArgument, err.Error())
	}
	if read.Zone == "" {
		read.Zone = read.Region + "-a"
	}
	return read, nil
}

func (s spec) hash() string {
	text, _ := json.Marshal(s)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:16]
}

func clusterTags(cluster string) map[string]string {
	return map[string]string{tagManagedBy: "millwright", tagCluster: cluster}
}

func cloudOf(secret *corev1.Secret) cloud { return cloud{string(secret.Data["endpoint"])} }

// find returns the VM of a machine; code NotFound when there is none.
func find(ctx context.Context, in cloud, class *v1alpha1.MachineClass, machine *v1alpha1.Machine) (vm, error) {
	read, err := specOf(class)
	if err != nil {
		return vm{}, err
	}
	tags := clusterTags(read.Cluster)
	tags[tagNamespace], tags[tagMachineName] = machine.Namespace, machine.Name
	named, err := in.list(ctx, tags)
	if err != nil {
		return vm{}, err
	}
	for _, each := range named {
		if each.isLive() && (machine.Spec.ProviderID == "" || machine.Spec.ProviderID == each.ProviderID) {
			return each, nil
		}
	}
	return vm{}, status.Error(codes.NotFound, fmt.Sprintf("machine %s has no VM", machine.Name))
}

func (cloudDriver) CreateMachine(ctx context.Context, request *driver.CreateMachineRequest) (*driver.CreateMachineResponse, error) {
	in, machine := cloudOf(request.Secret), request.Machine
	read, err := specOf(request.MachineClass)
	if err != nil {
		return nil, err
	}
	token := string(machine.UID) + "-1"
	tags := clusterTags(read.Cluster)
	tags[tagNamespace], tags[tagMachineName], tags[tagMachineUID] = machine.Namespace, machine.Name, string(machine.UID)
	tags[tagMachineClass], tags[tagToken], tags[tagSpecHash] = request.MachineClass.Name, token, read.hash()
	created, err := in.create(ctx, map[string]any{
		"name": machine.Name, "token": token, "machineType": read.MachineType, "region": read.Region, "zone": read.Zone,
		"image": read.Image, "labels": read.Labels, "tags": tags,
		"userData": base64.StdEncoding.EncodeToString(request.Secret.Data["userData"]),
	})
	if err != nil {
		return nil, err
	}
	return &driver.CreateMachineResponse{ProviderID: created.ProviderID, NodeName: created.NodeName}, nil
}

func (cloudDriver) InitializeMachine(ctx context.Context, request *driver.InitializeMachineRequest) (*driver.InitializeMachineResponse, error) {
	in := cloudOf(request.Secret)
	found, err := find(ctx, in, request.MachineClass, request.Machine)
	if err != nil {
		return nil, err
	}
	if err := in.tag(ctx, found.ID, map[string]string{tagInitialized: "true"}); err != nil {
		return nil, err
	}
	return &driver.InitializeMachineResponse{ProviderID: found.ProviderID, NodeName: found.NodeName}, nil
}

// DeleteMachine returns when the VM does not exist any more.
func (cloudDriver) DeleteMachine(ctx context.Context, request *driver.DeleteMachineRequest) (*driver.DeleteMachineResponse, error) {
	in := cloudOf(request.Secret)
	for {
		found, err := find(ctx, in, request.MachineClass, request.Machine)
		if code, ok := status.FromError(err); ok && err != nil && code.Code() == codes.NotFound {
			return &driver.DeleteMachineResponse{}, nil
		}
		if err != nil {
			return nil, err
		}
		if err := in.delete(ctx, found.ID); err != nil {
			return nil, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (cloudDriver) GetMachineStatus(ctx context.Context, request *driver.GetMachineStatusRequest) (*driver.GetMachineStatusResponse, error) {
	found, err := find(ctx, cloudOf(request.Secret), request.MachineClass, request.Machine)
	if err != nil {
		return nil, err
	}
	response := &driver.GetMachineStatusResponse{ProviderID: found.ProviderID, NodeName: found.NodeName}
	if found.Tags[tagInitialized] != "true" {
		return response, status.Error(codes.Uninitialized, fmt.Sprintf("VM %s is not initialized", found.ID))
	}
	return response, nil
}

func (cloudDriver) ListMachines(ctx context.Context, request *driver.ListMachinesRequest) (*driver.ListMachinesResponse, error) {
	read, err := specOf(request.MachineClass)
	if err != nil {
		return nil, err
	}
	tags := clusterTags(read.Cluster)
	tags[tagNamespace] = request.MachineClass.Namespace
	all, err := cloudOf(request.Secret).list(ctx, tags)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, each := range all {
		if each.isLive() {
			names[each.ProviderID] = each.Tags[tagMachineName]
		}
	}
	return &driver.ListMachinesResponse{MachineList: names}, nil
}

func (cloudDriver) GetVolumeIDs(_ context.Context, _ *driver.GetVolumeIDsRequest) (*driver.GetVolumeIDsResponse, error) {
	return &driver.GetVolumeIDsResponse{}, nil
}
