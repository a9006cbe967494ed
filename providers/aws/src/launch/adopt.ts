import { MachineError } from "@millwright/core";
import { specHashOf } from "@millwright/core/driver-kit";
import type { AwsSpec } from "../spec/spec.ts";
import { ownerTagKeys } from "../vm/owner-tags.ts";
import type { Vm } from "../vm/vm.ts";

/**
 * A VM of the machine that is there already, if it is what was asked for. One that MCM's driver made does not say what it was made from.
 *
 * @throws MachineError AlreadyExists for one that was made from another spec
 */
export function adopt(vm: Vm, spec: AwsSpec): Vm {
  const hash = vm.tags.get(ownerTagKeys.specHash) ?? "";
  if (hash === "" || hash === specHashOf(spec)) return vm;
  throw new MachineError("AlreadyExists", `VM ${vm.id} of this machine was made from another providerSpec`);
}
