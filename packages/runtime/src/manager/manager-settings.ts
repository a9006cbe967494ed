import { defaultMachineSettings, type Live, type MachineSettings } from "@millwright/controllers";

/** The settings of a manager, which may be replaced while it runs. */
export interface CurrentSettings extends Live<MachineSettings> {
  /** Replaces those that are given. */
  change(settings: Partial<MachineSettings> | undefined): void;
}

/** Makes the settings of a manager. Default: `defaultMachineSettings`. */
export function createCurrentSettings(initial: Partial<MachineSettings> | undefined): CurrentSettings {
  let settings: MachineSettings = { ...defaultMachineSettings, ...initial };
  return {
    current: () => settings,
    change(changed) {
      settings = { ...settings, ...changed };
    },
  };
}
