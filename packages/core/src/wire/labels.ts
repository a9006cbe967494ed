/**
 * Keys of labels that cross a process boundary.
 * Source: MCM, `pkg/util/provider/machineutils/utils.go`.
 */
export const labelKeys = {
  /**
   * Machine: name of its Node, the only link from a machine to its node. Written by the machine controller after the VM
   * exists (never without a target cluster); read by every controller here, by MCM and by `kubectl get machines`.
   */
  node: "node",
  /**
   * Machine, from the template: name of its MachineDeployment (Gardener's convention). Read by the remediation budget, by
   * metrics and by the cluster autoscaler, which finds the machines of a deployment by it.
   */
  name: "name",
  /** Machine: Go boolean text; true forces drain and deletion. Written by operators, read by the deletion flow. */
  forceDeletion: "force-deletion",
  /** Machine: exactly `True` forces in-place and preservation drains. Written by operators, read by the drain. */
  forceDrain: "force-drain",
  /**
   * MachineSet, its selector and template, and Machine: hash of the deployment's template, opaque decimal text. Read by
   * the MachineDeployment controller and MCM; a set is found by template equality, never by this value.
   */
  machineTemplateHash: "machine-template-hash",
  /** MachineSet and MachineDeployment: `True` while overshooting protection is active. Read by the MachineSet controller. */
  freeze: "freeze",
  /** MachineSet: presence stops the creation of machines during an in-place update. Read by the MachineSet controller. */
  scaleUpDisabled: "node.machine.sapcloud.io/scale-up-disabled",
  /** Pod: `skip` or `wait-completed`, beats every drain rule. Cluster API's label. Written by users, read by the drain. */
  podDrain: "cluster.x-k8s.io/drain",
  /** Node, and Machine, from its class without fallbacks or from its Node: instance type of the VM. Kubernetes' own; read by `kubectl get machines -o wide` and the dashboard. */
  instanceType: "node.kubernetes.io/instance-type",
  /** Node, nodeTemplate of a Machine, and Machine, from its class without fallbacks or from its Node: zone of the infrastructure. Kubernetes' own; read by `kubectl get machines -o wide`, metrics, and the protection against outages of a zone. */
  zone: "topology.kubernetes.io/zone",
  /** Node: name of its Machine. Written by the machine controller, which also finds the node of an unlabeled machine by it. */
  machineName: "node.gardener.cloud/machine-name",
  /** Node: belongs to an old MachineSet of an in-place rollout. Written by the deployment controller, read by the machine controller. */
  candidateForUpdate: "node.machine.sapcloud.io/candidate-for-update",
  /** Node: may be drained and updated now. Written by the deployment controller (Auto) or a user (Manual). */
  selectedForUpdate: "node.machine.sapcloud.io/selected-for-update",
  /**
   * Node: `successful` or `failed`, written by the agent on the node. Machine: `successful` while its hand-over to the
   * new MachineSet is going on; read by the MachineSet and the MachineDeployment controller.
   */
  updateResult: "node.machine.sapcloud.io/update-result",
} as const;

/** Values of {@link labelKeys.updateResult}. Written by the node agent, read by the machine controller. */
export const updateResults = { successful: "successful", failed: "failed" } as const;

/** Value of {@link labelKeys.freeze} and {@link labelKeys.forceDrain}; MCM compares it exactly, with the capital letter. */
export const trueLabel = "True";
