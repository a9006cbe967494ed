// Package adapter serves a driver of MCM with Millwright's driver contract over gRPC, so that the driver works with Millwright unchanged.
package adapter

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/driver"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/millwright-dev/millwright/drivers/go/driverv1"
)

// Options is what a driver of MCM does not know of itself.
type Options struct {
	// Name is the provider of its MachineClasses, spelled as the driver expects it, such as AWS.
	Name string
	// Version is for logs.
	Version string
	// Namespace is that of the classes in calls without a machine, as --namespace of MCM.
	Namespace string
}

// server translates each call: into the request of MCM, and its response or error back.
type server struct {
	driverv1.UnimplementedDriverServer
	driver  driver.Driver
	options Options
	turns   turns
}

// New returns the server of a driver, for driverv1.RegisterDriverServer.
func New(driver driver.Driver, options Options) driverv1.DriverServer {
	return &server{driver: driver, options: options}
}

func (s *server) Handshake(context.Context, *driverv1.HandshakeRequest) (*driverv1.HandshakeResponse, error) {
	return &driverv1.HandshakeResponse{
		Name: s.options.Name, Version: s.options.Version, MinContractVersion: 1, MaxContractVersion: 1,
		// A driver may answer Unimplemented nevertheless, as in MCM.
		Capabilities: &driverv1.Capabilities{ListMachines: true, InitializeMachine: true, VolumeIds: true},
		NodeMatch:    &driverv1.NodeMatch{Rule: driverv1.NodeMatch_RULE_NAMES},
	}, nil
}

// begin waits for the turn of a call that changes something, and makes no call that was canceled meanwhile.
func (s *server) begin(call context.Context, machine *driverv1.Machine) (context.Context, func(), error) {
	endTurn := s.turns.take(machine)
	if call.Err() != nil {
		endTurn()
		return nil, nil, call.Err()
	}
	ctx, cancel := lasting(call)
	return ctx, func() { cancel(); endTurn() }, nil
}

// CreateMachine looks for the VM first: the contract allows to repeat a creation, and MCM's drivers would create a second VM.
func (s *server) CreateMachine(ctx context.Context, in *driverv1.CreateMachineRequest) (*driverv1.CreateMachineResponse, error) {
	ctx, end, err := s.begin(ctx, in.GetMachine())
	if err != nil {
		return nil, err
	}
	defer end()
	machine, class, secret, err := s.read(in)
	if err != nil {
		return &driverv1.CreateMachineResponse{Error: errorOf(err, "")}, nil
	}
	found, err := s.driver.GetMachineStatus(ctx, &driver.GetMachineStatusRequest{Machine: machine, MachineClass: class, Secret: secret})
	if found != nil && found.ProviderID != "" && (err == nil || hasCode(err, codes.Uninitialized)) {
		return &driverv1.CreateMachineResponse{ProviderId: found.ProviderID, NodeName: nodeName(found.NodeName, machine), Addresses: addresses(found.Addresses)}, nil
	}
	if !hasCode(err, codes.NotFound) && !hasCode(err, codes.Unimplemented) {
		return &driverv1.CreateMachineResponse{Error: errorOf(err, "")}, nil
	}
	secret.Data["userData"] = in.GetUserData()
	out, err := s.driver.CreateMachine(ctx, &driver.CreateMachineRequest{Machine: machine, MachineClass: class, Secret: secret})
	if out == nil {
		out = &driver.CreateMachineResponse{}
	}
	if err == nil && out.ProviderID == "" {
		err = status.Error(codes.Unknown, "driver returned no provider id")
	}
	if err != nil {
		return &driverv1.CreateMachineResponse{Error: errorOf(err, out.LastKnownState)}, nil
	}
	return &driverv1.CreateMachineResponse{
		ProviderId: out.ProviderID, NodeName: nodeName(out.NodeName, machine), Addresses: addresses(out.Addresses), LastKnownState: text(out.LastKnownState),
	}, nil
}

// DeleteMachine answers that a VM is missing which the driver does not find before it deletes it: for MCM that is a
// success like any other, but with the credentials of another account no VM is found.
func (s *server) DeleteMachine(ctx context.Context, in *driverv1.DeleteMachineRequest) (*driverv1.DeleteMachineResponse, error) {
	ctx, end, err := s.begin(ctx, in.GetMachine())
	if err != nil {
		return nil, err
	}
	defer end()
	machine, class, secret, err := s.read(in)
	if err != nil {
		return &driverv1.DeleteMachineResponse{Error: errorOf(err, "")}, nil
	}
	_, lookUp := s.driver.GetMachineStatus(ctx, &driver.GetMachineStatusRequest{Machine: machine, MachineClass: class, Secret: secret})
	out, err := s.driver.DeleteMachine(ctx, &driver.DeleteMachineRequest{Machine: machine, MachineClass: class, Secret: secret})
	if out == nil {
		out = &driver.DeleteMachineResponse{}
	}
	if hasCode(err, codes.NotFound) || (err == nil && hasCode(lookUp, codes.NotFound)) {
		return &driverv1.DeleteMachineResponse{Vm: driverv1.DeleteMachineResponse_VM_MISSING}, nil
	}
	if err != nil {
		return &driverv1.DeleteMachineResponse{Error: errorOf(err, out.LastKnownState)}, nil
	}
	return &driverv1.DeleteMachineResponse{LastKnownState: text(out.LastKnownState)}, nil
}

