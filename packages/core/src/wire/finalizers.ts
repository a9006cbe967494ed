/** Finalizers. MCM reads and writes the same ones. Source: MCM, `pkg/util/provider/machinecontroller/controller.go`; MCM, `pkg/util/provider/machineutils/utils.go`. */
export const finalizers = {
  /** Machine, MachineClass, MachineSet and MachineDeployment: set before anything is created, removed when nothing is left. */
  machine: "machine.sapcloud.io/machine-controller-manager",
  /** Secret: some MachineClass refers to it. */
  secret: "machine.sapcloud.io/machine-controller",
  /** Node: exactly one Machine claims it; removed in the node deletion stage. */
  node: "node.machine.sapcloud.io/machine-controller",
} as const;
