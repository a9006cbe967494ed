import { expect, it } from "vitest";
import { section, table } from "./text.ts";

const rows = [
  ["TYPE", "STATUS", "MESSAGE"],
  ["Ready", "False", "* Machine a:\n  * NodeHealthy: Waiting for a Node to exist"],
  ["Paused", "False", ""],
];

it("puts further lines of a cell under its last column", () => {
  expect(table(rows)).toEqual([
    "TYPE    STATUS  MESSAGE",
    "Ready   False   * Machine a:",
    "                  * NodeHealthy: Waiting for a Node to exist",
    "Paused  False",
  ]);
});

it("wraps the last column within a width, with the indentation of each line", () => {
  expect(table(rows, 44).slice(1, 4)).toEqual([
    "Ready   False   * Machine a:",
    "                  * NodeHealthy: Waiting",
    "                    for a Node to exist",
  ]);
});

it("puts the last column below the others where too little is left for it", () => {
  expect(table(rows, 38)).toEqual([
    "TYPE    STATUS",
    "Ready   False",
    "    * Machine a:",
    "      * NodeHealthy: Waiting for a",
    "        Node to exist",
    "Paused  False",
  ]);
});

it("wraps the lines of a section within a width, and leaves them whole without one", () => {
  const lines = ["Waiting for a Node to exist", "  * Pod a/b is blocked"];
  expect(section("Notes", lines, 20)).toEqual([
    "Notes:",
    "  Waiting for a",
    "    Node to exist",
    "    * Pod a/b is",
    "      blocked",
  ]);
  expect(section("Notes", lines)).toEqual(["Notes:", ...lines.map((line) => `  ${line}`)]);
});
