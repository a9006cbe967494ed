package adapter

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/millwright-dev/millwright/drivers/go/driverv1"
)

// maxMessage is the longest message of an error, bytes.
const maxMessage = 4096

// machineRequest is any request about a machine.
type machineRequest interface {
	GetMachine() *driverv1.Machine
	GetMachineClass() *driverv1.MachineClass
	GetSecret() map[string][]byte
}

// read returns the objects that MCM passes to drivers.
func (s *server) read(in machineRequest) (*v1alpha1.Machine, *v1alpha1.MachineClass, *corev1.Secret, error) {
	machine := machineOf(in.GetMachine(), in.GetMachineClass().GetName())
	class, err := s.class(in.GetMachineClass(), machine.Namespace)
	return machine, class, &corev1.Secret{Data: copied(in.GetSecret())}, err
}

func machineOf(in *driverv1.Machine, class string) *v1alpha1.Machine {
	machine := &v1alpha1.Machine{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "Machine"},
		ObjectMeta: metav1.ObjectMeta{
			Name: in.GetName(), Namespace: in.GetNamespace(), UID: types.UID(in.GetUid()), Labels: in.GetLabels(), Annotations: in.GetAnnotations(),
		},
		Spec: v1alpha1.MachineSpec{
			ProviderID: in.GetProviderId(),
			Class:      v1alpha1.ClassSpec{APIGroup: v1alpha1.SchemeGroupVersion.Group, Kind: "MachineClass", Name: class},
		},
	}
	machine.Spec.NodeTemplateSpec.Annotations = in.GetNodeAnnotations()
	return machine
}

func (s *server) class(in *driverv1.MachineClass, namespace string) (*v1alpha1.MachineClass, error) {
	class := &v1alpha1.MachineClass{
		TypeMeta:     metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "MachineClass"},
		ObjectMeta:   metav1.ObjectMeta{Name: in.GetName(), Namespace: namespace},
		Provider:     s.options.Name,
		ProviderSpec: runtime.RawExtension{Raw: []byte(in.GetProviderSpec())},
	}
	if in.GetNodeTemplate() == "" {
		return class, nil
	}
	class.NodeTemplate = &v1alpha1.NodeTemplate{}
	if err := json.Unmarshal([]byte(in.GetNodeTemplate()), class.NodeTemplate); err != nil {
		return nil, status.Error(codes.InvalidArgument, "nodeTemplate: "+err.Error())
	}
	return class, nil
}

// copied returns a secret that the driver may change.
func copied(data map[string][]byte) map[string][]byte {
	secret := make(map[string][]byte, len(data)+1)
	for key, value := range data {
		secret[key] = value
	}
	return secret
}

func hasCode(err error, code codes.Code) bool {
	if err == nil {
		return false
	}
	read, _ := status.FromError(err)
	return read.Code() == code
}

// errorOf returns an error of the contract. The numbers of the codes are the same; an error of another kind is Unknown, as in MCM.
func errorOf(err error, lastKnownState string) *driverv1.Error {
	if err == nil {
		err = status.Error(codes.Internal, errors.New("driver returned neither a response nor an error").Error())
	}
	read, _ := status.FromError(err)
	message := read.Message()
	if message == "" {
		message = err.Error()
	}
	if len(message) > maxMessage {
		message = message[:maxMessage]
	}
	code := driverv1.ErrorCode(read.Code())
	if _, isKnown := driverv1.ErrorCode_name[int32(code)]; !isKnown {
		code = driverv1.ErrorCode_ERROR_CODE_UNKNOWN
	}
	return &driverv1.Error{Code: code, Message: strings.ToValidUTF8(message, ""), LastKnownState: text(lastKnownState)}
}

func text(value string) *string {
	if value == "" {
		return nil
	}
	value = strings.ToValidUTF8(value, "")
	return &value
}

// nodeName is that of the driver, else what MCM takes: the label of the machine, or its name.
func nodeName(name string, machine *v1alpha1.Machine) string {
	if name != "" {
		return name
	}
	if name = machine.Labels[v1alpha1.NodeLabelKey]; name != "" {
		return name
	}
	return machine.Name
}

func addresses(in []corev1.NodeAddress) []*driverv1.NodeAddress {
	out := make([]*driverv1.NodeAddress, len(in))
	for i, address := range in {
		out[i] = &driverv1.NodeAddress{Type: string(address.Type), Address: address.Address}
	}
	return out
}