func (s *server) GetMachineStatus(ctx context.Context, in *driverv1.GetMachineStatusRequest) (*driverv1.GetMachineStatusResponse, error) {
	defer s.turns.take(in.GetMachine())()
	machine, class, secret, err := s.read(in)
	if err != nil {
		return &driverv1.GetMachineStatusResponse{Error: errorOf(err, "")}, nil
	}
	out, err := s.driver.GetMachineStatus(ctx, &driver.GetMachineStatusRequest{Machine: machine, MachineClass: class, Secret: secret})
	initialized := !hasCode(err, codes.Uninitialized)
	if err == nil && (out == nil || out.ProviderID == "") {
		err = status.Error(codes.Unknown, "driver returned no provider id")
	}
	if out == nil || (err != nil && initialized) {
		return &driverv1.GetMachineStatusResponse{Error: errorOf(err, "")}, nil
	}
	return &driverv1.GetMachineStatusResponse{
		ProviderId: out.ProviderID, NodeName: nodeName(out.NodeName, machine), Addresses: addresses(out.Addresses), Initialized: &initialized,
	}, nil
}

func (s *server) InitializeMachine(ctx context.Context, in *driverv1.InitializeMachineRequest) (*driverv1.InitializeMachineResponse, error) {
	ctx, end, err := s.begin(ctx, in.GetMachine())
	if err != nil {
		return nil, err
	}
	defer end()
	machine, class, secret, err := s.read(in)
	if err != nil {
		return &driverv1.InitializeMachineResponse{Error: errorOf(err, "")}, nil
	}
	out, err := s.driver.InitializeMachine(ctx, &driver.InitializeMachineRequest{Machine: machine, MachineClass: class, Secret: secret})
	if err == nil && (out == nil || out.ProviderID == "") {
		err = status.Error(codes.Unknown, "driver returned no provider id")
	}
	if err != nil {
		return &driverv1.InitializeMachineResponse{Error: errorOf(err, "")}, nil
	}
	return &driverv1.InitializeMachineResponse{ProviderId: out.ProviderID, NodeName: nodeName(out.NodeName, machine), Addresses: addresses(out.Addresses)}, nil
}

func (s *server) ListMachines(ctx context.Context, in *driverv1.ListMachinesRequest) (*driverv1.ListMachinesResponse, error) {
	class, err := s.class(in.GetMachineClass(), s.options.Namespace)
	if err != nil {
		return &driverv1.ListMachinesResponse{Error: errorOf(err, "")}, nil
	}
	out, err := s.driver.ListMachines(ctx, &driver.ListMachinesRequest{MachineClass: class, Secret: &corev1.Secret{Data: copied(in.GetSecret())}})
	if err != nil || out == nil {
		return &driverv1.ListMachinesResponse{Error: errorOf(err, "")}, nil
	}
	listed := &driverv1.ListMachinesResponse{Complete: true}
	for id, name := range out.MachineList {
		listed.Machines = append(listed.Machines, &driverv1.ListedMachine{ProviderId: id, MachineName: name})
	}
	return listed, nil
}

// GetVolumeIds asks for each volume by itself: MCM's drivers leave out those of others, and the contract has one entry for each.
func (s *server) GetVolumeIds(ctx context.Context, in *driverv1.GetVolumeIdsRequest) (*driverv1.GetVolumeIdsResponse, error) {
	ids := make([]string, len(in.GetVolumes()))
	for i, volume := range in.GetVolumes() {
		var spec corev1.PersistentVolumeSpec
		if json.Unmarshal([]byte(volume), &spec) != nil {
			continue
		}
		out, err := s.driver.GetVolumeIDs(ctx, &driver.GetVolumeIDsRequest{PVSpecs: []*corev1.PersistentVolumeSpec{&spec}})
		if err != nil {
			return &driverv1.GetVolumeIdsResponse{Error: errorOf(err, "")}, nil
		}
		if out != nil && len(out.VolumeIDs) > 1 {
			return &driverv1.GetVolumeIdsResponse{Error: errorOf(fmt.Errorf("driver returned %d ids for one volume", len(out.VolumeIDs)), "")}, nil
		}
		if out != nil && len(out.VolumeIDs) == 1 {
			ids[i] = out.VolumeIDs[0]
		}
	}
	return &driverv1.GetVolumeIdsResponse{VolumeIds: ids}, nil
}
