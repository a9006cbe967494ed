import { expect, test } from "vitest";
import type { DeploymentRow, MachineRow, SetRow } from "../src/rows/rows.ts";
import {
  applyEvent,
  attentionOf,
  countPhases,
  departures,
  emptyFleet,
  isWaiting,
  selectMachines,
  stripsOf,
  timelineOf,
} from "./fleet.js";

const steps = ["Create VM", "Join", "In service", "Drain", "Detach", "Delete VM", "Remove"];

const machine = (name: string, change: Partial<MachineRow> = {}): MachineRow => ({
  kind: "machine",
  id: `machine/ns/${name}`,
  namespace: "ns",
  name,
  created: "",
  phase: "Running",
  step: 2,
  tone: "ok",
  since: "2026-01-01T00:00:00Z",
  set: "new",
  node: "",
  vm: "",
  className: "small",
  vmType: "",
  zone: "",
  cause: "",
  isTerminating: false,
  isHeld: false,
  ...change,
});
const set = (name: string, revision: string, desired = 2): SetRow => ({
  kind: "set",
  id: `set/ns/${name}`,
  namespace: "ns",
  name,
  created: "",
  deployment: "pool",
  revision,
  className: "small",
  desired,
});
const deployment: DeploymentRow = {
  kind: "deployment",
  id: "deployment/ns/pool",
  namespace: "ns",
  name: "pool",
  created: "",
  revision: "2",
  desired: 5,
  ready: 0,
  available: 0,
  updated: 0,
  isPaused: false,
  progress: "",
  attention: [],
};

const fleetOf = (...rows: readonly (MachineRow | SetRow | DeploymentRow)[]) => {
  const fleet = emptyFleet();
  applyEvent(fleet, { name: "hello", data: { namespaces: ["ns"], steps } });
  applyEvent(fleet, { name: "rows", data: { rows, gone: [] } });
  return fleet;
};
const namesOf = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);

test("a row replaces the former one, and a gone one is removed", () => {
  const fleet = fleetOf(machine("a"), machine("b"));
  const changed = applyEvent(fleet, {
    name: "rows",
    data: { rows: [machine("a", { phase: "Unknown" })], gone: ["machine/ns/b"] },
  });
  expect(changed).toEqual(["machine/ns/a", "machine/ns/b"]);
  expect([...fleet.machines.values()]).toEqual([machine("a", { phase: "Unknown" })]);
});

test("a new stream begins without the rows of the former one", () => {
  const fleet = fleetOf(machine("a"));
  applyEvent(fleet, { name: "synced", data: {} });
  applyEvent(fleet, { name: "hello", data: { namespaces: ["ns"], steps } });
  expect([fleet.machines.size, fleet.hasAll]).toEqual([0, false]);
});

test("failing machines come first, unless the order is by name", () => {
  const fleet = fleetOf(machine("a"), machine("c", { tone: "bad" }), machine("b", { tone: "warn" }));
  expect(namesOf(selectMachines(fleet, "", "attention"))).toEqual(["c", "b", "a"]);
  expect(namesOf(selectMachines(fleet, "", "name"))).toEqual(["a", "b", "c"]);
});

test.each([
  ["POOL", ["a", "b"]],
  ["pool exceeded", ["a"]],
  ["drain", ["b"]],
  ["quota exceeded", ["a"]],
  ["held", ["b"]],
  ["node-9", []],
])("the filter %j finds %j", (filter, names) => {
  const fleet = fleetOf(
    deployment,
    set("new", "2"),
    machine("a", { cause: "Quota is exceeded" }),
    machine("b", { step: 3, isHeld: true, set: "new" }),
    machine("x", { set: "other" }),
  );
  expect(namesOf(selectMachines(fleet, filter, "name"))).toEqual(names);
});

