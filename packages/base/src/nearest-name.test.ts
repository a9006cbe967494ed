import { expect, it } from "vitest";
import { nearestName } from "./nearest-name.ts";

const names = ["createMachine", "deleteMachine", "getMachineStatus", "aws", "mock", "maxUnavailable", "type"];

it.each([
  ["createMachines", "createMachine"],
  ["CreateMachine", "createMachine"],
  ["craeteMachine", "createMachine"],
  ["deletMachine", "deleteMachine"],
  ["getMachinesStatus", "getMachineStatus"],
  ["awss", "aws"],
  ["MaxUnavailible", "maxUnavailable"],
  ["tpye", "type"],
  ["size", undefined],
  ["createMachine", undefined],
  ["openSession", undefined],
  ["a", undefined],
  ["", undefined],
  ["createMachine".repeat(10), undefined],
])("finds for %j the name %j", (name, expected) => {
  expect(nearestName(name, names)).toBe(expected);
});
