import { text } from "../schema/fields.ts";

export { machineGroup } from "../../wire/machine-group.ts";

/** Group and version of the four kinds, as in `apiVersion` of an object. */
export const machineApiVersion = "machine.sapcloud.io/v1alpha1";

/** Schema of `apiVersion`. */
export const apiVersionField = text("Group and version of the object: machine.sapcloud.io/v1alpha1.").exactOptional();

/** Schema of `kind`. */
export const kindField = text("Kind of the object.").exactOptional();
