// What a command line needs before it knows its command: without the schemas of the objects, which take longer to load than all of it.
export type { IntOrPercent } from "../api/values/fenceposts.ts";
export { readIntOrPercent } from "../api/values/fenceposts.ts";
export { controllerInfos, controllerNames, leaseNames, leasesOf, selectControllers } from "../wire/controllers.ts";
export type { ControllerName } from "../wire/controllers.ts";
export { defaultNodeConditions } from "../wire/node-conditions.ts";
export { machineGroup } from "../wire/machine-group.ts";