test("a strip counts each machine of a deployment once, and those that are missing", () => {
  const fleet = fleetOf(
    deployment,
    set("new", "2"),
    set("old", "1"),
    machine("in-service"),
    machine("joins", { step: 1, tone: "busy" }),
    machine("fails", { tone: "bad" }),
    machine("former", { set: "old" }),
    machine("leaves", { set: "old", isTerminating: true, step: 3, tone: "busy" }),
    machine("of-none", { set: "elsewhere" }),
  );
  expect(stripsOf(fleet).get(deployment.id)).toEqual({
    current: 1,
    starting: 1,
    failing: 1,
    old: 1,
    terminating: 1,
    missing: 1,
  });
});

test("the timeline has the newest revision first, by number", () => {
  const fleet = fleetOf(deployment, set("a", "9"), set("b", "10"), machine("m", { set: "b" }));
  expect(timelineOf(fleet, deployment).map(({ name, machines }) => [name, machines])).toEqual([
    ["b", 1],
    ["a", 0],
  ]);
});

test("held deletions are no drains, and machines whose VM is deleted are not either", () => {
  const leaving = (name: string, step: number, isHeld = false) => machine(name, { step, isHeld, isTerminating: true });
  const fleet = fleetOf(leaving("held", 3, true), leaving("drains", 3), leaving("detaches", 4), leaving("deletes", 5));
  const { held, drains } = departures(fleet);
  expect([namesOf(held), namesOf(drains)]).toEqual([["held"], ["detaches", "drains"]]);
});

test("counts phases in the order of their names", () => {
  expect(countPhases(fleetOf(machine("a"), machine("b", { phase: "Failed" }), machine("c")))).toEqual([
    ["Failed", 1],
    ["Running", 2],
  ]);
});

test("walks over all machines once for each change, and not for each drawing", () => {
  const fleet = fleetOf(deployment, set("new", "2"), machine("a"), machine("b"));
  let walks = 0;
  const values = fleet.machines.values.bind(fleet.machines);
  fleet.machines.values = () => {
    walks += 1;
    return values();
  };
  const draw = (): void => {
    stripsOf(fleet);
    for (let card = 0; card < 50; card += 1) timelineOf(fleet, deployment);
    countPhases(fleet);
    departures(fleet);
  };
  draw();
  const once = walks;
  draw();
  expect([once, walks]).toEqual([4, 4]);
  applyEvent(fleet, { name: "rows", data: { rows: [machine("a", { phase: "Unknown" })], gone: [] } });
  draw();
  expect(walks).toBe(8);
  expect(countPhases(fleet)).toEqual([
    ["Running", 1],
    ["Unknown", 1],
  ]);
});

const unavailable = {
  type: "Available",
  reason: "MinimumReplicasUnavailable",
  message: "does not have minimum availability",
};

test("the card of a deployment shows what its machines report, in place of too few being available", () => {
  const pool = { ...deployment, attention: [unavailable] };
  const failing = (name: string, cause: string) => machine(name, { tone: "bad", cause });
  const rows = [set("new", "2"), failing("a", "no image"), failing("b", "no quota"), failing("c", "no quota")];
  expect(attentionOf(fleetOf(pool, ...rows), pool)).toEqual([
    { title: "2 machines", message: "no quota" },
    { title: "1 machine", message: "no image" },
  ]);
  expect(attentionOf(fleetOf(pool, set("new", "2"), machine("a")), pool)).toEqual([
    { title: "Available, MinimumReplicasUnavailable", message: unavailable.message },
  ]);
});

test.each([
  ["is complete", {}, false],
  ["is paused", { isPaused: true }, true],
  ["has held deletions", { attention: [{ type: "DeletionsHeld", reason: "x", message: "" }] }, true],
  ["has an invalid spec", { attention: [{ type: "SpecValid", reason: "x", message: "" }] }, true],
  ["has too few machines", { attention: [unavailable] }, false],
] as const)("a deployment that %s: waits for a person: %3$s", (_, change, expected) => {
  expect(isWaiting({ ...deployment, ...change })).toBe(expected);
});
