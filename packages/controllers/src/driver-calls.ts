// What calls of drivers need, without the controllers, which take longer to load.
export { readSecretValues } from "./cluster/class-view.ts";
export { secretNamesOf } from "./model/class-references.ts";
export { isPending } from "./model/operation.ts";
