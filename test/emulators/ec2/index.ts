export { createEc2Emulator } from "./ec2-emulator.ts";
export type { Ec2Emulator, Ec2EmulatorOptions, Ec2Inventory } from "./ec2-emulator.ts";
export type { Instance, InstanceState, NetworkInterface, Volume } from "./instance.ts";
export type { AccessKey, Ec2World, Ec2WorldOptions, Image, InstanceType, Subnet } from "./world.ts";
export { createCredentialServer } from "./credential-server.ts";
export type { CredentialServer, NodeIdentity } from "./credential-server.ts";
