// What calls of drivers, and of Machines for VMs, need, without the controllers, which take longer to load.
export { missingUserData, readSecretValues } from "./cluster/class-view.ts";
export { secretNamesOf } from "./model/class-references.ts";
export { isPending } from "./model/operation.ts";
export { newMachine } from "./machine-set/new-machine.ts";
