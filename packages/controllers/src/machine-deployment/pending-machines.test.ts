import { type Machine, type MachineSet, readMachineSet } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { readInto } from "../cluster/readable.ts";
import { aMachine, aMachineDeployment, aMachineSet, beingDeleted, type Change, named } from "../testing/builders.ts";
import { pendingSets } from "./pending-machines.ts";

const deployment = aMachineDeployment({ spec: { template: { spec: { class: { name: "big" } } } } });
const seen = { status: { observedGeneration: 1 } };
const empty = { spec: { replicas: 0 } };
const refused = { status: { machineSetCondition: [{ type: "SpecValid", status: "False" }] } };
/** A set in a cache whose spec and status cannot be read. */
const read = readInto(readMachineSet, (metadata): MachineSet => ({ metadata, spec: { template: { spec: {} } } }));
const misshapen = (status: object): MachineSet => Object.assign(aMachineSet(named("odd")), { status });
const unreadable = read(misshapen({ replicas: "two" }));

const coming = (machines: readonly Machine[], ...changes: readonly Change<MachineSet>[]): readonly string[] =>
  pendingSets(deployment, [{ set: aMachineSet(named("old"), ...changes), machines }]);

it.each<[string, readonly string[], readonly string[]]>([
  ["a set whose spec.replicas exceeds its machines", ["old"], coming([aMachine()], seen)],
  ["a set that was not observed yet", ["old"], coming([], empty)],
  ["a set whose new size is not seen yet", ["old"], coming([], empty, seen, { metadata: { generation: 2 } })],
  ["no set that is empty and knows it", [], coming([], empty, seen)],
  ["no set that has all its machines", [], coming([aMachine()], seen, { spec: { replicas: 1 } })],
  ["no terminating set", [], coming([], beingDeleted())],
  ["no set that is refused", [], coming([], refused)],
  ["no set that cannot be read", [], pendingSets(deployment, [{ set: unreadable, machines: [] }])],
  ["no set of the current template", [], coming([], { spec: { template: { spec: { class: { name: "big" } } } } })],
])("expects machines from %s, as far as that is so", (_, expected, found) => {
  expect(found).toEqual(expected);
});
