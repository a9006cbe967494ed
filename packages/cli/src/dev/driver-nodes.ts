import { labelKeys, type Machine } from "@millwright/core/machine-api";

/** A simulated node of a machine whose driver is not that of the simulated cloud. */
export interface MachineNode {
  readonly nodeName: string;
  readonly providerId: string;
}

/** Provider ids of the simulated cloud, whose VMs become nodes by themselves. */
const simulatedCloud = "mock://";

/** The nodes of machines that have a VM of another cloud than the simulated one, for as long as the Machine exists. */
export const nodesOfMachines = (machines: readonly Machine[]): readonly MachineNode[] =>
  machines.flatMap(({ metadata, spec }) => {
    const nodeName = metadata.labels?.[labelKeys.node] ?? "";
    const { providerID: providerId = "" } = spec;
    return nodeName === "" || providerId === "" || providerId.startsWith(simulatedCloud)
      ? []
      : [{ nodeName, providerId }];
  });
