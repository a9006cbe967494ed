import { MachineError } from "@millwright/core";
import { specHashOf } from "@millwright/core/driver-kit";
import type { AwsSpec } from "../spec/spec.ts";
import { ownerTagKeys } from "../vm/owner-tags.ts";
import type { Vm } from "../vm/vm.ts";

/**
 * An existing VM of the machine, if it matches the request. One of MCM's driver has no hash of its spec.
 *
 * @throws MachineError AlreadyExists for one that was made from another spec
 */
export function adopt(vm: Vm, spec: AwsSpec): Vm {
  const hash = vm.tags.get(ownerTagKeys.specHash) ?? "";
  if (hash === "" || hash === specHashOf(spec)) return vm;
  throw new MachineError("AlreadyExists", `VM ${vm.id} of this machine was created from another providerSpec`);
}
