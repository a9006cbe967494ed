import { expect, it } from "vitest";
import { messageProblems } from "./message-problems.ts";

it.each([
  "kube: follow redirects",
  "machine-set: confirm the size before restored machines are surplus\n\nA body.",
  "drivers/python: execute the lines of its image",
  "aws, gcp: name the zone",
  "Merge branch 'main'",
  'Revert "kube: follow redirects"',
])("accepts %j", (message) => {
  expect(messageProblems(message)).toEqual([]);
});

it.each([
  [`kube: ${"a".repeat(67)}`, "its first line has 73 characters, of at most 72"],
  ["Follow redirects", "its first line does not begin with an area, as in `kube: follow redirects`"],
  ["test: wip", "it does not name what changes"],
  ["kube: follow redirects.", "its first line ends with a full stop"],
  ["kube: follow redirects\nand more", "no empty line follows its first line"],
])("rejects %j", (message, problem) => {
  expect(messageProblems(message)).toEqual([problem]);
});
