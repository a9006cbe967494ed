import { expect, it } from "vitest";
import { withObjectWords } from "./object-words.ts";

const words = (line: string): string => withObjectWords(line.split(" ")).join(" ");

it.each([
  ["describe machine/a", "describe machine a"],
  ["describe machine.machine.sapcloud.io/a -w", "describe machine a -w"],
  ["describe machinedeployments a -n b", "describe deployment a -n b"],
  ["describe MachineSet a", "describe set a"],
  ["describe mcc/a", "describe class a"],
  ["approve machinedeployment/a --for 2h", "approve deployment a --for 2h"],
  ["approve mcs a", "approve set a"],
  ["why machine a", "why Machine/a"],
  ["why machinedeployment.machine.sapcloud.io/a", "why MachineDeployment/a"],
  ["why machine.v1alpha1.machine.sapcloud.io/a", "why Machine/a"],
  ["why no/a -o json", "why Node/a -o json"],
  ["drain node/a --dry-run", "drain a --dry-run"],
  ["drain no a --dry-run", "drain a --dry-run"],
  ["drift machine/a", "drift a"],
])("reads %s as %s", (line, read) => {
  expect(words(line)).toBe(read);
});

it.each([
  "",
  "describe",
  "describe machine",
  "describe machine --help",
  "describe --state a/b machine c",
  "approve --all",
  "why pod/a",
  "why machine.cluster.x-k8s.io/a",
  "describe machine.cluster.x-k8s.io/a",
  "drain no.example.com --dry-run",
  "why machine/",
  "why machine/a/b",
  "drain worker-1 --dry-run",
  "drift node a",
  "plan machine/a",
  "doctor class",
])("leaves %j to the parser", (line) => {
  expect(words(line)).toBe(line);
});

it.each([
  ["drain machine/a --dry-run", "machine/a: expected node/NAME, or NAME"],
  ["drain a/b", "a/b: expected node/NAME, or NAME"],
  ["drift node/a", "node/a: expected machine/NAME, or NAME"],
  ["describe machine a/b", "a/b: a name has no slash"],
])("rejects %s", (line, message) => {
  expect(() => words(line)).toThrow(message);
});
