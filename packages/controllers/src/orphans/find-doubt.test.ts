import { expect, test } from "vitest";
import { findDoubt, type MachineListFacts } from "./find-doubt.ts";

const facts: MachineListFacts = {
  isCurrent: true,
  epoch: 0,
  count: 10,
  unreadable: [],
  desired: 10,
  awaiting: [],
  deletedCrds: [],
};

test.each<[string, Partial<MachineListFacts>, Partial<MachineListFacts> | undefined, string | undefined]>([
  ["a complete list", {}, undefined, undefined],
  ["the same as before", {}, {}, undefined],
  ["half as many as before", { count: 5, desired: 5 }, {}, undefined],
  ["no machines, and none before", { count: 0, desired: 0 }, { count: 0 }, undefined],
  ["a cache that is not up to date", { isCurrent: false }, {}, "the list of machines is not up to date"],
  ["a CRD that is being deleted", { deletedCrds: ["machines"] }, {}, "CRD machines is being deleted"],
  ["a machine that cannot be read", { unreadable: ["a", "b"] }, {}, "Machine a, b cannot be read"],
  ["a set that waits", { awaiting: ["pool"] }, {}, "MachineSet pool waits for machines that are missing"],
  ["fewer than half of what sets want", { count: 4 }, {}, "there are 4 machines, but MachineSets want 10"],
  [
    "no machines where there were some",
    { count: 0, desired: 0 },
    { count: 1 },
    "there are 0 machines, and there were 1 before",
  ],
  ["fewer than half as before", { count: 4, desired: 4 }, {}, "there are 4 machines, and there were 10 before"],
  ["an API server that went back", { epoch: 1 }, {}, "the API server went back to an earlier state"],
])("%s", (_, change, before, expected) => {
  expect(findDoubt({ ...facts, ...change }, before === undefined ? undefined : { ...facts, ...before })).toBe(expected);
});
