export { createGceEmulator } from "./gce-emulator.ts";
export type { GceEmulator, GceEmulatorOptions, GceInventory } from "./gce-emulator.ts";
export type { Disk, Instance, InstanceStatus } from "./instance.ts";
export type { GceWorld, GceWorldOptions, MachineType } from "./world.ts";
