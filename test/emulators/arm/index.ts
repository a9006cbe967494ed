export { createArmEmulator } from "./arm-emulator.ts";
export type { ArmEmulator, ArmEmulatorOptions, ArmInventory } from "./arm-emulator.ts";
export type { Disk, NetworkInterface, VirtualMachine } from "./resources.ts";
export type { Application, ArmWorld, ArmWorldOptions, Image, Subnet, VmSize } from "./world.ts";
export { createInstanceMetadata } from "./instance-metadata.ts";
export type { ManagedIdentity } from "./instance-metadata.ts";
