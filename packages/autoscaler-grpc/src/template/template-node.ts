import { isStartupTaint, type MachineClass, type MachineDeployment } from "@millwright/core/machine-api";

interface Quantity {
  readonly string: string;
}

/** A Node that does not exist: as those of a group are when they have joined, and have lost their startup taints. */
export interface TemplateNode {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly taints: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  };
  readonly status: {
    readonly capacity: Readonly<Record<string, Quantity>>;
    readonly allocatable: Readonly<Record<string, Quantity>>;
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
  };
}

/** The kubelet's default of `maxPods`. */
const PODS = 110;

const gpu = "nvidia.com/gpu";

type Amounts = Readonly<Record<string, string | number>>;

/** Amounts by the names that Kubernetes has for resources; `gpu` is MCM's. */
const quantities = (amounts: Amounts): Readonly<Record<string, Quantity>> =>
  Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => [name === "gpu" ? gpu : name, { string: String(amount) }]),
  );

/**
 * The Node that a new Machine of a deployment becomes, by the `nodeTemplate` of its class, and labels and taints of its own template.
 *
 * @returns `undefined` if the class has none: the autoscaler then takes the existing Nodes of the group for it
 */
export function templateNode(
  deployment: MachineDeployment,
  machineClass: MachineClass | undefined,
): TemplateNode | undefined {
  const hardware = machineClass?.nodeTemplate;
  if (hardware === undefined) return undefined;
  const { metadata, spec } = deployment.spec.template.spec.nodeTemplate ?? {};
  const { architecture = "amd64", instanceType, region, zone } = hardware;
  const name = `${deployment.metadata.name}-template`;
  const capacity = quantities({ pods: PODS, ...hardware.capacity, ...hardware.virtualCapacity });
  return {
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": architecture,
        "node.kubernetes.io/instance-type": instanceType,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone,
        ...metadata?.labels,
      },
    },
    spec: {
      taints: (spec?.taints ?? [])
        .filter((taint) => !isStartupTaint(taint, deployment.spec.template.metadata?.annotations))
        .map(({ key, value, effect }) => ({ key, effect, ...(value === undefined ? {} : { value }) })),
    },
    status: { capacity, allocatable: capacity, conditions: [{ type: "Ready", status: "True" }] },
  };
}
