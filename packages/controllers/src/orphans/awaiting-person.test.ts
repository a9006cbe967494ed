import { annotationKeys } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { aMachineSet, annotated, named } from "../testing/builders.ts";
import { withoutAwaiting } from "./awaiting-person.ts";

it("leaves out the VMs of machines that a set has lost, and no others", () => {
  const waiting = aMachineSet(named("pool-1"), annotated({ [annotationKeys.expectedReplicas]: "14" }));
  const vm = (machineName: string) => ({ providerId: `mock:///${machineName}`, machineName });
  const vms = [vm("pool-1-abcde"), vm("pool-2-abcde"), vm("pool-1"), vm("pool-1-abcde-fghij")];
  expect(withoutAwaiting(vms, [waiting, aMachineSet(named("pool-2"))])).toEqual(vms.slice(1));
});
