package mockcloud

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
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

const csiDriver = "mock.csi.millwright.dev"

// Driver implements MCM's driver contract with the simulated cloud. It holds no state.
type Driver struct{}

var _ driver.Driver = Driver{}

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

func cloudOf(secret *corev1.Secret) cloud {
	return cloud{string(secret.Data["endpoint"]), string(secret.Data["token"])}
}

// isOwn is true for the VM that spec.providerID names, which may have another UID, and before that is stored for the VM of this UID.
func isOwn(named vm, machine *v1alpha1.Machine) bool {
	if machine.Spec.ProviderID != "" {
		return machine.Spec.ProviderID == named.ProviderID
	}
	return named.Tags[tagMachineUID] == string(machine.UID)
}

// find returns the VM of a machine among those that count; code NotFound when there is none, OutOfRange when there are several.
func find(ctx context.Context, in cloud, class *v1alpha1.MachineClass, machine *v1alpha1.Machine, counts func(vm) bool) (vm, error) {
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
	var own []vm
	var ids []string
	for _, each := range named {
		if counts(each) && isOwn(each, machine) {
			own, ids = append(own, each), append(ids, each.ProviderID)
		}
	}
	switch len(own) {
	case 0:
		return vm{}, status.Error(codes.NotFound, fmt.Sprintf("machine %s has no VM", machine.Name))
	case 1:
		return own[0], nil
	default:
		return vm{}, status.Error(codes.OutOfRange, fmt.Sprintf("machine %s has several VMs: %s", machine.Name, strings.Join(ids, ", ")))
	}
}

func (Driver) CreateMachine(ctx context.Context, request *driver.CreateMachineRequest) (*driver.CreateMachineResponse, error) {
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

func (Driver) InitializeMachine(ctx context.Context, request *driver.InitializeMachineRequest) (*driver.InitializeMachineResponse, error) {
	in := cloudOf(request.Secret)
	found, err := find(ctx, in, request.MachineClass, request.Machine, vm.isLive)
	if err != nil {
		return nil, err
	}
	if err := in.tag(ctx, found.ID, map[string]string{tagInitialized: "true"}); err != nil {
		return nil, err
	}
	return &driver.InitializeMachineResponse{ProviderID: found.ProviderID, NodeName: found.NodeName}, nil
}

// DeleteMachine returns when the VM does not exist any more.
func (Driver) DeleteMachine(ctx context.Context, request *driver.DeleteMachineRequest) (*driver.DeleteMachineResponse, error) {
	in := cloudOf(request.Secret)
	for {
		found, err := find(ctx, in, request.MachineClass, request.Machine, vm.exists)
		if code, ok := status.FromError(err); ok && err != nil && code.Code() == codes.NotFound {
			return &driver.DeleteMachineResponse{}, isOfOther(ctx, in, request.Machine.Spec.ProviderID)
		}
		if err != nil {
			return nil, err
		}
		if err := in.delete(ctx, found.ID); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, status.Error(codes.DeadlineExceeded, fmt.Sprintf("VM %s is still being deleted", found.ID))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// isOfOther fails for a VM that exists and has not the tags of the machine.
func isOfOther(ctx context.Context, in cloud, providerID string) error {
	if providerID == "" {
		return nil
	}
	all, err := in.list(ctx, map[string]string{})
	if err != nil {
		return err
	}
	for _, each := range all {
		if each.ProviderID == providerID && each.isLive() {
			return status.Error(codes.PermissionDenied, fmt.Sprintf("VM %s is not that of the machine", providerID))
		}
	}
	return nil
}

func (Driver) GetMachineStatus(ctx context.Context, request *driver.GetMachineStatusRequest) (*driver.GetMachineStatusResponse, error) {
	found, err := find(ctx, cloudOf(request.Secret), request.MachineClass, request.Machine, vm.isLive)
	if err != nil {
		return nil, err
	}
	response := &driver.GetMachineStatusResponse{ProviderID: found.ProviderID, NodeName: found.NodeName}
	if found.Tags[tagInitialized] != "true" {
		return response, status.Error(codes.Uninitialized, fmt.Sprintf("VM %s is not initialized", found.ID))
	}
	return response, nil
}

func (Driver) ListMachines(ctx context.Context, request *driver.ListMachinesRequest) (*driver.ListMachinesResponse, error) {
	read, err := specOf(request.MachineClass)
	if err != nil {
		return nil, err
	}
	tags := clusterTags(read.Cluster)
	if request.MachineClass.Namespace != "" {
		tags[tagNamespace] = request.MachineClass.Namespace
	}
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

// GetVolumeIDs returns the handles of volumes of the cloud's CSI driver (providers/mock/src/driver.ts).
func (Driver) GetVolumeIDs(_ context.Context, request *driver.GetVolumeIDsRequest) (*driver.GetVolumeIDsResponse, error) {
	response := &driver.GetVolumeIDsResponse{}
	for _, volume := range request.PVSpecs {
		if volume.CSI != nil && volume.CSI.Driver == csiDriver {
			response.VolumeIDs = append(response.VolumeIDs, volume.CSI.VolumeHandle)
		}
	}
	return response, nil
}
