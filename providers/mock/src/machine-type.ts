/** What a VM of a machine type has. */
export interface MachineTypeCapacity {
  /** Processors, as a Kubernetes quantity. */
  readonly cpu: string;
  /** Memory, as a Kubernetes quantity. */
  readonly memory: string;
}

/** The machine types that the simulated cloud sells. */
export const machineTypes = {
  small: { cpu: "1", memory: "2Gi" },
  medium: { cpu: "2", memory: "8Gi" },
  large: { cpu: "8", memory: "32Gi" },
} as const satisfies Readonly<Record<string, MachineTypeCapacity>>;

/** Name of a machine type. */
export type MachineTypeName = keyof typeof machineTypes;

/** The names, smallest first. */
export const machineTypeNames = ["small", "medium", "large"] as const satisfies readonly MachineTypeName[];
