import { defaultMachineSettings, type MachineSettings } from "@millwright/controllers";

/** The settings of a manager, which may change while it runs. */
export interface CurrentSettings {
  /** Reconciles read it through this reference; `change` changes it between them. */
  readonly machine: MachineSettings;
  /** The same for conditions, whose results are kept for as long as it is the same object. */
  conditions(): MachineSettings;
  change(settings: Partial<MachineSettings> | undefined): void;
}

/** Makes the settings of a manager. Default: `defaultMachineSettings`. */
export function createCurrentSettings(initial: Partial<MachineSettings> | undefined): CurrentSettings {
  const machine = { ...defaultMachineSettings, ...initial };
  let conditions = { ...machine };
  return {
    machine,
    conditions: () => conditions,
    change(settings) {
      Object.assign(machine, settings);
      conditions = { ...machine };
    },
  };
}
